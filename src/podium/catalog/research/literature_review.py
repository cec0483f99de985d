"""Literature review: write a program that answers a question with a report on the papers that bear on it."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from podium.catalog.research._fictional_papers import (
    CONDITIONS,
    PAPERS,
    Library,
    answers_to,
    declare_library,
    one_of,
    records,
    texts_of,
)
from podium.errors import InvalidSubmission
from podium.metrics import label_mean_f1
from podium.task import Evaluation, Files, Starter, research_task

SECTIONS = ("Introduction", "Findings", "References")
QUESTIONS = "questions.jsonl"
TIME_S = 30.0

task = research_task(
    "literature-review",
    title="Literature review tool",
    kind="tool building",
    metric=label_mean_f1.using(title="Citation F1"),
    submission=Files(names=("review.py",), max_bytes=1 << 20),
    starter=Starter(folder=Path(__file__).with_suffix(""), script="review.py", read_only=("arxiv_search.py",)),
    first="fixed",
)


def _questions(library: Library, rng: np.random.Generator, count: int) -> list[dict[str, Any]]:
    pairs = sorted({finding[:2] for finding in library.findings if finding})
    chosen = [pairs[place] for place in rng.choice(len(pairs), count, replace=False)]
    cases = []
    for number, (thing, condition) in enumerate(chosen):
        names, cause = one_of(library.things[thing], rng), one_of(CONDITIONS[condition], rng)
        question = f"What does {cause} do to {names}?"
        cases.append({"id": number, "question": question, "papers": library.ids(thing, condition)})
    return cases


declare_library(task, QUESTIONS, _questions, seed=2310)


@task.evaluate
def evaluate(evaluation: Evaluation) -> float:
    """Run the program on hidden questions, each in its own sandbox, and return the F1 of the papers it cites."""
    assert evaluation.starter is not None
    files = {
        "review.py": evaluation.submission / "review.py",
        "arxiv_search.py": evaluation.starter / "arxiv_search.py",
    }
    titles = {paper["id"]: paper["title"] for paper in records(evaluation.public / PAPERS)}
    questions = records(evaluation.private / QUESTIONS)

    def answer(case: dict[str, Any]) -> str:
        command = ["python", "review.py", case["question"], "report.md"]
        ran = evaluation.execute(command, files=files, time_s=TIME_S, data=True)
        [report] = texts_of(ran, "report.md")
        return " ".join(cited_papers(report, titles))

    return task.metric([" ".join(case["papers"]) for case in questions], answers_to(questions, answer))


def cited_papers(report: str, titles: dict[str, str]) -> list[str]:
    """Return the papers that a report cites; a citation that cannot be resolved has a name that no paper has.

    Raises:
        InvalidSubmission: the report lacks a part.
    """
    sections = _sections(report)
    for name in SECTIONS:
        if not sections.get(name, "").strip():
            raise InvalidSubmission(f"The section '## {name}' of the report is missing or empty.")
    listed = set()
    for line in sections["References"].casefold().splitlines():
        listed |= {name for name in _in_brackets(line) & titles.keys() if titles[name].casefold() in line}
    cited = _in_brackets(sections["Introduction"]) | _in_brackets(sections["Findings"])
    return [name if name in listed else f"nowhere:{number}" for number, name in enumerate(sorted(cited))]


def _sections(report: str) -> dict[str, str]:
    """Return the text below each heading of the second level, by its name."""
    parts = re.split(r"^##[ \t]+(.*)$", report, flags=re.MULTILINE)
    return {name.strip(): text for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def _in_brackets(text: str) -> set[str]:
    """Return the names in square brackets, separated by commas or semicolons."""
    names = (name.strip() for inner in re.findall(r"\[([^\[\]]*)\]", text) for name in re.split("[,;]", inner))
    return {name for name in names if name}
