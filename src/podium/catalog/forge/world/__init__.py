"""Building blocks of the families with drawn structures: words, populations, mechanisms, damage, files, and entrants
that know none of it.

- `vocabulary` has the domains and turns their words into column and file names.
- `expressions` is the grammar that mechanisms are drawn from; `population` draws who and what there is.
- `recording` makes the tables, `corruption` damages them, `file_layout` assigns them to files; `brief` tells the story.
- `row_task` draws tasks on tables with keys, `sheet` on single tables; `assemble_family` makes a family of all this.
- The entrants, in `podium.catalog.forge.entrants`, read any such task without knowing its family.
"""
