"""Answers a question with a report on the literature: python review.py "QUESTION" REPORT.md

Without arguments it prints its report on the first question of data/questions.jsonl. So far it looks at the first hit
of a search for the words of the question, and that is all.
"""

import json
import sys
from pathlib import Path

from arxiv_search import search


def find_papers(question: str) -> list[dict]:
    """The papers that answer the question."""
    return search(question, max_results=1)


def write_report(question: str, papers: list[dict]) -> str:
    findings = "\n".join(f"One of the papers is about this [{paper['id']}]." for paper in papers)
    references = "\n".join(
        f"- [{paper['id']}] {', '.join(paper['authors'])}: {paper['title']}. {paper['journal']}, {paper['year']}."
        for paper in papers
    )
    return f"""# {question}

## Introduction
This report looks for an answer to the question above.

## Findings
{findings or "Nothing was found."}

## References
{references or "None."}
"""


if __name__ == "__main__":
    if len(sys.argv) == 3:
        report = write_report(sys.argv[1], find_papers(sys.argv[1]))
        Path(sys.argv[2]).write_text(report, encoding="utf-8")
    else:
        with Path("data/questions.jsonl").open(encoding="utf-8") as file:
            question = json.loads(file.readline())["question"]
        print(write_report(question, find_papers(question)))
