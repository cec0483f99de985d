"""Task files outside the source tree: found, listed, cached, remembered, and what is wrong with them said."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from outside_tasks import TASK_FILE, write_suite, write_task

import podium
from podium.catalog import external_tasks, registry
from podium.errors import UnknownTaskError, UsageError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is searched for tasks."""
    (tmp_path / "tasks").mkdir()
    monkeypatch.setenv("PODIUM_TASKS", str(tmp_path / "tasks"))
    return tmp_path / "tasks"


def refused(*parts: str) -> pytest.RaisesExc[UsageError]:
    return pytest.raises(UsageError, match=".*".join(map(re.escape, parts)))


class TestFinding:
    def test_a_file_beside_its_brief_is_a_task(self, folder: Path) -> None:
        write_task(folder, "old-orchard")
        task = podium.load("old-orchard")
        assert (task.id, task.brief) == ("old-orchard", "# old-orchard\n\nSay which trees bear fruit.\n")
        assert podium.tasks()[-1] == "old-orchard"
        assert registry.expand(["old-orchard", "spaceship-titanic"]) == ["old-orchard", "spaceship-titanic"]

    def test_a_folder_with_task_and_brief_is_a_task(self, folder: Path) -> None:
        write_task(folder / "orchard").rename(folder / "orchard" / "task.py")
        (folder / "orchard" / "orchard.md").rename(folder / "orchard" / "brief.md")
        assert podium.load("orchard").brief.startswith("# orchard")

    def test_a_folder_of_one_task_can_be_named_itself(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write_task(tmp_path / "orchard", brief="brief.md")
        monkeypatch.setenv("PODIUM_TASKS", str(tmp_path / "orchard"))
        assert podium.load("orchard").brief.startswith("# orchard")

    def test_several_folders_are_searched(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write_task(tmp_path / "a", "orchard")
        write_task(tmp_path / "b", "vineyard")
        monkeypatch.setenv("PODIUM_TASKS", f"{tmp_path / 'a'}:{tmp_path / 'b'}")
        assert podium.tasks()[-2:] == ["orchard", "vineyard"]

    def test_task_files_share_helpers(self, folder: Path) -> None:
        path = write_task(folder)
        path.write_text(path.read_text().replace('"{id}"', "NAME").replace('"orchard"', "NAME"), encoding="utf-8")
        (folder / "_names.py").write_text('NAME = "orchard"\n', encoding="utf-8")
        path.write_text(f"from ._names import NAME\n{path.read_text()}", encoding="utf-8")
        assert podium.load("orchard").id == "orchard"

    def test_the_closest_name_may_be_outside(self, folder: Path) -> None:
        write_task(folder)
        with pytest.raises(UnknownTaskError, match="Did you mean orchard"):
            podium.load("orchart")

    def test_an_installed_package_offers_its_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        package = tmp_path / "site" / "fruit_tasks"
        write_task(package / "tasks", "packaged-orchard")
        for part in (package, package / "tasks"):
            (part / "__init__.py").touch()
        facts = tmp_path / "site" / "fruit_tasks-1.0.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: fruit-tasks\nVersion: 1.0\n", encoding="utf-8")
        (facts / "entry_points.txt").write_text("[podium.tasks]\nfruit = fruit_tasks.tasks\n", encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        external_tasks._installed_folders.cache_clear()
        try:
            assert podium.load("packaged-orchard").title == "Fruit of the packaged-orchard"
            assert package in external_tasks.folders_with_answers(), "the whole package may hold answers"
        finally:
            external_tasks._installed_folders.cache_clear()


class TestUse:
    def test_it_is_prepared_validated_and_graded_with_its_own_medals(self, folder: Path, tmp_path: Path) -> None:
        write_task(folder)
        done = podium.prepare("orchard", data_dir=tmp_path, miniature=True)
        sample, answers = done.place.public / "sample_submission.csv", done.place.private / "test.csv"
        assert podium.validate("orchard", sample, data_dir=tmp_path).valid
        assert podium.grade("orchard", sample, data_dir=tmp_path).medal is None
        best = podium.grade("orchard", answers, data_dir=tmp_path)
        assert (best.score, best.medal, best.above_median) == (1.0, "gold", True)
        assert (done.place.public / "description.md").read_text().startswith("# orchard")

    def test_it_is_in_no_suite_but_its_own(self, folder: Path) -> None:
        write_task(folder)
        write_task(folder, "vineyard")
        write_suite(folder, "fruit", "# Things that grow", "orchard", "", "# a built-in one", "spaceship-titanic")
        listed = {listing.id: listing for listing in registry.listings()}
        assert listed["orchard"].suites == ("fruit",)
        assert listed["vineyard"].suites == ()
        assert listed["orchard"].competition
        assert registry.suites()["fruit"].title == "Things that grow"
        assert podium.tasks("fruit") == ["orchard", "spaceship-titanic"]
        assert registry.expand(["fruit"]) == ["orchard", "spaceship-titanic"]
        others = [suite for suite in registry.suites().values() if suite.name != "fruit"]
        assert not [suite.name for suite in others if {"orchard", "vineyard"} & set(suite.tasks)]


class TestListing:
    def test_a_file_is_imported_once_until_it_changes(self, folder: Path) -> None:
        path = write_task(folder)
        trace = folder.parent / "imported"
        count = f"with open({str(trace)!r}, 'a') as file:\n    file.write('x')\n"
        path.write_text(count + path.read_text(), encoding="utf-8")
        assert [podium.tasks()[-1] for _ in range(2)] == ["orchard"] * 2
        light = "import podium, sys; assert 'orchard' in podium.tasks(); assert 'numpy' not in sys.modules"
        subprocess.run([sys.executable, "-c", light], check=True)
        assert trace.read_text() == "x"
        path.write_text(path.read_text().replace("Fruit of the", "The fruit of the"), encoding="utf-8")
        assert registry.listings()[-1].title == "The fruit of the orchard"
        assert podium.load("orchard").title == "The fruit of the orchard"

    def test_a_home_that_cannot_be_written_is_no_obstacle(self, folder: Path, home: Path) -> None:
        home.write_text("a file in its place", encoding="utf-8")
        write_task(folder)
        assert podium.tasks()[-1] == "orchard"

    def test_a_task_is_found_where_it_was_last_seen(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = write_task(folder)
        assert podium.load("orchard").id == "orchard"
        monkeypatch.delenv("PODIUM_TASKS")
        assert podium.load("orchard").id == "orchard"
        assert "orchard" not in podium.tasks(), "lists show the folders that are named"
        path.unlink()
        with pytest.raises(UnknownTaskError):
            podium.load("orchard")
        listing = registry.find_listing("orchard")
        assert listing and listing.kind == "tabular classification", "reports still know what it was"


class TestMistakes:
    def test_a_missing_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PODIUM_TASKS", str(tmp_path / "nowhere"))
        with refused("There is no folder", "nowhere", "$PODIUM_TASKS"):
            podium.tasks()

    @pytest.mark.parametrize(
        ("text", "line", "problem"),
        [
            ("import numpy\n\ntask = competition(\n", 3, "SyntaxError"),
            ("x = 1\ntask = competition('orchard')\n", 2, "NameError: name 'competition' is not defined"),
            ("import numpy_of_nobody\n", 1, "ModuleNotFoundError: No module named 'numpy_of_nobody'"),
            ("def broken():\n    return 1 / 0\n\n\nbroken()\n", 2, "ZeroDivisionError"),
        ],
    )
    def test_a_file_that_cannot_be_imported(self, folder: Path, text: str, line: int, problem: str) -> None:
        (folder / "orchard.py").write_text(text, encoding="utf-8")
        with refused(f"orchard.py:{line}: the task file cannot be imported", problem):
            podium.tasks()

    def test_a_file_without_a_task(self, folder: Path) -> None:
        (folder / "orchard.py").write_text("tusk = 1\n", encoding="utf-8")
        with refused("orchard.py does not define a task", "task = competition(...)", "_orchard.py"):
            podium.tasks()

    def test_a_task_without_a_brief(self, folder: Path) -> None:
        write_task(folder).with_suffix(".md").unlink()
        with refused("orchard.py has no brief", "brief.md"):
            podium.load("orchard")

    def test_two_tasks_with_one_id(self, folder: Path) -> None:
        write_task(folder)
        (folder / "second.py").write_text(TASK_FILE.format(id="orchard"), encoding="utf-8")
        with refused("second.py:12: the id 'orchard' is taken by", "orchard.py:12", "another id"):
            podium.tasks()

    @pytest.mark.parametrize("taken", ["spaceship-titanic", "quick"])
    def test_the_name_of_a_built_in_task_or_suite(self, folder: Path, taken: str) -> None:
        write_task(folder, taken)
        with refused(f"{taken.replace('-', '_')}.py:12: '{taken}' is the name of a built-in", "another id"):
            podium.tasks()

    @pytest.mark.parametrize("wrong", ["../orchard", "forge-orchard-easy-1", "", "an orchard"])
    def test_an_id_that_cannot_name_a_folder(self, folder: Path, wrong: str) -> None:
        write_task(folder)
        (folder / "orchard.py").write_text(TASK_FILE.format(id=wrong), encoding="utf-8")
        with refused(f"orchard.py:12: '{wrong}' is not a valid task id"):
            podium.tasks()

    def test_a_leaderboard_that_contradicts_the_metric(self, folder: Path) -> None:
        path = write_task(folder)
        path.write_text(path.read_text().replace("is_better=False", "is_better=True"), encoding="utf-8")
        with refused("orchard.py:12: the leaderboard says lower_is_better=True", "roc_auc is better when higher"):
            podium.tasks()

    @pytest.mark.parametrize(
        ("lines", "problem"),
        [
            (["orchard"], "fruit.txt:1: the first line must be the title"),
            (["# Fruit", "orchard", "orchart"], "fruit.txt:3: there is no task 'orchart'"),
        ],
    )
    def test_a_suite_that_cannot_be_read(self, folder: Path, lines: list[str], problem: str) -> None:
        write_task(folder)
        write_suite(folder, "fruit", *lines)
        with refused(problem):
            registry.suites()

    @pytest.mark.parametrize("taken", ["quick", "orchard", "spaceship-titanic"])
    def test_a_suite_with_a_name_that_is_taken(self, folder: Path, taken: str) -> None:
        write_task(folder)
        write_suite(folder, taken, "# Fruit", "orchard")
        with refused(f"{taken}.txt: a task or suite '{taken}'"):
            registry.suites()
