"""Library of fictional papers for tasks that build search tools.

Every paper reports what one condition does to one property of one kind of thing. Things have three names, conditions
and properties three wordings each; a paper uses one of them, and only surveys give all names of a thing. So a program
that looks for the words of a question finds some of the papers, and one that thinks finds the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_file, read_json_lines, write_json_lines
from podium.errors import InvalidSubmission
from podium.task import CompletedProgram, Task

Case = TypeVar("Case")

PAPERS = "papers.jsonl"
FIRST = [
    *("tidal", "glass", "copper", "moss", "lunar", "hollow", "amber", "silent", "braided", "frost", "paper", "salt"),
    *("velvet", "drift", "ember", "woven"),
]
SECOND = ["lantern", "orchard", "engine", "choir", "vane", "reef", "loom", "kite", "bell", "ladder", "mirror", "clock"]
CONDITIONS = [
    ("salt fog", "briny mist", "saline haze"),
    ("low pressure", "thin air", "partial vacuum"),
    ("long darkness", "prolonged night", "absence of light"),
    ("slow cooling", "gradual chilling", "gentle freezing"),
    ("magnetic noise", "stray magnetism", "field jitter"),
    ("heavy traffic", "constant tremor", "ground vibration"),
    ("acid rain", "sour drizzle", "corrosive rainfall"),
    ("crowding", "close packing", "high density"),
]
PROPERTIES = [
    ("brightness", "glow", "light output"),
    ("lifespan", "durability", "working life"),
    ("signal delay", "latency", "response time"),
    ("growth", "expansion", "gain in size"),
    ("pitch", "tone", "resonant frequency"),
    ("heat loss", "cooling rate", "thermal leakage"),
]
DIRECTIONS = [("raises", "increases", "lifts"), ("lowers", "reduces", "cuts")]
GIVEN = ["Orla", "Tomasz", "Imani", "Piet", "Suvi", "Rafael", "Noor", "Hedda", "Kofi", "Lin", "Maren", "Yusuf"]
FAMILY = [
    *("Abernach", "Briskola", "Callowen", "Dremmelin", "Eskarra", "Fennimor", "Galdane", "Hoxwelter", "Ilmarund"),
    *("Jorvath", "Kestrelli", "Lumgaard"),
]
JOURNALS = [
    "Journal of Imaginary Engineering",
    "Annals of Unlikely Physics",
    "Proceedings of the Nowhere Institute",
    "Fictional Letters",
]
OPENINGS = [
    "{Names} have been built for decades.",
    "Few devices are as common as {names}.",
    "Little is known about {names} outside the workshop.",
    "{Names} are cheap, and yet their behaviour is not understood.",
]
ASIDES = [
    "What {condition} does to them is left for later work.",
    "Unlike {names}, they need no care.",
    "We do not consider {condition}.",
    "Similar questions have been asked about {names}.",
]
TITLES = [
    "{Property} of {names} under {condition}",
    "{Names} and {condition}: {weeks} weeks of records",
    "{Weeks} weeks with {names}",
    "How {names} bear {condition}",
    "On the {property} of {names}",
]

Finding = tuple[int, int, int, int]
"""A thing, a condition, a property and a direction, as their numbers."""


@dataclass(frozen=True)
class Library:
    """Papers with their findings."""

    things: list[list[str]]
    """The names of each thing, in the plural."""
    papers: list[dict[str, Any]]
    findings: list[Finding | None]
    """Finding of each paper; None for a survey."""

    def ids(self, *start: int) -> list[str]:
        """Return the ids of the papers whose finding begins with these numbers."""
        pairs = zip(self.papers, self.findings, strict=True)
        return [paper["id"] for paper, finding in pairs if finding and finding[: len(start)] == start]


MakeCases = Callable[[Library, np.random.Generator, int], list[dict[str, Any]]]
"""`make_cases(library, rng, count)` returns `count` cases, each with its answer."""


def make_library(rng: np.random.Generator, things: int) -> Library:
    """Return papers about several things, in random order: each has a survey, and 3 to 6 papers per condition."""
    pairs = [f"{first} {second}s" for first in FIRST for second in SECOND]
    names = rng.permutation(pairs)[: 3 * things].reshape(things, 3).tolist()
    plans: list[tuple[int, Finding | None]] = [(thing, None) for thing in range(things)]
    for thing in range(things):
        for condition in rng.choice(len(CONDITIONS), 4, replace=False).tolist():
            for _ in range(rng.integers(3, 7)):
                rest = int(rng.integers(len(PROPERTIES))), int(rng.integers(2))
                plans.append((thing, (thing, condition, *rest)))
    plans = [plans[place] for place in rng.permutation(len(plans))]
    titles: set[str] = set()
    papers = []
    for number, (thing, finding) in enumerate(plans):
        title, abstract = _survey(names[thing], rng) if finding is None else _report(names, finding, rng)
        while title in titles:
            title, abstract = _survey(names[thing], rng) if finding is None else _report(names, finding, rng)
        titles.add(title)
        papers.append({"id": f"fic-{number:04d}", "title": title, "abstract": abstract, **_imprint(rng)})
    return Library(names, papers, [finding for _, finding in plans])


def _report(things: list[list[str]], finding: Finding, rng: np.random.Generator) -> tuple[str, str]:
    thing, condition, prop, direction = finding
    words = {
        "names": one_of(things[thing], rng),
        "condition": one_of(CONDITIONS[condition], rng),
        "property": one_of(PROPERTIES[prop], rng),
        "weeks": str(rng.integers(3, 60)),
    }
    others = {
        "names": one_of(_another(things, thing, rng), rng),
        "condition": one_of(_another(CONDITIONS, condition, rng), rng),
    }
    aside = [fill(one_of(ASIDES, rng), others)] if rng.random() < 0.6 else []
    abstract = [
        fill(one_of(OPENINGS, rng), words),
        fill("We keep {names} under {condition} for {weeks} weeks and record their {property}.", words),
        *aside,
        fill(f"We find that {{condition}} {one_of(DIRECTIONS[direction], rng)} it by {rng.integers(4, 70)} %.", words),
    ]
    return fill(one_of(TITLES, rng), words), " ".join(abstract)


def _survey(names: list[str], rng: np.random.Generator) -> tuple[str, str]:
    first, second, third = rng.permutation(names).tolist()
    topics = " and ".join(one_of(CONDITIONS[place], rng) for place in rng.choice(len(CONDITIONS), 2, replace=False))
    text = (
        f"{capital(first)}, also known as {second} or {third}, have a long history. This survey lists who built them, "
        f"where and why. Work on {topics} is mentioned in passing; nothing new is measured."
    )
    return f"{capital(first)}: a survey of {rng.integers(20, 90)} years", text


def _imprint(rng: np.random.Generator) -> dict[str, Any]:
    family = rng.choice(FAMILY, rng.integers(2, 5), replace=False).tolist()
    return {
        "authors": [f"{one_of(GIVEN, rng)} {name}" for name in family],
        "year": int(rng.integers(2101, 2150)),
        "journal": one_of(JOURNALS, rng),
    }


def one_of(choices: Sequence[str], rng: np.random.Generator) -> str:
    return choices[int(rng.integers(len(choices)))]


def _another(choices: Sequence[Sequence[str]], place: int, rng: np.random.Generator) -> Sequence[str]:
    """Return all items except the one at a position."""
    return choices[(place + int(rng.integers(1, len(choices)))) % len(choices)]


def fill(pattern: str, words: dict[str, str]) -> str:
    """Return the pattern with its words, `{Name}` being the word with a capital letter."""
    return pattern.format(**words, **{name.capitalize(): capital(word) for name, word in words.items()})


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def declare_library(task: Task, name: str, make_cases: MakeCases, *, seed: int) -> None:
    """Declare the data of a task: a library and cases to solve with it, of which the second half is hidden.

    Args:
        name: the file of the cases.
        seed: makes the library, which is the same for everybody, as a downloaded one would be.
    """

    def write(raw: Path, rng: np.random.Generator, *, things: int, cases: int) -> None:
        library = make_library(rng, things)
        made = make_cases(library, rng, cases)
        write_json_lines(pd.DataFrame(library.papers), raw / PAPERS)
        write_json_lines(pd.DataFrame(made), raw / name)

    @task.fetch
    def fetch(raw: Path) -> None:
        raw.mkdir(parents=True, exist_ok=True)
        write(raw, np.random.default_rng(seed), things=40, cases=60)

    @task.fabricate
    def fabricate(raw: Path, rng: np.random.Generator) -> None:
        write(raw, rng, things=12, cases=24)

    @task.prepare
    def prepare(raw: Path, public: Path, private: Path) -> None:
        link_file(raw / PAPERS, public / PAPERS)
        cases = pd.DataFrame(records(raw / name))
        half = len(cases) // 2
        write_json_lines(cases[:half], public / name)
        write_json_lines(cases[half:], private / name)


def records(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file with one per line."""
    return read_json_lines(path).to_dict("records")  # type: ignore[return-value]


def texts_of(ran: CompletedProgram, *names: str) -> list[str]:
    """Return the text files that a program left.

    Raises:
        InvalidSubmission: It failed, or left none.
    """
    if ran.stopped or ran.exit_code:
        output = ran.output[-500:] or "it printed nothing"
        if ran.stopped:
            raise InvalidSubmission(f"The program was stopped ({ran.stopped}): {output}")
        raise InvalidSubmission(f"The program ended with exit code {ran.exit_code}: {output}")
    return [ran.read(name, max_bytes=1 << 20).decode("utf-8", "replace") for name in names]


def answers_to(cases: list[Case], answer: Callable[[Case], str]) -> list[str]:
    """Return a program's answer to each case; empty if it fails.

    Raises:
        InvalidSubmission: it fails at every case.
    """
    found, faults = [], []
    for case in cases:
        try:
            found.append(answer(case))
        except InvalidSubmission as fault:
            found.append("")
            faults.append(str(fault))
    if len(faults) == len(cases):
        raise InvalidSubmission(f"The program failed in all {len(cases)} cases. First error: {faults[0]}")
    return found
