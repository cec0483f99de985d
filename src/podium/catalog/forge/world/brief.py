"""Briefs of forged tasks, composed from the parts of a story.

Every sentence of more than eight words names something of this task (a place, a file, a column or a count), so that no
two briefs share one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from podium.catalog.forge.world.vocabulary import ANSWERS, Domain, Naming, domains, place_name

HEADINGS = (
    ("Files", "Columns", "Good to know", "Metric", "Submission"),
    ("What you get", "Data dictionary", "Notes", "Scoring", "What to hand in"),
    ("The data", "Fields", "Remarks", "How entries are judged", "Format"),
    ("Contents", "What the columns mean", "Caveats", "Evaluation", "Your entry"),
)
OPENINGS = (
    "{organisation} wants to {aim} and has opened its books on {rows}.",
    "To {aim}, {organisation} has collected {count:,} {rows} over {days} days.",
    "{count:,} {rows} were written down for {organisation}, which would like to {aim}.",
    "How could {organisation} {aim}? {place} kept notes on {count:,} {rows}.",
    "Around {place}, {rows} are a daily matter. {organisation} now hopes to {aim} by learning from {count:,} of them.",
    "{organisation} looks back on {days} days of {rows}. With their help it means to {aim}, in {place} and beyond.",
)
TASKS = (
    "For each of the {test:,} {rows} of {place} in `test.csv`, predict {asked}.",
    "Predict for {place} {asked}. `test.csv` lists {test:,} {rows} of {place} for which it is not known.",
    "Of {test:,} further {rows} in {place} only the circumstances are given; {place} asks for {asked}.",
    "Your task is to work out {asked}, for all {test:,} {rows} that {place} put into `test.csv`.",
    "What {place} would like to know of {test:,} {rows} is {asked}.",
)
LATER = (
    "No {rows} in `test.csv` took place before {date}, none in `train.csv` after it.",
    "Records up to {date} are in `train.csv`; those from {date} on are in `test.csv`.",
    "At {date} the {rows} were cut in two: what was earlier is train, all else test.",
)
MIXED = (
    "The {test:,} {rows} to predict were drawn at random from all of {place}.",
    "Which {rows} went to `test.csv` was decided by lot in {place}, {test:,} in all.",
    "`train.csv` and `test.csv` cover the same {days} days of {place}.",
)
UNITS = (
    "Where `{group}` is {categories}, `{column}` was noted in {unit}, not in {usual}.",
    "Beware: `{column}` is in {usual}, but in {unit} for {categories} (see `{group}`).",
    "{categories} (`{group}`) report `{column}` in {unit} instead of {usual}.",
)
REPEATED = (
    "About {share:.0%} of the {rows} that {place} put into `train.csv` were entered twice.",
    "Some {rows} of {place} appear twice in `train.csv`, by mistake.",
    "Clerks in {place} entered {share:.0%} of the training {rows} a second time.",
)
FORBIDDEN = (
    "In {place}, `{column}` was filled in afterwards, when all was known: using it is against the rules.",
    "{place} does not let you use `{column}`: it becomes known only when all is over.",
    "The rules of {organisation} forbid `{column}`, which is added after the fact.",
)

ID_AND_TARGET = "A CSV with the columns `{id}` and `{target}`.\nOne row per row of `test.csv`."
MAIN_FILES = (
    ("train.csv", "to learn from"),
    ("test.csv", "to predict"),
    ("sample_submission.csv", "the required form"),
)


@dataclass(frozen=True)
class Story:
    """Story of a task: the client, the subject, and the naming style of the data owner."""

    domain: Domain
    place: str
    organisation: str
    aim: str
    naming: Naming
    id: str
    """Id column."""
    target: str
    """Target column, which train has and test lacks."""

    def words(self, rows: str, asked: str) -> dict[str, object]:
        """Return the values of the placeholders in sentences about any task: its rows and their target."""
        told = {"organisation": self.organisation, "place": self.place, "aim": self.aim}
        return {**told, "rows": rows, "asked": asked}

    def named(self, text: str) -> str:
        """Return a text with the names of the id and the target filled in."""
        return text.format(id=self.id, target=self.target)


@dataclass(frozen=True)
class DictionaryLine:
    """Line of the data dictionary."""

    file: str
    name: str
    meaning: str


def draw_story(rng: np.random.Generator, row: str = "{row}") -> Story:
    """Draw a domain, an invented place, and one of the domain's aims.

    Args:
        row: what a row is called in names, with the domain's `{row}` or `{parent}`.
    """
    domain = domains()[int(rng.integers(len(domains())))]
    place = place_name(rng)
    owner = str(
        rng.choice([f"the {place} {domain.owner}", f"the {domain.owner} of {place}", f"{place}'s {domain.owner}"])
    )
    aim, naming = str(rng.choice(domain.aims)), Naming(rng)
    thing = row.format(row=domain.row.one, parent=domain.parents[0].one)
    return Story(domain, place, owner, aim, naming, id=naming.key(thing), target=naming.about(thing, ANSWERS))


def say(rng: np.random.Generator, templates: Sequence[str], **words: object) -> str:
    """Return one of some texts with its placeholders filled in and every sentence capitalised."""
    text = str(rng.choice(list(templates))).format(**words)
    return re.sub(r"(^|[.?!] )([a-z])", lambda match: match[1] + match[2].upper(), text)


def write_brief(
    rng: np.random.Generator,
    story: Story,
    *,
    opening: Sequence[str],
    files: Sequence[tuple[str, str]],
    columns: Sequence[DictionaryLine],
    notes: Sequence[str],
    metric: str,
    form: str,
    about: str = "{rows}",
) -> str:
    """Write goal, files, data dictionary, metric and submission form, in Markdown.

    Args:
        files: those beside train, test and the sample submission, with what they hold.
        about: what the title names, if not the rows of the domain.
    """
    rows = about.format(rows=story.domain.row.many).capitalize()
    title = rng.choice(
        [f"{rows} of {story.place}", f"{story.place}: {rows.lower()}", f"The {rows.lower()} of {story.place}"]
    )
    heads = HEADINGS[int(rng.integers(len(HEADINGS)))]
    listed = "\n".join(f"- `{name}`: {content}" for name, content in (*MAIN_FILES, *files))
    dictionary = "\n".join(f"| {column.file} | `{column.name}` | {column.meaning} |" for column in columns)
    table = f"| file | column | meaning |\n|---|---|---|\n{dictionary}"
    bodies = (listed, table, "\n".join(f"- {note}" for note in notes), metric, form)
    sections = [f"## {head}\n{body}\n" for head, body in zip(heads, bodies, strict=True)]
    return "\n".join([f"# {title}\n", " ".join(opening) + "\n", *sections])
