"""What new families are composed of: words, populations, mechanisms, damage, files, and entrants that know none of it.

- `vocabulary` has the domains and turns their words into column and file names.
- `expressions` is the grammar that mechanisms are drawn from; `population` draws who and what there is.
- `corruption` damages what is recorded; `layout` decides which files hold it; `brief` tells the story.
- `features`, `entrants` and `fields` are ways of working that read any such task as a stranger would.
- `calibration` sets the difficulty; `row_task` draws tasks on tables; `assembly` makes a family of all this.
"""
