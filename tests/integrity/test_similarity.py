"""Copies are found however they were disguised, and honest scripts are left alone."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from few import few
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import MUTATIONS

import podium
from podium import api
from podium.cli import main
from podium.errors import UsageError
from podium.integrity.python_code import source_of
from podium.integrity.similarity import Document, find_similar, read_folder, render_pairs
from podium.integrity.similarity.fingerprints import fingerprint
from podium.report.stored_findings import read_findings
from podium.runs.drive.driver import Driver
from podium.runs.drive.executors import make_executor
from podium.runs.experiment import open_experiment
from podium.runs.records import Plan
from podium.workspace.budget import Budget

SOURCE = Path(podium.__file__).parent
TASK = "spaceship-titanic"


@cache
def scripts() -> tuple[Document, ...]:
    """Starter code and recipes' code, by many hands and about the same things."""
    folders = ("catalog/research/*/*.py", "recipes/kit/*/*.py")
    paths = sorted(path for pattern in folders for path in SOURCE.glob(pattern))
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    return tuple(
        Document(str(path.relative_to(SOURCE)), path.name, text)
        for path, text in texts.items()
        if len(text.splitlines()) >= 40
    )


def authors(pairs: list[Any]) -> set[tuple[str, str]]:
    return {(pair.left.author, pair.right.author) for pair in pairs}


@pytest.mark.parametrize("way", few(MUTATIONS, every=3))
def test_a_disguised_copy_is_found_and_others_are_not(way: str) -> None:
    """Recall of at least 95 % with at most 1 % false alarms, over all pairs of a copy and an original."""
    originals, rng = scripts(), random.Random(way)
    copies = [Document(f"copy of {each.author}", each.name, MUTATIONS[way](each.source, rng)) for each in originals]
    found = {pair for pair in authors(find_similar(copies, originals)) if pair[1].startswith(("catalog", "recipes"))}
    true = {(copy.author, original.author) for copy, original in zip(copies, originals, strict=True)}
    assert len(originals) >= 20
    assert len(found & true) >= 0.95 * len(true)
    assert len(found - true) <= 0.01 * (len(originals) ** 2 - len(originals))


def test_a_copy_with_all_disguises_is_found() -> None:
    originals, rng = scripts(), random.Random(0)
    gentle = [MUTATIONS[way] for way in ("renamed", "dead code", "changed constants", "comments", "reordered")]
    found = 0
    for original in originals:
        source = original.source
        for mutate in gentle:
            source = mutate(source, rng)
        found += bool(find_similar([Document("run", "copy", source)], [original]))
    assert found >= 0.95 * len(originals)


def test_boilerplate_does_not_count() -> None:
    common = scripts()[0].source
    own = [scripts()[number].source for number in range(1, 13)]
    documents = [Document(f"run {number}", "a.py", f"{common}\n{text}") for number, text in enumerate(own)]
    assert len(find_similar(documents[:2])) == 1
    assert find_similar(documents) == []


def test_starter_code_does_not_count() -> None:
    starter, *others = (script.source for script in scripts()[:3])
    documents = [Document(f"run {number}", "a.py", f"{starter}\n{text}") for number, text in enumerate(others)]
    assert find_similar(documents, starters=[starter]) == []


def test_passages_name_the_lines_that_correspond() -> None:
    copied = "\n".join(scripts()[3].source.splitlines()[10:40])
    left = Document("run", "a.py", "import os\n" * 5 + copied)
    right = Document("notebook", "b.py", scripts()[3].source)
    (pair,) = find_similar([left], [right])
    first = pair.passages[0]
    assert first.right[0] - first.left[0] == 5
    assert pair.passages[-1].left[1] <= len(left.source.splitlines())


def test_a_notebook_is_read_as_its_code() -> None:
    cells: list[Any] = [
        {"cell_type": "markdown", "source": ["# Titanic"]},
        {"cell_type": "code", "source": ["!pip install x\n", "%matplotlib inline\n", "a = 1\n"]},
        {"cell_type": "code", "source": "b = 2"},
        {"cell_type": "code", "source": [1, None, {"a": 2}]},
        "not a cell",
    ]
    assert (
        source_of("a.ipynb", json.dumps({"cells": cells})) == "# !pip install x\n# %matplotlib inline\na = 1\n\nb = 2"
    )


@pytest.mark.parametrize(
    "text", ["", "[", "[" * 100_000, "[]", '{"cells": 3}', '{"cells": [1, {"cell_type": "code"}]}']
)
def test_an_invalid_notebook_has_no_code(text: str) -> None:
    assert source_of("a.ipynb", text).strip() == ""


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="'\"\\abc \n#()=.1fr", max_size=300))
def test_any_text_has_fingerprints(text: str) -> None:
    found = fingerprint(text)
    assert len(found.hashes) == len(found.places)
    assert all(1 <= line <= text.count("\n") + 1 for line in found.lines)


def test_code_that_python_refuses_is_still_recognised() -> None:
    source = scripts()[5].source
    broken = Document("run", "broken.py", source[: len(source) * 2 // 3] + "\ndef broken(:\n  '''")
    assert len(find_similar([broken], [Document("notebook", "whole.py", source)])) == 1


def test_the_page_escapes_code() -> None:
    attack = "</div><script>alert(1)</script>"
    source = f'{scripts()[0].source}\nx = "{attack}"\n'
    page = render_pairs(find_similar([Document(f"run {attack}", attack, source)], [scripts()[0]]), attack)
    assert "alert(1)" in page
    assert "<script" not in page
    assert 'class="p1"' in page


def test_a_folder_without_scripts_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(UsageError, match=r"\.ipynb"):
            read_folder(folder)


@pytest.fixture(scope="module")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Path]]:
    """Two experiments whose agents wrote a script each; the second is a copy of the first with other names."""
    folder = tmp_path_factory.mktemp("similar")
    api.prepare(TASK, data_dir=folder / "data", miniature=True)
    source = scripts()[4].source
    made = []
    for name, text in (("first", source), ("second", MUTATIONS["renamed"](source, random.Random(1)))):
        actions = [{"action": "write_file", "arguments": {"file_name": "code/solution.py", "content": text}}]
        (folder / f"{name}.json").write_text(json.dumps(actions))
        plan = Plan(
            agent="scripted",
            options={"script": str(folder / f"{name}.json")},
            data_dir=folder / "data",
            miniature=True,
            budget=Budget(time_s=100.0),
        )
        experiment = open_experiment(folder / name, plan, [TASK], 1)
        Driver(experiment).run_all(make_executor(parallel=1))
        made.append(experiment.folder)
    yield made


def test_a_run_that_copied_another_is_reported(
    experiments: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "similar.html"
    with pytest.raises(SystemExit, match="0"):
        main(["integrity", "similarity", *map(str, experiments), "--json", "--html", str(page)])
    found = json.loads(capsys.readouterr().out)
    (pair,) = found["pairs"]
    assert {Path(pair[side]).parent.parent for side in ("left", "right")} == set(experiments)
    assert pair["left_file"] == "code/solution.py after step 1"
    assert "code/solution.py" in page.read_text()
    findings = read_findings(experiments[0])
    assert findings is not None
    (finding,) = findings.findings
    assert (finding.kind, finding.severity, finding.step, finding.file) == (
        "copied code",
        "concern",
        1,
        "code/solution.py",
    )


def test_a_run_that_copied_a_notebook_is_reported(
    experiments: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [{"cell_type": "code", "source": part} for part in scripts()[4].source.split("\n\n")]
    (tmp_path / TASK).mkdir()
    (tmp_path / TASK / "winner.ipynb").write_text(json.dumps({"cells": cells}))
    with pytest.raises(SystemExit, match="0"):
        main(["integrity", "similarity", str(experiments[1]), "--against", str(tmp_path)])
    assert "winner.ipynb" in capsys.readouterr().out
