"""Searches the library in data/papers.jsonl, in the manner of a search engine for scholars.

    from scholar_search import search
    for hit in search("salt fog kites", limit=5):
        print(hit["score"], hit["title"], hit["snippet"])

A query is plain words; there is no syntax. Hits come by relevance (BM25 over title and abstract) with `id`, `title`,
`snippet` (the sentence of the abstract that has most of the words), `authors`, `year`, `journal` and `score`.
"""

import json
import math
import re
from collections import Counter
from functools import cache
from pathlib import Path

PAPERS = Path("data/papers.jsonl")
SATURATION, LENGTH = 1.5, 0.75


def search(query: str, limit: int = 10) -> list[dict]:
    """The most relevant papers, best first."""
    words = set(_words(query))
    scores: Counter[int] = Counter()
    for word in words:
        holders = _index().get(word, {})
        rarity = math.log(1 + (len(_papers()) - len(holders) + 0.5) / (len(holders) + 0.5))
        for place, count in holders.items():
            length = 1 - LENGTH + LENGTH * _lengths()[place] / (sum(_lengths()) / len(_lengths()))
            scores[place] += rarity * count * (SATURATION + 1) / (count + SATURATION * length)
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return [_hit(_papers()[place], words, score) for place, score in ranked]


def _hit(paper: dict, words: set[str], score: float) -> dict:
    sentences = re.split(r"(?<=\.) ", paper["abstract"])
    snippet = max(sentences, key=lambda sentence: len(words & set(_words(sentence))))
    facts = {name: paper[name] for name in ("id", "title", "authors", "year", "journal")}
    return {**facts, "snippet": snippet, "score": round(score, 3)}


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


@cache
def _papers() -> list[dict]:
    with PAPERS.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@cache
def _lengths() -> list[int]:
    return [len(_words(paper["title"] + " " + paper["abstract"])) for paper in _papers()]


@cache
def _index() -> dict[str, dict[int, int]]:
    """How often each word stands in which papers."""
    index: dict[str, dict[int, int]] = {}
    for place, paper in enumerate(_papers()):
        for word, count in Counter(_words(paper["title"] + " " + paper["abstract"])).items():
            index.setdefault(word, {})[place] = count
    return index
