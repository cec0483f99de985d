"""Literature review: programs that find more of the right papers score better, and nothing else helps."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from trials import play, prepare

import podium
from podium.catalog.research import literature_review
from podium.catalog.research._fictional_papers import CONDITIONS, records
from podium.catalog.research.literature_review import cited_papers
from podium.data.home import DataFolder
from podium.errors import InvalidSubmission
from podium.grading.grade import Grade

TASK = "literature-review"
assert literature_review.task.starter is not None
FOLDER = literature_review.task.starter.folder
STARTER = (FOLDER / "review.py").read_text(encoding="utf-8")
NAIVE = "    return search(question, max_results=1)\n"
PHRASES = r"""
    import re
    condition, names = re.fullmatch(r"What does (.*) do to (.*)\?", question).groups()
    return search(f'abs:"{names} under {condition}"', max_results=50)
"""
NAMES = r"""
    import re
    condition, names = re.fullmatch(r"What does (.*) do to (.*)\?", question).groups()
    conditions = next(group for group in CONDITIONS if condition in group)
    survey = search(f'"also known as" AND abs:"{names}"', max_results=1)[0]["abstract"]
    aliases = re.match(r"(.*), also known as (.*) or (.*), have", survey).groups()
    phrases = [f'abs:"{alias} under {wording}"' for alias in aliases for wording in conditions]
    return search(" OR ".join(phrases), max_results=50)
"""
TITLES = {"fic-0001": "On kites", "fic-0002": "Kites and fog"}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def place(data_dir: Path) -> DataFolder:
    return prepare(TASK, data_dir)


def submit(program: str, tmp_path: Path, data_dir: Path) -> Grade:
    tmp_path.joinpath("review.py").write_text(program, encoding="utf-8")
    return podium.grade(TASK, tmp_path, data_dir=data_dir)


def report(findings: str, references: str, introduction: str = "About kites.") -> str:
    return f"# Kites\n\n## Introduction\n{introduction}\n## Findings\n{findings}\n\n## References\n{references}\n"


def test_hidden_questions_are_other_ones(place: DataFolder) -> None:
    shown, hidden = (records(folder / "questions.jsonl") for folder in (place.public, place.private))
    assert (len(shown), len(hidden)) == (12, 12)
    assert {case["question"] for case in shown}.isdisjoint(case["question"] for case in hidden)
    public = "".join(path.read_text(encoding="utf-8") for path in place.public.iterdir())
    for case in hidden:
        assert case["question"] not in public
        assert json.dumps(case["papers"], separators=(",", ":")) not in public


def test_every_question_has_papers_that_report_on_it(place: DataFolder) -> None:
    papers = {paper["id"]: paper for paper in records(place.public / "papers.jsonl")}
    assert len({paper["title"] for paper in papers.values()}) == len(papers) > 150
    for case in records(place.private / "questions.jsonl"):
        wordings = next(
            group for group in CONDITIONS if any(f" {wording} do to" in case["question"] for wording in group)
        )
        assert 3 <= len(case["papers"]) <= 6
        for name in case["papers"]:
            assert any(f"under {wording} for" in papers[name]["abstract"] for wording in wordings)


@pytest.mark.slow
def test_better_programs_score_better(tmp_path: Path, data_dir: Path, place: DataFolder) -> None:
    wordings = f"CONDITIONS = {CONDITIONS!r}\n\n\ndef find_papers"
    scores = []
    for new in (NAIVE, PHRASES, NAMES):
        program = STARTER.replace(NAIVE, new).replace("def find_papers", wordings)
        grade = submit(program, tmp_path, data_dir)
        assert grade.valid, grade.error
        scores.append(float(grade.score or 0))
    assert 0 < scores[0] < 0.1
    assert 1.5 * scores[0] < scores[1] < 0.5
    assert scores[2] == 1.0


@pytest.mark.slow
def test_citing_everything_is_worth_little(tmp_path: Path, data_dir: Path, place: DataFolder) -> None:
    everything = "    return search('weeks', max_results=10_000)\n"
    grade = submit(STARTER.replace(NAIVE, everything), tmp_path, data_dir)
    assert grade.valid, grade.error
    assert 0 < float(grade.score or 0) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("raise ValueError('not yet')", "The program fails at all 12 cases. At the first: The program ended with exit"),
        ("", "The file review.py is missing or empty"),
        ("import sys; open(sys.argv[2], 'w').write('Nothing.')", "The report has no section '## Introduction'"),
        ("import os, sys; os.symlink('/etc/passwd', sys.argv[2])", "report.md cannot be read"),
        ("import sys; open(sys.argv[2], 'wb').write(bytes(2_000_000))", "report.md has 2,000,000 bytes"),
    ],
)
def test_programs_without_a_report_are_invalid(
    program: str, message: str, tmp_path: Path, data_dir: Path, place: DataFolder
) -> None:
    grade = submit(program, tmp_path, data_dir)
    assert not grade.valid
    assert message in str(grade.error)


@pytest.mark.slow
def test_failing_at_one_question_costs_that_question(tmp_path: Path, data_dir: Path, place: DataFolder) -> None:
    asked = records(place.private / "questions.jsonl")[0]["question"]
    program = STARTER.replace(NAIVE, f"    assert question != {asked!r}" + NAMES)
    program = program.replace("def find_papers", f"CONDITIONS = {CONDITIONS!r}\n\n\ndef find_papers")
    assert submit(program, tmp_path, data_dir).score == pytest.approx(11 / 12)


@pytest.mark.parametrize(
    ("findings", "references", "cited"),
    [
        ("Fog [fic-0001].", "- [fic-0001] On kites.", ["fic-0001"]),
        ("Fog [fic-0001, fic-0002; fic-0001].", "[fic-0002] kites AND fog\n[fic-0001] On kites", list(TITLES)),
        ("Fog [fic-0001].", "[fic-0001] On bells", ["nowhere:0"]),
        ("Fog [fic-0001].", "None.", ["nowhere:0"]),
        ("Fog [1].", "[1] On kites", ["nowhere:0"]),
        ("Fog [fic-0001].", "[fic-0001]\nOn kites", ["nowhere:0"]),
        ("Nothing.", "[fic-0001] On kites", []),
    ],
)
def test_a_citation_counts_if_it_leads_somewhere(findings: str, references: str, cited: list[str]) -> None:
    assert cited_papers(report(findings, references), TITLES) == cited


def test_a_report_needs_its_sections() -> None:
    whole = report("Fog [fic-0001].", "[fic-0001] On kites")
    for name in literature_review.SECTIONS:
        with pytest.raises(InvalidSubmission, match=f"'## {name}'"):
            cited_papers(whole.replace(f"## {name}", "## Other"), TITLES)
    with pytest.raises(InvalidSubmission, match="'## Introduction' of the report is missing or empty"):
        cited_papers(report("Fog", "None", introduction=""), TITLES)


def test_reading_a_hostile_report_takes_no_time() -> None:
    many = "[fic-0001]" * 100_000 + "[" * 50_000
    assert cited_papers(report(many, many + " On kites"), TITLES) == ["fic-0001"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('abs:"salt fog"', ["a", "c"]),
        ("ti:kites AND abs:fog", ["a"]),
        ("kites ANDNOT fog", ["b"]),
        ("fog kites", ["a", "b", "c"]),
        ("fo", []),
        ('""', []),
    ],
)
def test_the_search_follows_its_syntax(query: str, found: list[str], tmp_path: Path) -> None:
    papers = [
        {"id": "a", "title": "Kites", "abstract": "In salt fog."},
        {"id": "b", "title": "More kites", "abstract": "Red ones, in the wind."},
        {"id": "c", "title": "Bells", "abstract": "Salt fog; and salt."},
    ]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "papers.jsonl").write_text("\n".join(map(json.dumps, papers)), encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(FOLDER)!r}); from arxiv_search import search\n"
    code += f"print(*[paper['id'] for paper in search({query!r})])"
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == found


def test_the_whole_library_needs_no_download(tmp_path: Path) -> None:
    assert literature_review.task.fetcher is not None
    literature_review.task.fetcher(tmp_path / "raw")
    assert len(records(tmp_path / "raw" / "papers.jsonl")) > 600
    assert len(records(tmp_path / "raw" / "questions.jsonl")) == 60


def test_the_baseline_runs_in_the_sandbox(place: DataFolder, tmp_path: Path, data_dir: Path) -> None:
    row = play(TASK, tmp_path / "run", data_dir)
    assert row.record.valid, row.record.error
    assert 0 < float(row.record.score or 0) < 0.2
