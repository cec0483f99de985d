"""BibTeX generation: write a program that finds the claims in a paragraph and the papers to cite for them."""

import re
from bisect import bisect_left
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from podium.catalog.research._fictional_papers import (
    CONDITIONS,
    DIRECTIONS,
    PAPERS,
    PROPERTIES,
    Library,
    answers_to,
    declare_library,
    fill,
    one_of,
    records,
    texts_of,
)
from podium.errors import InvalidSubmission
from podium.metrics import label_mean_f1
from podium.task import Evaluation, Files, Starter, research_task

PARAGRAPHS = "paragraphs.jsonl"
TIME_S = 30.0
CLAIMS = ["{Condition} {verb} the {property} of {names}.", "As for {names}, {condition} {verb} their {property}."]
REMARKS = [
    "Anyone who has owned {names} knows how charming they are.",
    "We chose {names} because they were at hand.",
    "The next section describes our apparatus.",
    "It was a long winter, and we had time.",
    "Whether we need {names} at all is a matter of taste.",
]

task = research_task(
    "bibtex-generation",
    title="BibTeX generation tool",
    kind="tool building",
    metric=label_mean_f1.using(title="Citation F1"),
    submission=Files(names=("cite.py",), max_bytes=1 << 20),
    starter=Starter(folder=Path(__file__).with_suffix(""), script="cite.py", read_only=("scholar_search.py",)),
    first="fixed",
)


def _paragraphs(library: Library, rng: np.random.Generator, count: int) -> list[dict[str, Any]]:
    return [{"id": number, **_paragraph(library, rng)} for number in range(count)]


def _paragraph(library: Library, rng: np.random.Generator) -> dict[str, Any]:
    """Return a paragraph of claims supported by papers of the library and remarks that need no citation, shuffled."""
    findings = sorted({finding for finding in library.findings if finding})
    sentences = []
    for place in rng.choice(len(findings), rng.integers(2, 4), replace=False):
        thing, condition, prop, direction = findings[place]
        words = {
            "names": one_of(library.things[thing], rng),
            "condition": one_of(CONDITIONS[condition], rng),
            "property": one_of(PROPERTIES[prop], rng),
            "verb": one_of(DIRECTIONS[direction], rng),
        }
        sentences.append((fill(one_of(CLAIMS, rng), words), library.ids(*findings[place])))
    for place in rng.choice(len(REMARKS), rng.integers(2, 4), replace=False):
        names = one_of(library.things[rng.integers(len(library.things))], rng)
        sentences.append((fill(REMARKS[place], {"names": names}), []))
    ordered = [sentences[place] for place in rng.permutation(len(sentences))]
    return {"sentences": [text for text, _ in ordered], "citations": [papers for _, papers in ordered]}


declare_library(task, PARAGRAPHS, _paragraphs, seed=2023)


@task.evaluate
def evaluate(evaluation: Evaluation) -> float:
    """Run the program on hidden paragraphs, each in its own sandbox, and return the F1 of (sentence, paper) pairs."""
    assert evaluation.starter is not None
    files = {
        "cite.py": evaluation.submission / "cite.py",
        "scholar_search.py": evaluation.starter / "scholar_search.py",
    }
    papers = {_plain(paper["title"]): paper for paper in records(evaluation.public / PAPERS)}
    paragraphs = records(evaluation.private / PARAGRAPHS)

    def answer(case: dict[str, Any]) -> str:
        text = " ".join(case["sentences"]).encode()
        command = ["python", "cite.py", "paragraph.txt", "cited.tex", "references.bib"]
        ran = evaluation.execute(command, files={**files, "paragraph.txt": text}, time_s=TIME_S, data=True)
        cited, bibliography = texts_of(ran, "cited.tex", "references.bib")
        known = {key: _paper(fields, papers) for key, fields in read_bibtex(bibliography).items()}
        found = citations(cited, case["sentences"])
        # A key that leads nowhere gets a name of ours: its own might read like the name of a right answer.
        return " ".join(f"{place}:{known.get(key) or f'nowhere-{n}'}" for n, (place, key) in enumerate(found))

    truth = [
        " ".join(f"{place}:{paper}" for place, cited in enumerate(case["citations"]) for paper in cited)
        for case in paragraphs
    ]
    return task.metric(truth, answers_to(paragraphs, answer))


def citations(cited: str, sentences: list[str]) -> list[tuple[int, str]]:
    r"""Return the sentence, by its number, and the key of each \cite in a paragraph.

    Raises:
        InvalidSubmission: the paragraph is another one.
    """
    pieces = re.split(r"\\cite\{([^{}]*)\}", cited)
    # Blanks do not count, so that a citation may stand before the full stop, after it or on a line of its own.
    texts = ["".join(piece.split()) for piece in pieces[::2]]
    expected = ["".join(sentence.split()) for sentence in sentences]
    if "".join(texts) != "".join(expected):
        raise InvalidSubmission(r"Without its \cite commands, cited.tex differs from the given paragraph.")
    ends = list(accumulate(map(len, expected)))
    places = [bisect_left(ends, length) for length in accumulate(map(len, texts[:-1]))]
    return [(place, key.strip()) for place, keys in zip(places, pieces[1::2], strict=True) for key in keys.split(",")]


def read_bibtex(text: str) -> dict[str, dict[str, str]]:
    """Return the fields of each entry by its key; other text is skipped."""
    # The text is the agent's: patterns that never go back (`++`) take no more time on a text made to be slow to read.
    entries = {}
    for entry in re.split(r"^[ \t]*+@", text, flags=re.MULTILINE)[1:]:
        head = re.match(r"\w++\s*+\{\s*+([^\s,{}]++)\s*+,", entry)
        if head:
            values = r"\{(?:[^{}]++|\{[^{}]*+\})*+\}|\"[^\"]*+\"|\d++"
            fields = re.findall(rf"\b(\w++)\s*+=\s*+({values})", entry[head.end() :])
            entries[head[1]] = {name.lower(): re.sub(r"[{}\"]", "", value).strip() for name, value in fields}
    return entries


def _paper(fields: dict[str, str], papers: dict[str, dict[str, Any]]) -> str | None:
    """Return the id of the paper that an entry describes; title, year and all authors' family names must match."""
    paper = papers.get(_plain(fields.get("title", "")))
    if paper is None or fields.get("year") != str(paper["year"]):
        return None
    authors = {_plain(word) for word in re.split(r"[\s,]+", fields.get("author", ""))}
    return paper["id"] if all(_plain(name.split()[-1]) in authors for name in paper["authors"]) else None


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
