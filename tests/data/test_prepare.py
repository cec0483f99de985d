"""Preparing happens whole or not at all, once, and never at the cost of what a user has."""

from __future__ import annotations

import os
import re
import resource
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import stages
from stages import STAGES, fabricate, make_task, raw_task, whole

import podium
from podium.data.home import locate
from podium.data.manifest import read_manifest
from podium.data.prepare import prepare_task
from podium.errors import NotPreparedError, PodiumError, RawDataError, UsageError
from podium.grading.prepared_task import find_prepared
from podium.safefs.atomic_files import sha256

PATIENCE_S = 600


def start(stage: str, data_dir: Path, edition: str = "v1", how: str = "real") -> subprocess.Popen[str]:
    """A process that prepares a stage."""
    program = [sys.executable, stages.__file__, stage, str(data_dir), edition, how]
    return subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_when(process: subprocess.Popen[str], reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not reached():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert process.returncode < 0


def listing(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Everything about the files of a folder that must stay as it is."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    facts = {path: path.stat() for path in files}
    return {str(path): (fact.st_mtime_ns, fact.st_mode, sha256(path)) for path, fact in facts.items()}


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.glob(".*") if path.name != ".lock"]


@pytest.fixture
def download(tmp_path: Path) -> Path:
    """An extracted download as a user has it."""
    raw = tmp_path / "download"
    raw.mkdir()
    fabricate(raw, None)
    (raw / "train.csv").write_text("id,y\n1,1\n2,2\n", encoding="utf-8")
    return raw


def test_everything_is_there_and_the_answers_are_closed_off(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        done = prepare_task(STAGES["whole"], data_dir=tmp_path)
    finally:
        os.umask(old)
    assert done.status == "made"
    assert stat.S_IMODE(done.place.private.stat().st_mode) == 0o700
    assert (done.place.public / "description.md").read_text(encoding="utf-8") == "Guess."
    assert sorted(path.name for path in done.place.root.iterdir()) == [".lock", "manifest.json", "private", "public"]


def test_the_manifest_tells_what_was_made(tmp_path: Path) -> None:
    done = prepare_task(STAGES["whole"], data_dir=tmp_path)
    manifest = read_manifest(done.place)
    assert manifest is not None
    assert (manifest.task, manifest.edition, manifest.source, manifest.miniature) == ("toy", "v1", "generated", False)
    assert {"podium", "numpy", "pandas", "scikit-learn"} <= manifest.versions.keys()
    files = [path for part in (done.place.public, done.place.private) for path in part.rglob("*") if path.is_file()]
    assert manifest.files == {
        str(path.relative_to(done.place.root)): {"bytes": path.stat().st_size, "sha256": sha256(path)} for path in files
    }


def test_the_second_time_nothing_is_touched(tmp_path: Path) -> None:
    first = prepare_task(STAGES["whole"], data_dir=tmp_path)
    before = listing(tmp_path)
    again = prepare_task(STAGES["whole"], data_dir=tmp_path)
    assert (again.status, again.place) == ("kept", first.place)
    assert listing(tmp_path) == before


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b""), lambda path: os.truncate(path, 3)])
@pytest.mark.parametrize("victim", ["public/sample_submission.csv", "private/test.csv", "private/deep/notes.txt"])
def test_what_is_missing_or_cut_short_is_made_again(
    tmp_path: Path, victim: str, damage: Callable[[Path], object]
) -> None:
    place = prepare_task(STAGES["whole"], data_dir=tmp_path).place
    before = listing(place.root / "private").keys()
    damage(place.root / victim)
    assert prepare_task(STAGES["whole"], data_dir=tmp_path).status == "made"
    assert listing(place.root / "private").keys() == before
    assert prepare_task(STAGES["whole"], data_dir=tmp_path).status == "kept"


def test_a_kill_in_the_middle_leaves_nothing_half_made(tmp_path: Path) -> None:
    kill_when(start("halfway", tmp_path), (tmp_path / "started").exists)
    place = locate("toy", data_dir=tmp_path)
    assert not place.public.exists()
    assert not place.private.exists()
    assert not place.manifest.exists()
    with pytest.raises(PodiumError, match="toy is not prepared"):
        podium.grade(STAGES["whole"], tmp_path / "submission.csv", data_dir=tmp_path)
    assert prepare_task(STAGES["whole"], data_dir=tmp_path).status == "made"
    assert hidden(place.root) == []


def test_a_kill_in_the_middle_spares_what_was_there(tmp_path: Path) -> None:
    place = prepare_task(STAGES["whole"], data_dir=tmp_path).place
    (place.private / "test.csv").unlink()
    before = listing(place.root)
    kill_when(start("halfway", tmp_path), (tmp_path / "started").exists)
    assert listing(place.root).items() >= before.items()
    assert prepare_task(STAGES["whole"], data_dir=tmp_path).status == "made"
    assert hidden(place.root) == []


def test_a_kill_before_the_manifest_counts_as_not_prepared(tmp_path: Path) -> None:
    place = locate("toy", data_dir=tmp_path)
    kill_when(start("huge", tmp_path), place.private.exists)
    assert not place.manifest.exists()
    assert prepare_task(STAGES["whole"], data_dir=tmp_path).status == "made"
    assert not (place.public / "zeros.bin").exists()


def test_two_at_once_make_it_once(tmp_path: Path) -> None:
    both = [start("slowly", tmp_path), start("slowly", tmp_path)]
    said = [process.communicate(timeout=PATIENCE_S) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sorted(out.strip() for out, _ in said) == ["kept", "made"]
    assert len((tmp_path / "calls").read_text(encoding="utf-8").splitlines()) == 1


def test_two_editions_at_once_share_a_miniature(tmp_path: Path) -> None:
    both = [start("raw", tmp_path, edition, "miniature") for edition in ("v1", "fixed")]
    said = [process.communicate(timeout=PATIENCE_S) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    for edition in ("v1", "fixed"):
        assert prepare_task(raw_task(), data_dir=tmp_path, miniature=True, edition=edition).status == "kept"  # type: ignore[arg-type]


def test_a_failure_spares_what_was_there(tmp_path: Path) -> None:
    def fail(raw: Path, public: Path, private: Path) -> None:
        whole(raw, public, private)
        raise RawDataError("The raw data lacks train.csv.")

    with pytest.raises(RawDataError):
        prepare_task(make_task(fail, generated=True), data_dir=tmp_path)
    assert hidden(tmp_path / "toy") == []
    assert not (tmp_path / "toy" / "public").exists()
    place = prepare_task(STAGES["whole"], data_dir=tmp_path).place
    (place.public / "description.md").unlink()
    before = listing(place.root)
    with pytest.raises(RawDataError):
        prepare_task(make_task(fail, generated=True), data_dir=tmp_path)
    assert listing(place.root) == before
    assert hidden(place.root) == []


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b"", "EmptyDataError"), (b"id,z\n1,2\n", "KeyError"), (b"id,y\n1,\xff\n", "UnicodeDecodeError")],
)
def test_damaged_raw_data_is_named_with_what_to_do(tmp_path: Path, download: Path, content: bytes, kind: str) -> None:
    def read(raw: Path, public: Path, private: Path) -> None:
        pd.read_csv(raw / "train.csv")["y"].sum()

    (download / "train.csv").write_bytes(content)
    expected = rf"The raw data of toy in {download} is damaged or .* \({kind}: .*\)\. Download it again, or pass"
    with pytest.raises(RawDataError, match=expected):
        prepare_task(make_task(read), data_dir=tmp_path, raw=download)


def test_a_mistake_of_a_task_that_makes_its_own_data_is_not_blamed_on_raw_data(tmp_path: Path) -> None:
    def fail(raw: Path, public: Path, private: Path) -> None:
        raise KeyError("y")

    with pytest.raises(KeyError):
        prepare_task(make_task(fail, generated=True), data_dir=tmp_path)


def test_a_full_disk_leaves_nothing_half_made(tmp_path: Path) -> None:
    def fill(raw: Path, public: Path, private: Path) -> None:
        whole(raw, public, private)
        (public / "train.csv").write_bytes(bytes(1 << 20))

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            prepare_task(make_task(fill, generated=True), data_dir=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in (tmp_path / "toy").iterdir()] == [".lock"]


def test_raw_data_is_never_changed_nor_shared(tmp_path: Path, download: Path) -> None:
    before = listing(download)
    done = prepare_task(raw_task(), raw=download, data_dir=tmp_path)
    assert done.status == "made"
    for name in ("train.csv", "images/1.png"):
        assert (done.place.public / "raw" / name).read_bytes() == (download / name).read_bytes()
        assert not (done.place.public / "raw" / name).samefile(download / name)
        assert (download / name).stat().st_nlink == 1
    assert listing(download) == before
    assert not done.place.raw.exists()
    manifest = read_manifest(done.place)
    assert manifest is not None
    assert manifest.source == str(download)
    shutil.rmtree(done.place.root)
    assert listing(download) == before


def test_public_folder_has_a_neutral_name(tmp_path: Path) -> None:
    place = prepare_task(STAGES["whole"], data_dir=tmp_path).place
    first = place.public.resolve()
    assert first.parent == tmp_path / ".public"
    assert re.fullmatch("[0-9a-f]{16}", first.name)
    (place.private / "test.csv").unlink()
    prepare_task(STAGES["whole"], data_dir=tmp_path)
    assert place.public.resolve() != first
    assert [path for path in place.shown.iterdir() if path.is_dir()] == [place.public.resolve()]


def test_public_data_goes_when_its_task_was_deleted(tmp_path: Path) -> None:
    shutil.rmtree(prepare_task(STAGES["whole"], data_dir=tmp_path).place.root)
    assert len(list((tmp_path / ".public").iterdir())) == 2, "the folder and the note of its owner"
    place = prepare_task(raw_task(), data_dir=tmp_path, miniature=True).place
    assert [path for path in place.shown.iterdir() if path.is_dir()] == [place.public.resolve()]


def test_a_data_folder_can_be_moved(tmp_path: Path) -> None:
    prepare_task(STAGES["whole"], data_dir=tmp_path / "old")
    (tmp_path / "old").rename(tmp_path / "new")
    assert prepare_task(STAGES["whole"], data_dir=tmp_path / "new").status == "kept"


def test_a_public_folder_of_an_earlier_version_is_replaced(tmp_path: Path) -> None:
    place = prepare_task(STAGES["whole"], data_dir=tmp_path).place
    target = place.public.resolve()
    place.public.unlink()
    target.rename(place.public)
    (place.public / "deep" / "notes.txt").unlink()
    assert prepare_task(STAGES["whole"], data_dir=tmp_path).status == "made"
    assert place.public.is_symlink()


def test_the_same_raw_folder_is_kept_and_another_one_is_not(
    tmp_path: Path, download: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_task(raw_task(), raw=download, data_dir=tmp_path)
    monkeypatch.chdir(tmp_path)
    assert prepare_task(raw_task(), raw=Path("download"), data_dir=tmp_path).status == "kept"
    assert prepare_task(raw_task(), data_dir=tmp_path).status == "kept"
    shutil.copytree(download, tmp_path / "other")
    assert prepare_task(raw_task(), raw=tmp_path / "other", data_dir=tmp_path).status == "made"


def test_a_raw_folder_that_is_not_there_is_named(tmp_path: Path, download: Path) -> None:
    for raw in (tmp_path / "nowhere", download / "train.csv"):
        with pytest.raises(RawDataError, match=rf"There is no folder {raw}. Pass the extracted download of toy"):
            prepare_task(raw_task(), raw=raw, data_dir=tmp_path)
    assert not (tmp_path / "toy" / "public").exists()


def test_a_miniature_is_marked_and_its_raw_data_kept(tmp_path: Path) -> None:
    done = prepare_task(raw_task(), data_dir=tmp_path, miniature=True)
    manifest = read_manifest(done.place)
    assert manifest is not None
    assert done.miniature
    assert manifest.miniature
    assert done.place.raw == tmp_path / "toy@miniature" / "raw"
    assert (done.place.raw / "train.csv").is_file()
    assert (done.place.public / "raw" / "train.csv").read_bytes() == (done.place.raw / "train.csv").read_bytes()
    path = tmp_path / "submission.csv"
    path.write_text("id,y\n1,1\n", encoding="utf-8")
    assert podium.grade(raw_task(), path, data_dir=tmp_path).miniature
    assert prepare_task(raw_task(), data_dir=tmp_path, miniature=True).status == "kept"


def test_real_data_and_a_miniature_lie_side_by_side(tmp_path: Path, download: Path) -> None:
    real = prepare_task(raw_task(), raw=download, data_dir=tmp_path)
    before = listing(real.place.root)
    fabricated = prepare_task(raw_task(), data_dir=tmp_path, miniature=True)
    assert (real.miniature, fabricated.miniature) == (False, True)
    assert listing(real.place.root) == before
    assert prepare_task(raw_task(), raw=download, data_dir=tmp_path).status == "kept"
    assert prepare_task(raw_task(), data_dir=tmp_path, miniature=True).status == "kept"


def test_real_data_is_found_first_and_only_the_kind_that_is_named_otherwise(tmp_path: Path, download: Path) -> None:
    task = raw_task()
    prepare_task(task, data_dir=tmp_path, miniature=True)
    assert find_prepared(task, data_dir=tmp_path).miniature
    with pytest.raises(NotPreparedError, match=r"Only the miniature of toy is prepared.*Add --miniature.*podium prep"):
        find_prepared(task, data_dir=tmp_path, miniature=False)
    prepare_task(task, raw=download, data_dir=tmp_path)
    found = [find_prepared(task, data_dir=tmp_path, miniature=kind).miniature for kind in (None, False, True)]
    assert found == [False, False, True]


def test_a_miniature_that_an_earlier_version_put_in_the_place_of_real_data_is_not_used(tmp_path: Path) -> None:
    task = raw_task()
    (tmp_path / "toy").mkdir()
    made = prepare_task(task, data_dir=tmp_path, miniature=True).place
    place = locate("toy", data_dir=tmp_path)
    shutil.copytree(made.root, place.root, dirs_exist_ok=True)
    (place.root / "raw.miniature").touch()
    shutil.rmtree(made.root)
    with pytest.raises(NotPreparedError, match="toy is not prepared"):
        find_prepared(task, data_dir=tmp_path)
    with pytest.raises(RawDataError, match=f"earlier version of Podium fabricated. Delete {place.root}, then run"):
        prepare_task(task, data_dir=tmp_path)


def test_wrong_requests_say_what_is_wrong(tmp_path: Path, download: Path) -> None:
    with pytest.raises(UsageError, match="Raw data and a miniature exclude each other"):
        prepare_task(raw_task(), raw=download, data_dir=tmp_path, miniature=True)
    with pytest.raises(UsageError, match="toy has no miniature"):
        prepare_task(make_task(whole), data_dir=tmp_path, miniature=True)
    with pytest.raises(UsageError, match=r"toy has no edition 'fixed'\. It has: v1"):
        prepare_task(STAGES["whole"], data_dir=tmp_path, edition="fixed")
    unsaid = make_task(whole, generated=True)
    unsaid.editions["v1"].prepare = None
    with pytest.raises(UsageError, match="toy has no preparation"):
        prepare_task(unsaid, data_dir=tmp_path)
    assert not (tmp_path / "toy" / "public").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null", '{"task": "toy"}', "\x00"])
def test_damaged_manifest_is_explained(tmp_path: Path, text: str) -> None:
    place = prepare_task(STAGES["whole"], data_dir=tmp_path).place
    place.manifest.write_text(text, encoding="utf-8")
    message = rf"{place.manifest} is damaged \(.*\). Delete it and prepare the task again\."
    with pytest.raises(PodiumError, match=message):
        prepare_task(STAGES["whole"], data_dir=tmp_path)
    place.manifest.unlink()
    assert prepare_task(STAGES["whole"], data_dir=tmp_path).status == "made"


def test_editions_lie_side_by_side(tmp_path: Path, download: Path) -> None:
    first = prepare_task(raw_task(), raw=download, data_dir=tmp_path)
    fixed = prepare_task(raw_task(), raw=download, data_dir=tmp_path, edition="fixed")
    assert first.place.root == tmp_path / "toy"
    assert fixed.place.root == tmp_path / "toy@fixed"
    assert first.place.raw == fixed.place.raw
