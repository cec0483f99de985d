r"""Adds citations to a paragraph: python cite.py PARAGRAPH.txt CITED.tex REFERENCES.bib

CITED.tex gets the paragraph with \cite{key} commands, REFERENCES.bib an entry for each key. So far the first sentence
is taken for a claim, whatever it says, and the first hit of a search for its words is cited. Without arguments the
program prints what it makes of the first paragraph of data/paragraphs.jsonl.
"""

import json
import re
import sys
from pathlib import Path

from scholar_search import search


def find_citations(sentences: list[str]) -> list[list[dict]]:
    """For each sentence the papers to cite in it, if any."""
    return [search(sentence, limit=1) if number == 0 else [] for number, sentence in enumerate(sentences)]


def with_citations(sentence: str, papers: list[dict]) -> str:
    keys = ",".join(paper["id"] for paper in papers)
    return f"{sentence[:-1]} \\cite{{{keys}}}{sentence[-1]}" if keys else sentence


def bibtex(paper: dict) -> str:
    fields = {
        "author": " and ".join(paper["authors"]),
        "title": paper["title"],
        "journal": paper["journal"],
        "year": paper["year"],
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@article{{{paper['id']},\n{lines}}}\n"


def cite(paragraph: str) -> tuple[str, str]:
    """The paragraph with citations, and the bibliography."""
    sentences = re.split(r"(?<=\.)\s+", paragraph.strip())
    cited = find_citations(sentences)
    papers = {paper["id"]: paper for found in cited for paper in found}
    return " ".join(map(with_citations, sentences, cited)) + "\n", "\n".join(map(bibtex, papers.values()))


if __name__ == "__main__":
    if len(sys.argv) == 4:
        text, bibliography = cite(Path(sys.argv[1]).read_text(encoding="utf-8"))
        Path(sys.argv[2]).write_text(text, encoding="utf-8")
        Path(sys.argv[3]).write_text(bibliography, encoding="utf-8")
    else:
        with Path("data/paragraphs.jsonl").open(encoding="utf-8") as file:
            sentences = json.loads(file.readline())["sentences"]
        print(*cite(" ".join(sentences)), sep="\n")
