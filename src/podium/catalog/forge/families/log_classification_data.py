"""Log classification: draws sessions, what each of them logs, and failures that depend on it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from podium.catalog.forge.family import ForgedData
from podium.catalog.forge.forge_ids import Difficulty
from podium.catalog.forge.world.brief import ID_AND_TARGET, DictionaryLine, Story
from podium.catalog.forge.world.expressions import standardised
from podium.catalog.forge.world.file_layout import draw_layout
from podium.catalog.forge.world.sheet import SheetQuestion, Sizes, add_categories, add_numbers, draw_sheet, sheet_task
from podium.catalog.forge.world.vocabulary import REMARKS, TIMES

SESSIONS: Sizes = {"easy": (2200, 1400), "medium": (1800, 1400), "hard": (1400, 1400), "tiny": (120, 60)}
STEEPNESS: Mapping[Difficulty, float] = {"easy": 3.0, "medium": 2.2, "hard": 1.6, "tiny": 3.0}
LINES = (8, 26)
NUMBERS = 8
EVENTS = 10
DOING = (
    "opening", "closing", "checking", "moving", "loading", "sending", "reading", "resetting", "waiting for", "skipping",
)  # fmt: skip
ENDING = ("took {} ms", "attempt {}", "returned {}", "queue at {}", "block {}", "{} left", "code {}", "after {} s")
NOTE = "The lines of {place} are in order; numbers in them mean different things."


def draw_once(rng: np.random.Generator, difficulty: Difficulty, story: Story) -> ForgedData:
    """Draw the log of each session, and a failure that depends on some of it."""
    train_rows, test_rows = SESSIONS[difficulty]
    count = train_rows + test_rows
    sheet = draw_sheet(rng, story, count)
    facts = rng.normal(size=(count, NUMBERS))
    add_numbers(rng, sheet, facts)
    add_categories(rng, sheet)
    lines = _draw_lines(rng, count)
    signal = _signal(rng, lines, count) + 0.4 * standardised(facts[:, 0])
    chance = 1 / (1 + np.exp(-STEEPNESS[difficulty] * (standardised(signal) - rng.uniform(0.3, 0.8))))
    failed = (rng.random(count) < chance).astype(int)
    layout = draw_layout(rng, story.naming.file(story.place, "logs"))
    file = layout.path(story.naming.file(story.domain.record.many, "log"))
    log = _write_lines(rng, sheet.table[story.id].to_numpy(), lines, story.domain.parents[0].one)
    noun = story.domain.record.one
    log.columns = pd.Index([story.id, *(story.naming.about(noun, names) for names in (TIMES, REMARKS))])
    sheet.columns += [
        DictionaryLine(file, story.id, "the session"),
        DictionaryLine(file, log.columns[1], "seconds since the beginning"),
        DictionaryLine(file, log.columns[2], "what was logged"),
    ]
    question = SheetQuestion(
        rows=f"sessions about {story.domain.row.many}",
        asked="the probability of a failure",
        meaning="1: it failed",
        metric="The area under the ROC curve.\nHigher is better.",
        form=f"{ID_AND_TARGET}\nValues lie between 0 and 1.",
        notes=[NOTE],
        files=[(file, "what each session logged")],
    )
    return sheet_task(
        rng, sheet, question, target=failed, ceiling=chance, sample=0.5, train_rows=train_rows, tables={file: log}
    )


def _draw_lines(rng: np.random.Generator, count: int) -> pd.DataFrame:
    """Draw events with a number each, in order of time; some events tend to follow others."""
    session = np.repeat(np.arange(count), rng.integers(*LINES, count))
    moves = rng.dirichlet(np.full(EVENTS, 0.5), EVENTS).cumsum(axis=1)
    event = rng.integers(0, EVENTS, len(session))
    follows = rng.random(len(session)) < 0.5
    drawn = rng.random(len(session))
    for row in range(1, len(session)):
        if follows[row] and session[row] == session[row - 1]:
            event[row] = min(int(np.searchsorted(moves[event[row - 1]], drawn[row])), EVENTS - 1)
    gap = rng.exponential(2.0, len(session)) * np.exp(0.6 * rng.normal(size=count))[session]
    value = np.exp(rng.normal(size=len(session)) + 0.7 * rng.normal(size=(count, EVENTS))[session, event])
    return pd.DataFrame({"session": session, "event": event, "gap": gap, "value": value})


def _signal(rng: np.random.Generator, lines: pd.DataFrame, count: int) -> np.ndarray:
    """Return the log-odds of a failure from the frequency of an event, the event after it, its numbers, and pauses."""
    one, other, third = rng.permutation(EVENTS)[:3]
    after = (lines["event"] == other) & (lines["event"].shift() == one) & (lines["session"] == lines["session"].shift())
    reported = np.log(lines["value"]).where(lines["event"] == third)
    parts = {"often": lines["event"] == one, "after": after, "reported": reported, "pause": np.log1p(lines["gap"])}
    total = np.zeros(count)
    for name, weight in zip(parts, rng.permutation([0.6, 0.9, 1.1, 0.8]), strict=True):
        cells = parts[name].astype(float).groupby(lines["session"])
        found = {"reported": cells.mean, "pause": cells.max}.get(name, cells.sum)().fillna(0).to_numpy()
        total += weight * rng.choice([-1, 1]) * standardised(found)
    return total


def _write_lines(rng: np.random.Generator, ids: np.ndarray, lines: pd.DataFrame, thing: str) -> pd.DataFrame:
    doing, ending = rng.permutation(DOING)[:EVENTS], rng.permutation(ENDING)
    texts = [f"{word} {thing}: {ending[number % len(ending)]}" for number, word in enumerate(doing)]
    values = (100 * lines["value"]).round().astype(int)
    message = [texts[event].format(value) for event, value in zip(lines["event"], values, strict=True)]
    seconds = lines.groupby("session")["gap"].cumsum().round(2)
    return pd.DataFrame({"id": ids[lines["session"]], "second": seconds, "message": message})
