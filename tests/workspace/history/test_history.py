"""Snapshots come back as they were taken, cost what changed, and are plain git."""

from __future__ import annotations

import mmap
import os
import subprocess
from pathlib import Path

import pytest
from folders import describe, make, wait_until_not_racy

from podium.errors import RecordError
from podium.workspace.history.git import git_objects
from podium.workspace.history.history import History, StoredFile
from podium.workspace.history.scan_workspace import Bounds

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


def git(repository: Path, *arguments: str) -> str:
    command = ["git", f"--git-dir={repository}", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def objects_in(repository: Path) -> int:
    return len(git(repository, "cat-file", "--batch-all-objects", "--batch-check", "--unordered").splitlines())


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
        with History(tmp_path / f"{name}.git", tmp_path / name) as history:
            ids.add(history.snapshot("first", history.snapshot("zero", None, time_s=1), time_s=2))
    assert len(ids) == 1


def test_a_snapshot_of_nothing_new_stores_only_a_commit(history: History) -> None:
    make(history.workspace, NESTED)
    first = history.snapshot("first", None, time_s=0)
    before = objects_in(history.repository)
    second = history.snapshot("second", first, time_s=1)
    assert objects_in(history.repository) == before + 1
    assert history.head() == second


def test_a_step_stores_only_what_it_changed(history: History) -> None:
    make(history.workspace, {b"folder": {f"{n}.txt".encode(): b"%d" % n for n in range(300)}, b"other": {b"x": b"x"}})
    first = history.snapshot("first", None, time_s=0)
    before = objects_in(history.repository)
    (history.workspace / "folder" / "7.txt").write_text("changed", encoding="utf-8")
    history.snapshot("second", first, time_s=1)
    assert objects_in(history.repository) == before + 5, "a blob, a folder, the workspace, the root and the commit"


def test_a_file_rewritten_immediately_with_the_same_size_is_detected(history: History) -> None:
    file = history.workspace / "racy"
    file.write_bytes(b"0000")
    commit = None
    with file.open("r+b", buffering=0) as opened:
        for number in range(60):
            os.pwrite(opened.fileno(), b"%04d" % number, 0)
            commit = history.snapshot("", commit, time_s=number)
            expected = git_objects.object_id(git_objects.BLOB, b"%04d" % number).hex()
            assert expected in git(history.repository, "ls-tree", f"{commit}:workspace")


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


def test_a_file_that_becomes_a_folder_is_sorted_as_git_sorts_it(history: History) -> None:
    make(history.workspace, {b"a": b"", b"a-b": b"", b"a.b": b"", b"a0": b""})
    wait_until_not_racy()
    first = history.snapshot("", None, time_s=0)
    (history.workspace / "a").unlink()
    make(history.workspace / "a", {b"x": b""})
    second = history.snapshot("", first, time_s=1)
    git(history.repository, "fsck", "--strict")
    assert [file.path for file in history.files(second)] == ["a-b", "a.b", "a/x", "a0"]


def test_plain_git_reads_the_history(history: History) -> None:
    make(history.workspace, NESTED)
    first = history.snapshot("first step", None, time_s=0)
    (history.workspace / "train.py").write_text("print(2)\n", encoding="utf-8")
    second = history.snapshot("second step", first, time_s=1)
    assert git(history.repository, "log", "--format=%H %s", "main").splitlines() == [
        f"{second} second step",
        f"{first} first step",
    ]
    assert git(history.repository, "cat-file", "-p", "main:workspace/train.py") == "print(2)\n"
    assert "+print(2)" in git(history.repository, "diff", "main~1", "main")
    assert "workspace/vendor/.git/config" in git(history.repository, "ls-tree", "-r", "--name-only", "main")
    git(history.repository, "repack", "-ad")
    git(history.repository, "fsck", "--full")


def test_odd_messages_do_not_affect_the_header(history: History) -> None:
    commit = history.snapshot("\0 \udcff\n\nparent: none\n", None, time_s=0)
    assert history.check(commit) == []
    assert git(history.repository, "log", "--format=%T %P", commit).split() == [
        git(history.repository, "rev-parse", f"{commit}^{{tree}}").strip()
    ]


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
    before = objects_in(history.repository)
    history.close()
    with History(history.repository, history.workspace) as again:
        assert again.head() == first
        again.snapshot("second", first, time_s=1)
    assert objects_in(history.repository) == before + 1


def test_a_folder_can_be_stored_with_everything_in_it(tmp_path: Path, workspace: Path) -> None:
    make(workspace, {b"output": {b"a": {b"weights": b"w" * 2000}}, b"output.bin": b"o" * 2000})
    with History(tmp_path / "h.git", workspace, always=["output/"], bounds=Bounds(large_bytes=1000)) as history:
        kinds = [(file.path, file.kind) for file in history.files(history.snapshot("", None, time_s=0))]
    assert kinds == [("output.bin", "large"), ("output/a/weights", "file")]


def test_large_files_are_recorded_by_hash_unless_always_stored(tmp_path: Path, workspace: Path) -> None:
    make(workspace, {b"model.bin": b"m" * 2000, b"out": {b"submission.csv": b"s" * 2000, b"other.csv": b"o" * 5000}})
    bounds = Bounds(large_bytes=1000, always_bytes=4000)
    always = ("out/submission.csv", "out/other.csv")
    with History(tmp_path / "h.git", workspace, always=always, bounds=bounds) as history:
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
    with History(tmp_path / "h.git", workspace, always=["submission.csv"]) as history:
        first = history.snapshot("", None, time_s=0)
        before = objects_in(history.repository)
        history.snapshot("", first, time_s=1, thorough=True)
        assert objects_in(history.repository) == before + 1
        assert history.check(first) == []
        assert history.extract(first, "submission.csv", tmp_path / "out.csv", 10**9).size_bytes == len(content)
    assert (tmp_path / "out.csv").read_bytes() == content


def test_a_hash_that_would_take_too_long_is_skipped(tmp_path: Path, workspace: Path) -> None:
    make(workspace, {b"a": b"a" * 2000, b"b": b"b" * 3000})
    with History(tmp_path / "h.git", workspace, bounds=Bounds(large_bytes=1000, hashed_bytes=2500)) as history:
        commit = history.snapshot("", None, time_s=0)
        assert {note.path: note.sha256 is None for note in history.record(commit).large} == {"a": False, "b": True}
        assert history.restore(commit).unsure == ("b",)


@pytest.mark.parametrize("bounds", [Bounds(step_bytes=2500), Bounds(history_bytes=2500)])
def test_files_beyond_a_limit_are_left_out_and_kept_by_restore(tmp_path: Path, workspace: Path, bounds: Bounds) -> None:
    make(workspace, {name: os.urandom(1000) for name in (b"a", b"b", b"c", b"d")})
    with History(tmp_path / "h.git", workspace, bounds=bounds) as history:
        commit = history.snapshot("", None, time_s=0)
        left_out = {note.path: note.kind for note in history.record(commit).left_out}
        assert 0 < len(left_out) < 4 and set(left_out.values()) == {"full"}
        before = describe(workspace)
        assert history.restore(commit).left_alone == tuple(sorted(left_out))
        assert describe(workspace) == before


def test_files_beyond_the_limit_of_a_step_are_stored_in_the_next(tmp_path: Path, workspace: Path) -> None:
    make(workspace, {name: os.urandom(1000) for name in (b"a", b"b", b"c")})
    with History(tmp_path / "h.git", workspace, bounds=Bounds(step_bytes=2500)) as history:
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
    assert sorted(path.suffix for path in (history.repository / "objects" / "pack").iterdir()) == [".idx", ".pack"]
    assert [path.name for path in (history.repository / "objects").iterdir()] == ["pack"]
    history.snapshot("", commit, time_s=1)


def test_a_step_in_a_crowded_folder_costs_little_after_compaction(history: History) -> None:
    make(history.workspace, {b"%04d.txt" % n: os.urandom(2000) for n in range(1000)})
    commit = history.snapshot("", None, time_s=0)
    for step in range(20):
        (history.workspace / f"{step:04}.txt").write_bytes(os.urandom(2000))
        commit = history.snapshot("", commit, time_s=step)
    history.compact()
    size = sum(path.stat().st_size for path in history.repository.rglob("*") if path.is_file())
    assert size < 1.1 * 1020 * 2000
    assert history.check(commit) == []


def test_check_names_missing_and_altered_objects(history: History) -> None:
    make(history.workspace, {b"a": b"aaaa", b"folder": {b"b": b"bbbb"}})
    commit = history.snapshot("", None, time_s=0)
    for data in (b"aaaa", b"bbbb"):
        name = git_objects.object_id(git_objects.BLOB, data).hex()
        path = history.repository / "objects" / name[:2] / name[2:]
        if data == b"aaaa":
            path.unlink()
        else:
            other = git_objects.Packable(b"", git_objects.BLOB, 4, b"cccc")
            path.write_bytes(git_objects.encode_loose(other))
    problems = history.check(commit)
    assert len(problems) == 2
    assert any("folder/b" in problem for problem in problems)
    with pytest.raises(RecordError, match="missing or damaged"):
        history.get(git_objects.object_id(git_objects.BLOB, b"bbbb").hex())
    (history.workspace / "a").unlink()
    with pytest.raises(RecordError, match="missing or damaged"):
        history.restore(commit)


def test_only_one_process_writes_at_a_time(history: History) -> None:
    history.snapshot("", None, time_s=0)
    with (
        History(history.repository, history.workspace, patience_s=0) as other,
        pytest.raises(RecordError, match="Another process is writing"),
    ):
        other.put(b"")
    history.close()
    history.put(b"")


def test_reading_changes_nothing(history: History, tmp_path: Path) -> None:
    make(history.workspace, NESTED)
    commit = history.snapshot("", None, time_s=0)
    before = {path: path.stat().st_mtime_ns for path in history.repository.rglob("*")}
    reader = History(history.repository, tmp_path / "nowhere")
    reader.files(commit), reader.diff(None, commit), reader.check(commit), reader.check_out(commit, tmp_path / "copy")
    assert {path: path.stat().st_mtime_ns for path in history.repository.rglob("*")} == before


@pytest.mark.parametrize("commit", ["", "HEAD", "--output=x", "0" * 40, "0" * 64])
def test_objects_that_are_not_commits_are_rejected(history: History, commit: str) -> None:
    history.put(b"")
    with pytest.raises(RecordError):
        history.files(commit)


def test_a_missing_parent_is_rejected(history: History) -> None:
    with pytest.raises(RecordError, match="holds no snapshot"):
        history.snapshot("", "0" * 64, time_s=0)
    assert history.head() is None


def test_an_object_emptied_by_a_power_failure_is_stored_again(history: History) -> None:
    make(history.workspace, {b"a": b"aaaa"})
    first = history.snapshot("", None, time_s=0)
    name = git_objects.object_id(git_objects.BLOB, b"aaaa").hex()
    (history.repository / "objects" / name[:2] / name[2:]).write_bytes(b"")
    assert history.check(first) != []
    history.close()
    with History(history.repository, history.workspace) as again:
        assert again.check(again.snapshot("", first, time_s=1)) == []


@pytest.mark.parametrize("name", [b"..", b".", b"", b"a/b", b"x" * 256])
def test_a_tree_that_leads_out_of_its_folder_is_rejected(history: History, tmp_path: Path, name: bytes) -> None:
    store = history._store
    store.begin_writing()
    blob = store.add(git_objects.BLOB, b"evil")
    files = store.add(git_objects.TREE, git_objects.tree_line(git_objects.FILE, name, blob))
    record = store.add(git_objects.BLOB, b'{"large": [], "left_out": [], "unlisted": 0}')
    entries = [
        git_objects.TreeEntry(git_objects.FOLDER, b"workspace", files),
        git_objects.TreeEntry(git_objects.FILE, b"record.json", record),
    ]
    root = store.add(git_objects.TREE, git_objects.encode_tree(entries))
    commit = store.add(git_objects.COMMIT, git_objects.encode_commit(root, [], message="", time_s=0)).hex()
    store.flush()
    with pytest.raises(RecordError, match="impossible name"):
        history.check_out(commit, tmp_path / "in" / "copy")
    assert list((tmp_path / "in").iterdir()) == [tmp_path / "in" / "copy"]
    assert history.check(commit) != []
