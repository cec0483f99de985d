"""Snapshots come back as they were taken and cost what changed."""

from __future__ import annotations

import hashlib
import mmap
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from folders import describe, make, wait_until_not_racy

from podium.errors import RecordError
from podium.workspace.history.history import History, StoredFile
from podium.workspace.history.scan_workspace import Bounds
from podium.workspace.history.snapshot_manifest import MAX_CHAIN

NESTED = {
    b"train.py": b"print(1)\n",
    b"empty": {b"deeper": {}},
    b"link": "/etc/passwd",
    b"dangling": "../../nowhere",
    b".gitignore": b"*\n",
    b".gitattributes": b"* filter=evil -diff\n",
    b"vendor": {b".git": {b"config": b"[core]\n\tfsmonitor = touch evil\n", b"HEAD": b"ref: refs/heads/x\n"}},
    b"sub": {b".git": b"gitdir: /elsewhere\n", b"data.csv": b"a,b\n1,2\n"},
}


def blobs_in(history: History) -> int:
    with history._store.reader() as blobs:
        return sum(len(locations) for _, locations in blobs.segments())


def test_nested_repositories_links_and_empty_folders_are_restored(history: History, tmp_path: Path) -> None:
    make(history.workspace, NESTED)
    commit = history.snapshot("first", None, time_s=0)
    restored = history.check_out(commit, tmp_path / "copy")
    assert describe(tmp_path / "copy") == describe(history.workspace)
    assert restored.lost == ()


def test_executable_files_are_restored_as_executable(history: History, tmp_path: Path) -> None:
    make(history.workspace, {b"run.sh": b"#!/bin/sh\n", b"data": b""})
    (history.workspace / "run.sh").chmod(0o755)
    history.check_out(history.snapshot("", None, time_s=0), tmp_path / "copy")
    assert {path: kind for path, (kind, _) in describe(tmp_path / "copy").items()} == {
        b"data": "file",
        b"run.sh": "executable",
    }


def test_the_same_content_message_parent_and_time_give_the_same_id(tmp_path: Path) -> None:
    ids = set()
    for name in ("one", "two"):
        make(tmp_path / name, NESTED)
        with History(tmp_path / f"{name}-history", tmp_path / name) as history:
            ids.add(history.snapshot("first", history.snapshot("zero", None, time_s=1), time_s=2))
    assert len(ids) == 1


def test_an_unchanged_workspace_stores_only_a_manifest(history: History) -> None:
    make(history.workspace, NESTED)
    first = history.snapshot("first", None, time_s=0)
    before = blobs_in(history)
    second = history.snapshot("second", first, time_s=1)
    assert blobs_in(history) == before + 1
    assert history.head() == second


def test_a_step_stores_only_what_it_changed(history: History) -> None:
    make(history.workspace, {b"folder": {f"{n}.txt".encode(): b"%d" % n for n in range(300)}, b"other": {b"x": b"x"}})
    first = history.snapshot("first", None, time_s=0)
    before = blobs_in(history)
    (history.workspace / "folder" / "7.txt").write_text("changed", encoding="utf-8")
    history.snapshot("second", first, time_s=1)
    assert blobs_in(history) == before + 2, "a blob and a manifest"


def test_a_file_rewritten_immediately_with_the_same_size_is_detected(history: History) -> None:
    file = history.workspace / "racy"
    file.write_bytes(b"0000")
    commit = None
    with file.open("r+b", buffering=0) as opened:
        for number in range(60):
            os.pwrite(opened.fileno(), b"%04d" % number, 0)
            commit = history.snapshot("", commit, time_s=number)
            assert history.contents(commit) == {"racy": hashlib.sha256(b"%04d" % number).hexdigest()}


def test_a_thorough_snapshot_detects_writes_that_keep_the_times(history: History) -> None:
    file = history.workspace / "mapped"
    file.write_bytes(b"a" * mmap.PAGESIZE)
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as mapped:
        mapped[0:1] = b"b"
        wait_until_not_racy()
        commit = history.snapshot("", None, time_s=0)
        mapped[0:1] = b"c"
        last = history.snapshot("", commit, time_s=1, thorough=True)
    assert "-b" in history.diff(commit, last)


def test_a_file_may_become_a_folder(history: History) -> None:
    make(history.workspace, {b"a": b"", b"a-b": b"", b"a.b": b"", b"a0": b""})
    wait_until_not_racy()
    first = history.snapshot("", None, time_s=0)
    (history.workspace / "a").unlink()
    make(history.workspace / "a", {b"x": b""})
    second = history.snapshot("", first, time_s=1)
    assert [file.path for file in history.files(second)] == ["a-b", "a.b", "a/x", "a0"]


def test_odd_messages_do_no_harm(history: History) -> None:
    commit = history.snapshot("\0 \udcff\n\nparent: none\n", None, time_s=0)
    assert history.check(commit) == []


def test_restore_changes_only_what_differs(history: History) -> None:
    make(history.workspace, NESTED)
    commit = history.snapshot("", None, time_s=0)
    kept = (history.workspace / "sub" / "data.csv").stat()
    before = describe(history.workspace)
    (history.workspace / "train.py").write_bytes(b"other")
    (history.workspace / "extra").mkdir()
    (history.workspace / "extra" / "file").write_bytes(b"")
    (history.workspace / "link").unlink()
    (history.workspace / "empty" / "deeper").rmdir()
    restored = history.restore(commit)
    assert describe(history.workspace) == before
    assert (restored.written, restored.removed) == (("empty/deeper", "link", "train.py"), ("extra",))
    after = (history.workspace / "sub" / "data.csv").stat()
    assert (after.st_ino, after.st_ctime_ns) == (kept.st_ino, kept.st_ctime_ns)


def test_restore_undoes_a_change_of_kind_and_of_mode(history: History) -> None:
    make(history.workspace, {b"file": b"1", b"folder": {b"x": b""}, b"link": "file", b"run": b""})
    commit = history.snapshot("", None, time_s=0)
    before = describe(history.workspace)
    (history.workspace / "run").chmod(0o755)
    (history.workspace / "file").unlink()
    make(history.workspace / "file", {b"y": {b"z": b""}})
    (history.workspace / "folder" / "x").unlink()
    (history.workspace / "folder").rmdir()
    (history.workspace / "folder").symlink_to("/etc")
    (history.workspace / "link").unlink()
    os.mkfifo(history.workspace / "link")
    history.restore(commit)
    assert describe(history.workspace) == before


def test_restore_keeps_the_content_of_hard_links(history: History, tmp_path: Path) -> None:
    make(history.workspace, {b"file": b"old"})
    commit = history.snapshot("", None, time_s=0)
    (history.workspace / "file").write_bytes(b"new")
    os.link(history.workspace / "file", tmp_path / "outside")
    history.restore(commit)
    assert (history.workspace / "file").read_bytes() == b"old"
    assert (tmp_path / "outside").read_bytes() == b"new"


def test_a_reopened_history_continues(history: History, tmp_path: Path) -> None:
    make(history.workspace, NESTED)
    first = history.snapshot("first", None, time_s=0)
    before = blobs_in(history)
    history.close()
    with History(history.folder, history.workspace) as again:
        assert again.head() == first
        again.snapshot("second", first, time_s=1)
    assert blobs_in(history) == before + 1


def test_a_folder_can_be_stored_with_everything_in_it(tmp_path: Path, workspace: Path) -> None:
    make(workspace, {b"output": {b"a": {b"weights": b"w" * 2000}}, b"output.bin": b"o" * 2000})
    with History(tmp_path / "history", workspace, always=["output/"], bounds=Bounds(large_bytes=1000)) as history:
        kinds = [(file.path, file.kind) for file in history.files(history.snapshot("", None, time_s=0))]
    assert kinds == [("output.bin", "large"), ("output/a/weights", "file")]


def test_large_files_are_recorded_by_hash_unless_always_stored(tmp_path: Path, workspace: Path) -> None:
    make(workspace, {b"model.bin": b"m" * 2000, b"out": {b"submission.csv": b"s" * 2000, b"other.csv": b"o" * 5000}})
    bounds = Bounds(large_bytes=1000, always_bytes=4000)
    always = ("out/submission.csv", "out/other.csv")
    with History(tmp_path / "history", workspace, always=always, bounds=bounds) as history:
        commit = history.snapshot("", None, time_s=0)
        assert history.files(commit) == [
            StoredFile("model.bin", "large", 2000),
            StoredFile("out/other.csv", "large", 5000),
            StoredFile("out/submission.csv", "file", 2000),
        ]
        assert history.restore(commit).lost == ()
        (workspace / "model.bin").write_bytes(b"n" * 2000)
        (workspace / "out" / "other.csv").unlink()
        restored = history.restore(commit)
        assert (restored.lost, restored.written) == (("model.bin", "out/other.csv"), ())
        assert history.check_out(commit, tmp_path / "copy").lost == ("model.bin", "out/other.csv")
        assert history.extract(commit, "model.bin", tmp_path / "x", 10_000).kind == "large"


def test_a_stored_file_beyond_memory_is_streamed(tmp_path: Path, workspace: Path) -> None:
    content = b"0123456789abcdef" * (17 * 65536)
    (workspace / "submission.csv").write_bytes(content)
    with History(tmp_path / "history", workspace, always=["submission.csv"]) as history:
        first = history.snapshot("", None, time_s=0)
        before = blobs_in(history)
        history.snapshot("", first, time_s=1, thorough=True)
        assert blobs_in(history) == before + 1
        assert history.check(first) == []
        assert history.extract(first, "submission.csv", tmp_path / "out.csv", 10**9).size_bytes == len(content)
    assert (tmp_path / "out.csv").read_bytes() == content


def test_a_hash_that_would_take_too_long_is_skipped(tmp_path: Path, workspace: Path) -> None:
    make(workspace, {b"a": b"a" * 2000, b"b": b"b" * 3000})
    with History(tmp_path / "history", workspace, bounds=Bounds(large_bytes=1000, hashed_bytes=2500)) as history:
        commit = history.snapshot("", None, time_s=0)
        assert {note.path: note.sha256 is None for note in history.record(commit).large} == {"a": False, "b": True}
        assert history.restore(commit).unsure == ("b",)


@pytest.mark.parametrize("bounds", [Bounds(step_bytes=2500), Bounds(history_bytes=2500)])
def test_files_beyond_a_limit_are_left_out_and_kept_by_restore(tmp_path: Path, workspace: Path, bounds: Bounds) -> None:
    make(workspace, {name: os.urandom(1000) for name in (b"a", b"b", b"c", b"d")})
    with History(tmp_path / "history", workspace, bounds=bounds) as history:
        commit = history.snapshot("", None, time_s=0)
        left_out = {note.path: note.kind for note in history.record(commit).left_out}
        assert 0 < len(left_out) < 4 and set(left_out.values()) == {"full"}
        before = describe(workspace)
        assert history.restore(commit).left_alone == tuple(sorted(left_out))
        assert describe(workspace) == before


def test_files_beyond_the_limit_of_a_step_are_stored_in_the_next(tmp_path: Path, workspace: Path) -> None:
    make(workspace, {name: os.urandom(1000) for name in (b"a", b"b", b"c")})
    with History(tmp_path / "history", workspace, bounds=Bounds(step_bytes=2500)) as history:
        first = history.snapshot("", None, time_s=0)
        second = history.snapshot("", first, time_s=1)
        assert (len(history.record(first).left_out), history.record(second).left_out) == (1, ())


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("file", "file"),
        ("folder/deep", "file"),
        ("big", "too large"),
        ("link", "link"),
        ("out/file", "link"),
        ("folder", "folder"),
        ("pipe", "left out"),
        ("nothing", "absent"),
        ("folder/nothing", "absent"),
        ("file/under", "absent"),
        ("../file", "absent"),
        ("/etc/passwd", "absent"),
        ("", "absent"),
    ],
)
def test_extract_reports_what_it_found(history: History, tmp_path: Path, path: str, kind: str) -> None:
    make(
        history.workspace,
        {b"file": b"1", b"big": b"1" * 99, b"link": "/etc/passwd", b"out": "/", b"folder": {b"deep": b"2"}},
    )
    os.mkfifo(history.workspace / "pipe")
    commit = history.snapshot("", None, time_s=0)
    extracted = history.extract(commit, path, tmp_path / "target", 10)
    assert extracted.kind == kind
    assert (tmp_path / "target").exists() == extracted.is_file == (kind == "file")
    assert (extracted.reason is None) == extracted.is_file


def test_diff_shows_changes_and_ignores_attributes(history: History) -> None:
    make(history.workspace, {**NESTED, b"binary": bytes(range(256)), b"workspace": {b".gitattributes": b"* -diff\n"}})
    first = history.snapshot("", None, time_s=0)
    (history.workspace / "train.py").write_bytes(b"print(2)\n")
    (history.workspace / "workspace" / "new.py").write_bytes(b"new\n")
    (history.workspace / "binary").write_bytes(bytes(range(255)))
    os.mkfifo(history.workspace / "pipe")
    second = history.snapshot("", first, time_s=1)
    text = history.diff(first, second)
    assert "-print(1)\n+print(2)\n" in text
    assert "+new" in text
    assert "Binary files a/binary and b/binary differ" in text
    assert "'pipe': absent -> it is a named pipe" in text
    assert "+print(1)" in history.diff(None, first)
    assert "[the rest of the diff is not shown]" in history.diff(first, second, limit_bytes=100)


def test_blobs_survive_compaction(history: History) -> None:
    data = os.urandom(1000)
    identity = history.put(data)
    assert history.put(data) == identity
    make(history.workspace, {b"a": b"a"})
    commit = history.snapshot("", None, time_s=0)
    history.compact()
    assert history.get(identity) == data
    assert history.check(commit) == []
    assert len(list((history.folder / "segments").iterdir())) == 1
    history.snapshot("", commit, time_s=1)


def test_a_step_in_a_crowded_folder_costs_little_after_compaction(history: History) -> None:
    make(history.workspace, {b"%04d.txt" % n: os.urandom(2000) for n in range(1000)})
    commit = history.snapshot("", None, time_s=0)
    for step in range(20):
        (history.workspace / f"{step:04}.txt").write_bytes(os.urandom(2000))
        commit = history.snapshot("", commit, time_s=step)
    history.compact()
    size = sum(path.stat().st_size for path in history.folder.rglob("*") if path.is_file())
    assert size < 1.1 * 1020 * 2000
    assert history.check(commit) == []


def damage(history: History, data: bytes) -> None:
    """Change the last byte of a stored blob."""
    identity = hashlib.sha256(data).hexdigest()
    with history._store.reader() as blobs:
        at = blobs._locate(identity)
    path = history.folder / "segments" / at.segment
    content = bytearray(path.read_bytes())
    content[at.offset + at.length - 1] ^= 1
    path.write_bytes(content)


def test_check_names_damaged_files(history: History) -> None:
    make(history.workspace, {b"a": b"aaaa", b"folder": {b"b": b"bbbb"}})
    commit = history.snapshot("", None, time_s=0)
    for data in (b"aaaa", b"bbbb"):
        damage(history, data)
    problems = history.check(commit)
    assert len(problems) == 2
    assert any("folder/b" in problem for problem in problems)
    with pytest.raises(RecordError, match="missing or damaged"):
        history.get(hashlib.sha256(b"bbbb").hexdigest())
    (history.workspace / "a").unlink()
    with pytest.raises(RecordError, match="missing or damaged"):
        history.restore(commit)


def test_a_missing_segment_is_a_problem(history: History) -> None:
    make(history.workspace, {b"a": b"aaaa"})
    first = history.snapshot("", None, time_s=0)
    second = history.snapshot("", first, time_s=1)
    next((history.folder / "segments").glob("00000000-*")).unlink()
    assert history.check(second) != []


def test_one_process_writes_at_a_time(history: History) -> None:
    history.snapshot("", None, time_s=0)
    with (
        History(history.folder, history.workspace, patience_s=0) as other,
        pytest.raises(RecordError, match="Another process is writing"),
    ):
        other.put(b"")
    history.close()
    history.put(b"")


def test_reading_changes_nothing(history: History, tmp_path: Path) -> None:
    make(history.workspace, NESTED)
    commit = history.snapshot("", None, time_s=0)
    before = {path: path.stat().st_mtime_ns for path in history.folder.rglob("*")}
    reader = History(history.folder, tmp_path / "nowhere")
    reader.files(commit), reader.diff(None, commit), reader.check(commit), reader.check_out(commit, tmp_path / "copy")
    assert {path: path.stat().st_mtime_ns for path in history.folder.rglob("*")} == before


@pytest.mark.parametrize("commit", ["", "HEAD", "--output=x", "0" * 40, "0" * 64])
def test_objects_that_are_not_commits_are_rejected(history: History, commit: str) -> None:
    history.put(b"")
    with pytest.raises(RecordError):
        history.files(commit)


def test_a_missing_parent_is_rejected(history: History) -> None:
    with pytest.raises(RecordError, match="holds no snapshot"):
        history.snapshot("", "0" * 64, time_s=0)
    assert history.head() is None


@pytest.mark.parametrize("kept", [0, 10, -1])
def test_a_segment_cut_short_by_a_power_cut_is_stored_again(history: History, kept: int) -> None:
    make(history.workspace, {b"a": b"aaaa"})
    first = history.snapshot("", None, time_s=0)
    path = next((history.folder / "segments").glob("00000000-*"))
    path.write_bytes(path.read_bytes()[:kept])
    assert history.check(first) != []
    history.close()
    with History(history.folder, history.workspace) as again:
        assert again.check(again.snapshot("", None, time_s=1)) == []


def test_a_long_chain_is_read_back(history: History) -> None:
    make(history.workspace, {b"a": b""})
    commits: list[str | None] = [None]
    for number in range(MAX_CHAIN + 40):
        (history.workspace / "a").write_bytes(b"%d" % number)
        commits.append(history.snapshot("", commits[-1], time_s=number))
    contents = [history.contents(str(commit))["a"] for commit in commits[1:]]
    assert contents == [hashlib.sha256(b"%d" % number).hexdigest() for number in range(MAX_CHAIN + 40)]
    assert history.check(str(commits[-1])) == []


def test_a_copy_ends_with_its_snapshot_and_holds_what_was_put(history: History, tmp_path: Path) -> None:
    make(history.workspace, NESTED)
    state = history.put(b"state")
    first = history.snapshot("", None, time_s=0)
    (history.workspace / "train.py").write_bytes(b"2")
    second = history.snapshot("", first, time_s=1)
    history.snapshot("", second, time_s=2)
    history.copy_to(tmp_path / "copy", second)
    copy = History(tmp_path / "copy", history.workspace)
    assert (copy.head(), copy.check(second), copy.contents(first)) == (second, [], history.contents(first))
    assert copy.get(state) == b"state"


def test_git_reads_an_export(history: History, tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    names = {b"a b": b"1", b'"q"': b"2", b"\xff": b"3", b"line\nfeed": b"4", b"run": b"5", b"empty": {}}
    make(history.workspace, {**names, b"sub": {b".git": b"gitdir: /elsewhere\n", b"x": b""}, b"link": "/etc/passwd"})
    (history.workspace / "run").chmod(0o755)
    first = history.snapshot("first", None, time_s=1)
    (history.workspace / "a b").write_bytes(b"changed")
    (history.workspace / "sub" / "x").unlink()
    second = history.snapshot("second", first, time_s=2)
    assert history.export_git(second, tmp_path / "repository") == 1
    command = ["git", "-C", str(tmp_path / "repository"), "log", "--format=%s %ct"]
    log = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert log.splitlines() == ["second 2", "first 1"]
    shutil.rmtree(tmp_path / "repository" / ".git")
    expected = describe(history.workspace)
    for lost in (b"empty", b"sub", b"sub/.git"):  # git keeps no empty folders, and refuses paths through .git
        del expected[lost]
    assert describe(tmp_path / "repository") == expected
