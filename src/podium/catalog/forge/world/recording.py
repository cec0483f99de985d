"""Recording of a population: tables with keys, and the lines of the data dictionary that explain them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.closed_form import distinct_numbers
from podium.catalog.forge.world.brief import UNITS, DictionaryLine, Story, say
from podium.catalog.forge.world.corruption import blank_by_hidden, change_unit, free_text, nested_codes, recorded_values
from podium.catalog.forge.world.file_layout import Layout
from podium.catalog.forge.world.population import Parent, Population
from podium.catalog.forge.world.vocabulary import REMARKS, TIMES, Quantity

DATE_FORMATS = ("%Y-%m-%d %H:%M", "%Y%m%dT%H%M", "%d %b %Y %H:%M", "%Y/%m/%d %H.%M")
MAIN = "train, test"


@dataclass
class Recording:
    """Tables that are being filled, with what a brief has to say about them."""

    rows: pd.DataFrame
    """One row for each of the population's; train and test are cut from it."""
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    """Further tables by path."""
    columns: list[DictionaryLine] = field(default_factory=list)
    contents: list[tuple[str, str]] = field(default_factory=list)
    """Contents of each additional file."""
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, values: np.ndarray | pd.Series, meaning: str) -> None:
        """Add a column to train and test."""
        self.rows[name] = values
        self.columns.append(DictionaryLine(MAIN, name, meaning))


def record(rng: np.random.Generator, story: Story, layout: Layout, population: Population) -> Recording:
    """Record everything about a population except the outcome."""
    domain, naming = story.domain, story.naming
    count = len(population.day)
    letters = domain.row.one[: int(rng.integers(1, 3))].upper()
    ids = [f"{letters}{number:06d}" for number in distinct_numbers(rng, 900_000, count)]
    recording = Recording(pd.DataFrame({story.id: ids}))
    recording.columns.append(DictionaryLine(MAIN, story.id, "identifier"))
    beginning = pd.Timestamp("2012-01-01") + pd.Timedelta(days=int(rng.integers(0, 3600)))
    written = str(rng.choice(DATE_FORMATS))
    recording.add(
        naming.about(domain.row.one, TIMES),
        _dates(beginning, population.day, written),
        f"when the {domain.row.one} was",
    )
    for parent in population.parents:
        _record_parent(rng, story, layout, recording, parent)
    _record_records(rng, story, layout, recording, population, beginning, written)
    _record_categories(story, recording, population)
    _record_numbers(rng, story, recording, population)
    conditions = [values for name, values in population.hidden.items() if name.startswith("condition")]
    phrases = [str(phrase) for phrase in rng.permutation(domain.remarks)]
    recording.add(naming.about(domain.row.one, REMARKS), free_text(rng, conditions, phrases), "what somebody noted")
    return recording


def _dates(beginning: pd.Timestamp, day: np.ndarray, written: str) -> np.ndarray:
    return np.asarray((beginning + pd.to_timedelta((day * 1440).astype(int), unit="min")).strftime(written))


def _record_parent(
    rng: np.random.Generator, story: Story, layout: Layout, recording: Recording, parent: Parent
) -> None:
    """Record the key of a parent in the rows, and its facts there or in a separate table."""
    key = story.naming.key(parent.name)
    codes = nested_codes(rng, parent.region, np.arange(parent.count))
    recording.add(key, codes[parent.member], f"the {parent.name}")
    kind = [noun.one for noun in story.domain.parents].index(parent.name)
    quantities = {quantity.name: quantity for quantity in story.domain.parent_numbers[kind]}
    table = pd.DataFrame({key: codes})
    meanings = {}
    for name, facts in parent.numbers.items():
        column = story.naming.number(quantities[name])
        table[column] = recorded_values(quantities[name], facts)
        meanings[column] = f"{name} [{quantities[name].unit}], {parent.name}"
    if layout.joined:
        for column, meaning in meanings.items():
            recording.add(column, table[column].to_numpy()[parent.member], meaning)
        return
    _add_table(
        story, layout, recording, story.domain.parents[kind].many, table, {key: f"the {parent.name}", **meanings}
    )


def _record_records(
    rng: np.random.Generator,
    story: Story,
    layout: Layout,
    recording: Recording,
    population: Population,
    beginning: pd.Timestamp,
    written: str,
) -> None:
    """Record the measurements of the first kind of parent."""
    naming, records, parent = story.naming, population.records, population.parents[0]
    key = recording.columns[2].name
    codes = pd.Series(recording.rows[key].to_numpy(), index=parent.member).groupby(level=0).first()
    quantity = story.domain.recorded
    noted, value = naming.about(story.domain.record.one, TIMES), naming.number(quantity)
    known = np.isin(records.owner, codes.index)
    scale = 10 ** rng.uniform(0.5, 2.5)
    table = pd.DataFrame(
        {
            key: codes.reindex(records.owner[known]).to_numpy(),
            noted: _dates(beginning, records.day[known], written),
            value: np.round(scale * (5 + records.value[known]), 2),
        }
    )
    meanings = {key: f"the {parent.name}", noted: "when it was noted", value: f"{quantity.name} [{quantity.unit}]"}
    _add_table(story, layout, recording, story.domain.record.many, table.sample(frac=1, random_state=0), meanings)


def _add_table(
    story: Story, layout: Layout, recording: Recording, many: str, table: pd.DataFrame, meanings: dict[str, str]
) -> None:
    name = story.naming.file(many)
    recording.tables[layout.path(name)] = table.reset_index(drop=True)
    recording.contents.append((layout.path(name), many))
    recording.columns += [DictionaryLine(name, column, meaning) for column, meaning in meanings.items()]


def _record_categories(story: Story, recording: Recording, population: Population) -> None:
    for name, codes in population.categories.items():
        values = np.array(story.domain.categories[name], dtype=object)
        recording.add(story.naming.text(name), values[codes], name)


def _record_numbers(rng: np.random.Generator, story: Story, recording: Recording, population: Population) -> None:
    """Record the numbers; two have blanks that depend on hidden facts, one is in two units."""
    quantities = {quantity.name: quantity for quantity in story.domain.numbers}
    names = [str(name) for name in rng.permutation(list(population.numbers))]
    columns = {}
    for name in names:
        quantity = quantities[name]
        columns[name] = story.naming.number(quantity)
        recording.add(columns[name], recorded_values(quantity, population.numbers[name]), f"{name} [{quantity.unit}]")
    for name in names[:2]:
        column = recording.rows[columns[name]]
        share = rng.uniform(0.15, 0.4)
        recording.rows[columns[name]] = blank_by_hidden(rng, column, population.hidden["strain"], share)
    _mix_units(rng, recording, columns[names[-1]], quantities[names[-1]])


def _mix_units(rng: np.random.Generator, recording: Recording, column: str, quantity: Quantity) -> None:
    texts = recording.rows.iloc[:, 1:].select_dtypes("object")
    small = [str(name) for name in texts if 2 < texts[name].nunique() <= 12]
    group = str(rng.choice(small))
    changed, (categories, unit) = change_unit(rng, recording.rows[column], recording.rows[group], quantity.unit)
    recording.rows[column] = changed
    words = {"column": column, "group": group, "categories": categories, "unit": unit, "usual": quantity.unit}
    recording.notes.append(say(rng, UNITS, **words))
