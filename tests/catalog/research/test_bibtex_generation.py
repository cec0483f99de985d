"""BibTeX generation: claims with the right papers score; changed texts and made-up entries do not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from trials import play, prepare

import podium
from podium.catalog.research import bibtex_generation
from podium.catalog.research._fictional_papers import CONDITIONS, DIRECTIONS, PROPERTIES, records
from podium.catalog.research.bibtex_generation import _paper, _plain, citations, read_bibtex
from podium.data.home import DataFolder
from podium.errors import InvalidSubmission
from podium.grading.grade import Grade

TASK = "bibtex-generation"
assert bibtex_generation.task.starter is not None
FOLDER = bibtex_generation.task.starter.folder
STARTER = (FOLDER / "cite.py").read_text(encoding="utf-8")
NAIVE = "    return [search(sentence, limit=1) if number == 0 else [] for number, sentence in enumerate(sentences)]\n"
EVERY = "    return [search(sentence, limit=1) for sentence in sentences]\n"
THINKING = r"""
    return [supporters(sentence) for sentence in sentences]


def group_in(sentence, groups):
    return next((group for group in groups if any(f" {word} " in sentence for word in group)), None)


def supporters(sentence):
    text = " " + re.sub("[.,]", "", sentence.lower()) + " "
    groups = [group_in(text, kind) for kind in (CONDITIONS, PROPERTIES, DIRECTIONS)]
    if None in groups:
        return []
    papers = [json.loads(line) for line in open("data/papers.jsonl", encoding="utf-8")]
    surveys = [re.match("(.*), also known as (.*) or (.*), have", paper["abstract"]) for paper in papers]
    names = next(found.groups() for found in surveys if found and any(name.lower() in text for name in found.groups()))
    conditions, properties, verbs = groups
    return [paper for paper in papers if any(
        f"keep {name.lower()} under {condition} " in paper["abstract"]
        and f"record their {prop}." in paper["abstract"] and f"{condition} {verb} it" in paper["abstract"]
        for name in names for condition in conditions for prop in properties for verb in verbs
    )]
"""
LISTS = f"CONDITIONS = {CONDITIONS!r}\nPROPERTIES = {PROPERTIES!r}\nDIRECTIONS = {DIRECTIONS!r}\n\n\ndef find_citations"
PAPER = {"id": "fic-0001", "title": "Kites & fog: 3 weeks", "authors": ["Orla Venn", "Piet Osk"], "year": 2120}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def place(data_dir: Path) -> DataFolder:
    return prepare(TASK, data_dir)


def submit(program: str, tmp_path: Path, data_dir: Path) -> Grade:
    tmp_path.joinpath("cite.py").write_text(program, encoding="utf-8")
    return podium.grade(TASK, tmp_path, data_dir=data_dir)


def test_hidden_paragraphs_are_other_ones(place: DataFolder) -> None:
    shown, hidden = (records(folder / "paragraphs.jsonl") for folder in (place.public, place.private))
    assert (len(shown), len(hidden)) == (12, 12)
    public = "".join(path.read_text(encoding="utf-8") for path in place.public.iterdir())
    for case in hidden:
        assert json.dumps(case["sentences"], separators=(",", ":")) not in public
        assert sum(map(bool, case["citations"])) in (2, 3)
        assert case["citations"].count([]) in (2, 3)


@pytest.mark.slow
def test_better_programs_score_better(tmp_path: Path, data_dir: Path, place: DataFolder) -> None:
    scores = []
    for new in (NAIVE, EVERY, THINKING):
        program = STARTER.replace(NAIVE, new).replace("def find_citations", LISTS)
        grade = submit(program, tmp_path, data_dir)
        assert grade.valid, grade.error
        scores.append(float(grade.score or 0))
    assert 0 < scores[0] < scores[1] < 0.5
    assert scores[2] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"title": paper["title"]', '"title": "A better title"'),
        ('"year": paper["year"]', '"year": 2024'),
        ('" and ".join(paper["authors"])', 'paper["authors"][0]'),
        ("@article{{{paper", "@article{{x{paper"),
        ('keys = ",".join(paper["id"] for', "keys = \",\".join(f\"x 0:{paper['id']} 1:{paper['id']}\" for"),
    ],
    ids=["wrong title", "wrong year", "authors left out", "key without entry", "key that looks like an answer"],
)
def test_what_is_not_in_the_library_does_not_count(
    old: str, new: str, tmp_path: Path, data_dir: Path, place: DataFolder
) -> None:
    program = STARTER.replace(NAIVE, THINKING).replace("def find_citations", LISTS)
    assert program.count(old) == 1
    assert submit(program.replace(old, new), tmp_path, data_dir).score == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("raise ValueError('not yet')", "The program fails at all 12 cases. At the first: The program ended with exit"),
        (STARTER.replace('" ".join(map(with', '"Indeed: " + " ".join(map(with'), "differs from the given paragraph"),
        ("import sys; open(sys.argv[2], 'w').write('')", "references.bib cannot be read"),
    ],
)
def test_programs_without_a_result_are_invalid(
    program: str, message: str, tmp_path: Path, data_dir: Path, place: DataFolder
) -> None:
    grade = submit(program, tmp_path, data_dir)
    assert not grade.valid
    assert message in str(grade.error)


@pytest.mark.parametrize(
    ("cited", "found"),
    [
        ("Fog dims kites. We like it.", []),
        (r"Fog dims kites \cite{a}. We like it.", [(0, "a")]),
        (r"Fog dims kites.\cite{a} We like it.", [(0, "a")]),
        (r"Fog dims kites. \cite{a}" + "\n" + r"We like it \cite{ b , c}.", [(0, "a"), (1, "b"), (1, "c")]),
        (r"Fog \cite{a} dims kites. We like it. \cite{b}", [(0, "a"), (1, "b")]),
        (r"\cite{a}Fog dims kites. We like it.", [(0, "a")]),
    ],
)
def test_a_citation_belongs_to_its_sentence(cited: str, found: list[tuple[int, str]]) -> None:
    assert citations(cited, ["Fog dims kites.", "We like it."]) == found


def test_a_changed_paragraph_is_refused() -> None:
    with pytest.raises(InvalidSubmission, match="differs from the given paragraph"):
        citations(r"Fog dims all kites \cite{a}. We like it.", ["Fog dims kites.", "We like it."])


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        ("@article{k, title={Kites & fog: 3 weeks}, author={Orla Venn and Piet Osk}, year={2120}}", "fic-0001"),
        (
            '@misc{k,\n title = "{Kites} & Fog: 3 weeks",\n author = {Venn, O. and Osk, P.},\n year = 2120\n}',
            "fic-0001",
        ),
        ("@article{k, title={Kites}, author={Orla Venn and Piet Osk}, year={2120}}", None),
        ("@article{k, title={Kites & fog: 3 weeks}, author={Orla Venn}, year={2120}}", None),
        ("@article{k, title={Kites & fog: 3 weeks}, author={Orla Venn and Piet Osk}, year={2121}}", None),
        ("@article{k, year={2120}}", None),
    ],
)
def test_an_entry_is_known_by_title_year_and_authors(entry: str, found: str | None) -> None:
    assert _paper(read_bibtex(entry)["k"], {_plain(str(PAPER["title"])): PAPER}) == found


def test_hostile_text_is_read_to_its_end() -> None:
    """In time that grows with its length: a million characters squared would take days."""
    for piece in ("@a{k,a={", "@a{", " ", "\n", "a", "{", "a=", 'a="', "a={{}", "@a{k,b={a={}}", "\\cite{"):
        text = piece * (1_000_000 // len(piece))
        read_bibtex("@article{k, " + text)
        read_bibtex(text)
        with pytest.raises(InvalidSubmission):
            citations(text, ["Kites."])


def test_the_search_ranks_by_rare_words(tmp_path: Path) -> None:
    facts = {"authors": [], "year": 2120, "journal": "Fictional Letters"}
    papers = [
        {"id": "a", "title": "Kites", "abstract": "They fly. In salt fog they dim.", **facts},
        {"id": "b", "title": "More kites", "abstract": "Red ones.", **facts},
        {"id": "c", "title": "Bells", "abstract": "Loud ones.", **facts},
    ]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "papers.jsonl").write_text("\n".join(map(json.dumps, papers)), encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(FOLDER)!r}); from scholar_search import search\n"
    code += "print(*[f\"{hit['id']}: {hit['snippet']}\" for hit in search('kites in FOG', limit=2)], sep='|')"
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "a: In salt fog they dim.|b: Red ones.\n"


def test_the_whole_library_needs_no_download(tmp_path: Path) -> None:
    assert bibtex_generation.task.fetcher is not None
    bibtex_generation.task.fetcher(tmp_path / "raw")
    assert len(records(tmp_path / "raw" / "papers.jsonl")) > 600
    assert len(records(tmp_path / "raw" / "paragraphs.jsonl")) == 60


def test_the_baseline_runs_in_the_sandbox(place: DataFolder, tmp_path: Path, data_dir: Path) -> None:
    row = play(TASK, tmp_path / "run", data_dir)
    assert row.record.valid, row.record.error
    assert 0 < float(row.record.score or 0) < 0.2
