"""A repository that a stranger made neither runs programs, nor leads anywhere else, nor is written to."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from folders import describe, make

from podium.errors import RecordError
from podium.workspace.history import restore
from podium.workspace.history.git import git_objects
from podium.workspace.history.git.git_store import Store
from podium.workspace.history.history import History

COMMANDS = ("diff.external", "core.fsmonitor", "core.hooksPath", "diff.x.textconv", "diff.x.command", "core.editor")


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """Marker file that exists once a program of a hostile repository has run."""
    return tmp_path / "has-run"


@pytest.fixture
def program(tmp_path: Path, marker: Path) -> Path:
    path = tmp_path / "program.sh"
    path.write_text(f"#!/bin/sh\ntouch {marker}\n", encoding="ascii")
    path.chmod(0o755)
    return path


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """File that a hostile repository tries to have read, written or removed."""
    make(tmp_path / "outside", {b"file": b"mine", b"tmp_file": b"mine", b"empty": b"", b"pack": {b"x.pack": b"mine"}})
    return tmp_path / "outside"


def two_snapshots(history: History) -> tuple[str, str]:
    make(history.workspace, {b"train.py": b"print(1)\n", b".gitattributes": b"* diff=x filter=x\n"})
    first = history.snapshot("", None, time_s=0)
    (history.workspace / "train.py").write_bytes(b"print(2)\n")
    return first, history.snapshot("", first, time_s=1)


def poison(repository: Path, program: Path) -> None:
    """Everything that makes git run programs, where git looks for it."""
    with (repository / "config").open("a", encoding="ascii") as file:
        for name in COMMANDS:
            section, _, key = name.rpartition(".")
            head, _, part = section.partition(".")
            file.write(f"[{head}{f' {chr(34)}{part}{chr(34)}' if part else ''}]\n\t{key} = {program}\n")
        file.write("[diff]\n\tsubmodule = diff\n[extensions]\n\tpartialClone = origin\n")
        file.write(f'[remote "origin"]\n\turl = ext::{program}\n\tpromisor = true\n[protocol]\n\tallow = always\n')
    hooks = repository / "hooks"
    hooks.mkdir()
    for name in ("pre-auto-gc", "post-index-change", "reference-transaction", "fsmonitor-watchman"):
        shutil.copy(program, hooks / name)
    (repository / "info").mkdir()
    (repository / "info" / "attributes").write_text("* diff=x\n", encoding="ascii")


def read_everything(repository: Path, commits: tuple[str, str], folder: Path) -> None:
    reading = History(repository, folder / "nowhere")
    for commit in commits:
        reading.files(commit), reading.check(commit), reading.record(commit), reading.chain(commit)
        reading.identity(commit, "train.py")
        reading.extract(commit, "train.py", folder / "extracted", 1000)
    reading.check_out(commits[1], folder / "copy")
    assert "+print(2)" in reading.diff(*commits)


@pytest.mark.parametrize("head", ["kept", "dangling", "missing"])
def test_settings_hooks_and_attributes_are_ignored(
    history: History, tmp_path: Path, program: Path, marker: Path, head: str
) -> None:
    commits = two_snapshots(history)
    history.close()
    poison(history.repository, program)
    if head != "kept":
        (history.repository / "HEAD").unlink()
    if head == "dangling":
        (history.repository / "HEAD").symlink_to("nowhere")
    read_everything(history.repository, commits, tmp_path)
    assert not marker.exists()
    with pytest.raises(RecordError, match="not a history that Podium wrote"):
        History(history.repository, history.workspace).compact()
    assert not marker.exists()


def commit_of(store: Store, tree: bytes, parents: list[str]) -> str:
    record = store.add(git_objects.BLOB, b'{"large": [], "left_out": [], "unlisted": 0}')
    entries = [
        git_objects.TreeEntry(git_objects.FOLDER, b"workspace", tree),
        git_objects.TreeEntry(git_objects.FILE, b"record.json", record),
    ]
    root = store.add(git_objects.TREE, git_objects.encode_tree(entries))
    return store.add(git_objects.COMMIT, git_objects.encode_commit(root, parents, message="", time_s=0)).hex()


def test_submodules_are_rejected_without_starting_a_program(
    history: History, tmp_path: Path, program: Path, marker: Path
) -> None:
    """The attack: git shows a changed submodule by starting another git, which obeys the settings it finds."""
    store = history._store
    store.begin_writing()
    commits: list[str] = []
    for _ in range(2):
        inner = commit_of(store, git_objects.EMPTY_TREE, commits[-1:])
        tree = store.add(git_objects.TREE, git_objects.tree_line(b"160000", b"module", bytes.fromhex(inner)))
        commits.append(commit_of(store, tree, commits[-1:]))
    store.add(git_objects.TREE, b"")
    store.flush()
    history.close()
    poison(history.repository, program)
    reading = History(history.repository, tmp_path)
    for look in (lambda: reading.diff(*commits), lambda: reading.files(commits[1])):
        with pytest.raises(RecordError, match="malformed"):
            look()
    assert reading.check(commits[1]) != []
    assert not marker.exists()


def test_trees_of_empty_trees_can_be_compared(history: History) -> None:
    store = history._store
    store.begin_writing()
    tree = store.add(git_objects.TREE, b"")
    for _ in range(100):
        tree = store.add(
            git_objects.TREE, b"".join(git_objects.tree_line(git_objects.FOLDER, name, tree) for name in (b"a", b"b"))
        )
    commit = commit_of(store, tree, [])
    store.flush()
    assert "not shown" in history.diff(None, commit)


def test_restoring_one_large_file_under_many_names_is_bounded(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(history.workspace, {b"%d" % number: bytes(100_000) for number in range(20)})
    commit = history.snapshot("", None, time_s=0)
    monkeypatch.setattr(restore, "MAX_RESTORED_BYTES", 1_000_000)
    with pytest.raises(RecordError, match="the limit of 1,000,000 bytes"):
        history.check_out(commit, tmp_path / "copy")
    assert len(list((tmp_path / "copy").iterdir())) == 10
    monkeypatch.setattr(restore, "_SPARE_BYTES", 1 << 60)
    monkeypatch.setattr(restore, "_SPARE_SHARE", 1)  # all of the disk
    with pytest.raises(RecordError, match="no room"):
        history.check_out(commit, tmp_path / "other")
    assert list((tmp_path / "other").iterdir()) == []


def test_alternates_add_no_objects(history: History, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.git"
    with History(elsewhere, history.workspace) as other:
        secret = other.put(b"the answers")
    history.put(b"")
    history.close()
    (history.repository / "objects" / "info").mkdir()
    alternates = history.repository / "objects" / "info" / "alternates"
    alternates.write_text(f"{elsewhere / 'objects'}\n", encoding="utf-8")
    with pytest.raises(RecordError, match="missing"):
        History(history.repository, tmp_path).get(secret)
    with pytest.raises(RecordError, match="not a history that Podium wrote"):
        History(history.repository, tmp_path).put(b"x")


def link(name: str) -> Callable[[Path, Path], None]:
    """Puts a link in the place of a part of the repository."""

    def put(repository: Path, outside: Path) -> None:
        path = repository / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(outside / ("file" if "." in path.name or path.name in ("main", "HEAD", "config") else ""))

    return put


def pipe(name: str) -> Callable[[Path, Path], None]:
    def put(repository: Path, outside: Path) -> None:
        (repository / name).unlink(missing_ok=True)
        os.mkfifo(repository / name)

    return put


PARTS = ("objects", "objects/pack", "objects/00", "refs", "refs/heads", "refs/heads/main", "HEAD", "config")


@pytest.mark.parametrize(
    "attack",
    [
        *(link(name) for name in (*PARTS, "podium.lock", "tmp_1_1.x", "objects/pack/tmp_pack.x", "hooks")),
        *(pipe(name) for name in ("HEAD", "config", "podium.lock", "refs/heads/main", "objects/pack/x.pack")),
    ],
)
def test_repositories_with_links_or_pipes_are_not_written_to(
    history: History, outside: Path, tmp_path: Path, attack: Callable[[Path, Path], None]
) -> None:
    history.snapshot("", None, time_s=0)
    history.close()
    before = describe(outside)
    attack(history.repository, outside)
    for write in (History.compact, lambda opened: opened.put(b"x"), lambda opened: opened.snapshot("", None, time_s=1)):
        with History(history.repository, history.workspace) as opened, pytest.raises((RecordError, OSError)):
            write(opened)
    assert describe(outside) == before


def test_a_repository_that_is_itself_a_link_is_not_opened(history: History, tmp_path: Path) -> None:
    commit = history.snapshot("", None, time_s=0)
    history.close()
    (tmp_path / "link.git").symlink_to(history.repository)
    reading = History(tmp_path / "link.git", history.workspace)
    with pytest.raises(RecordError, match="missing"):
        reading.files(commit)
    with pytest.raises(RecordError, match="cannot be opened"):
        reading.put(b"x")


def test_a_tree_that_repeats_itself_a_million_times_is_an_error(history: History, tmp_path: Path) -> None:
    store = history._store
    store.begin_writing()
    blob = store.add(git_objects.BLOB, b"")
    tree = store.add(git_objects.TREE, git_objects.tree_line(git_objects.FILE, b"file", blob))
    for _ in range(100):
        entries = [git_objects.TreeEntry(git_objects.FOLDER, name, tree) for name in (b"a", b"b")]
        tree = store.add(git_objects.TREE, git_objects.encode_tree(entries))
    commit = commit_of(store, tree, [])
    store.flush()
    assert history.check(commit) == [], "all of it is there, once"
    for look in (history.files, lambda commit: history.check_out(commit, tmp_path / "copy")):
        with pytest.raises(RecordError, match="more files"):
            look(commit)
    assert "[the rest of the diff is not shown]" in history.diff(None, commit)


def test_records_of_the_wrong_types_are_rejected(history: History) -> None:
    store = history._store
    store.begin_writing()
    files = store.add(git_objects.TREE, b"")
    for record in (b'{"large": [{"path": 1}]}', b'{"large": 1}', b"[" * 100_000, b'{"left_out": [["a"]]}'):
        blob = store.add(git_objects.BLOB, record)
        entries = [
            git_objects.TreeEntry(git_objects.FOLDER, b"workspace", files),
            git_objects.TreeEntry(git_objects.FILE, b"record.json", blob),
        ]
        root = store.add(git_objects.TREE, git_objects.encode_tree(entries))
        commit = store.add(git_objects.COMMIT, git_objects.encode_commit(root, [], message="", time_s=0)).hex()
        store.flush()
        with pytest.raises(RecordError, match="record of a snapshot is malformed"):
            history.files(commit)


def test_git_runs_only_in_directories_we_create(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[list[str], dict[str, str]]] = []
    real = subprocess.Popen

    def noted(command: list[str], **options: object) -> subprocess.Popen[bytes]:
        started.append((command, options["env"]))  # type: ignore[arg-type]
        return real(command, **options)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr(subprocess, "Popen", noted)
    commits = two_snapshots(history)
    history.diff(*commits)
    history.compact()
    history.check(commits[1]), history.files(commits[1]), history.chain(commits[1])
    assert len(started) >= 2
    for command, environment in started:
        assert str(history.repository) not in " ".join(command)
        assert environment["GIT_CONFIG_GLOBAL"] == os.devnull and environment["GIT_CONFIG_NOSYSTEM"] == "1"
        assert not {name for name in environment if "ALTERNATE" in name}


def test_compacted_histories_can_be_read_by_others(history: History) -> None:
    two_snapshots(history)
    history.compact()
    for file in history.repository.rglob("*.pack"):
        assert stat.S_IMODE(file.stat().st_mode) & 0o444 == 0o444
