"""Any folder survives being snapshotted and restored, after any changes."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from folders import Content, describe, make, read_afresh, wait_until_not_racy
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.workspace.history.history import History

names = st.one_of(
    st.sampled_from([b"a", b"b", b"a.b", b"a-b", b"a0", b".git", b".gitignore", b"\xff"]),
    st.binary(min_size=1, max_size=20).filter(lambda name: name not in (b".", b"..") and not {0, 47} & set(name)),
)
targets = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1, max_size=20)
leaves = st.one_of(st.binary(max_size=200), targets)
folders = st.recursive(
    st.dictionaries(names, leaves, max_size=4),
    lambda inner: st.dictionaries(names, st.one_of(leaves, inner), max_size=4),
    max_leaves=12,
)


@settings(max_examples=60)
@given(content=folders)
def test_any_folder_can_be_restored(content: Content) -> None:
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        make(base / "workspace", content)
        with History(base / "h.git", base / "workspace") as history:
            commit = history.snapshot("", None, time_s=0)
            restored = history.check_out(commit, base / "copy")
            assert describe(base / "copy") == describe(base / "workspace")
            assert restored.lost == restored.left_alone == ()
            assert history.restore(commit).written == ()
            assert history.check(commit) == []


@settings(max_examples=30)
@given(states=st.lists(folders, min_size=2, max_size=4), data=st.data())
def test_any_state_can_be_restored_from_any_other(states: list[Content], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        (base / "workspace").mkdir()
        with History(base / "h.git", base / "workspace") as history:
            empty = history.snapshot("", None, time_s=0)
            taken = []
            for number, content in enumerate(states):
                history.restore(empty)
                make(base / "workspace", content)
                commit = history.snapshot("", empty, time_s=number)
                taken.append((commit, describe(base / "workspace")))
            if data.draw(st.booleans()):
                history.compact()
            for commit, expected in data.draw(st.permutations(taken)):
                history.restore(commit)
                assert describe(base / "workspace") == expected


edits = st.tuples(
    st.sampled_from(["write", "append", "touch", "remove", "mode", "move", "link", "point"]),
    st.integers(0, 7),
    st.integers(0, 7),
    st.binary(max_size=20),
)
steps = st.lists(st.tuples(st.booleans(), st.lists(edits, max_size=4)), min_size=1, max_size=6)


@settings(max_examples=30)
@given(steps=steps)
def test_the_cache_equals_the_folder(
    steps: list[tuple[bool, list[tuple[str, int, int, bytes]]]],
) -> None:
    with tempfile.TemporaryDirectory() as name:
        workspace = Path(name, "workspace")
        paths = [workspace / "xy"[number % 2] / str(number) for number in range(8)]
        for folder in ("x", "y"):
            (workspace / folder).mkdir(parents=True)
        with History(Path(name, "h.git"), workspace) as history:
            for pause, step in steps:
                for kind, number, other, data in step:
                    with contextlib.suppress(OSError):  # such as no file, or links in a circle
                        edit(kind, paths[number], paths[other], data)
                if pause:
                    wait_until_not_racy()
                assert history.snapshot("", None, time_s=0) == read_afresh(workspace)


def edit(kind: str, path: Path, other: Path, data: bytes) -> None:
    if kind == "write":
        path.write_bytes(data)
    elif kind == "append":
        with path.open("ab") as file:
            file.write(data)
    elif kind == "touch":
        path.touch()
    elif kind == "remove":
        path.unlink()
    elif kind == "mode":
        path.chmod(path.stat().st_mode ^ 0o100)
    elif kind == "move":
        path.replace(other)
    elif kind == "link":
        os.link(path, other)
    else:
        path.symlink_to(other)
