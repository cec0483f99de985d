"""Searches the library in data/papers.jsonl, in the manner of arXiv's interface.

    from arxiv_search import search
    for paper in search('ti:kites AND "salt fog"', max_results=5):
        print(paper["id"], paper["title"])

A query is a list of words and "phrases in quotes", each perhaps with a prefix: `ti:` looks in titles only, `abs:` in
abstracts only, `all:` in both, as without a prefix. Between two of them stands `AND`, `OR` or `ANDNOT`; nothing means
OR. Read from left to right, without brackets. Words are compared as whole words, capitals do not matter. The best hits
come first: those with the most, and the rarest, of the words that were asked for.
"""

import json
import math
import re
from functools import cache
from pathlib import Path

PAPERS = Path("data/papers.jsonl")
FIELDS = {"ti": ("title",), "abs": ("abstract",), "all": ("title", "abstract")}


def search(query: str, max_results: int = 10, start: int = 0) -> list[dict]:
    """The papers that match, best first: dictionaries with id, title, abstract, authors, year and journal."""
    found: set[int] = set()
    scores: dict[int, float] = {}
    join = "OR"
    for term in re.findall(r'(?:\w+:)?"[^"]*"|\S+', query):
        if term in ("AND", "OR", "ANDNOT"):
            join = term
            continue
        hits = _hits(term)
        found = {"AND": found & hits, "OR": found | hits, "ANDNOT": found - hits}[join]
        if join != "ANDNOT":
            rarity = math.log(1 + len(_papers()) / (1 + len(hits)))
            for place in hits:
                scores[place] = scores.get(place, 0.0) + rarity
        join = "OR"
    ranked = sorted(found, key=lambda place: (-scores.get(place, 0.0), place))
    return [dict(_papers()[place]) for place in ranked[start : start + max_results]]


@cache
def _papers() -> list[dict]:
    with PAPERS.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@cache
def _hits(term: str) -> frozenset[int]:
    """The places of the papers that hold a word or a phrase."""
    prefix, _, rest = term.partition(":")
    fields, words = (FIELDS[prefix], rest) if prefix in FIELDS and rest else (FIELDS["all"], term)
    wanted = " ".join(re.findall(r"\w+", words.lower()))
    if not wanted:
        return frozenset()
    return frozenset(
        place for place, texts in enumerate(_texts()) if any(f" {wanted} " in texts[field] for field in fields)
    )


@cache
def _texts() -> list[dict[str, str]]:
    """The searched fields as words between single blanks, with a blank on both sides."""
    return [
        {field: f" {' '.join(re.findall(r'[a-z0-9_]+', paper[field].lower()))} " for field in FIELDS["all"]}
        for paper in _papers()
    ]
