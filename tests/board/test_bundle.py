"""Bundles: the same experiment gives the same file, and nothing a stranger puts into one does harm."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from boards import PUBLISHER, Registered

from podium.board.bundle import Bundle, Disclosures, is_publishable, read_bundle, write_bundle
from podium.board.keys import Signed, canonical, make_key, parse_canonical
from podium.errors import BoardError, RecordError
from podium.runs.experiment import read_experiment


@pytest.fixture(scope="session")
def bundle(registered: Registered, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    target = tmp_path_factory.mktemp("bundle") / "bundle.zip"
    said = Disclosures(by="a test", answers={"retrieval": "none"})
    return write_bundle(
        registered.experiment, target, PUBLISHER, disclosures=said, registration=registered.registration.id
    )


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(path: Path, target: Path, content: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return target


def test_a_bundle_is_the_same_every_time_and_gives_back_the_experiment(
    bundle: Bundle, registered: Registered, tmp_path: Path
) -> None:
    again = write_bundle(
        registered.experiment,
        tmp_path / "again.zip",
        PUBLISHER,
        disclosures=bundle.manifest.disclosures,
        registration=registered.registration.id,
    )
    assert again.path.read_bytes() == bundle.path.read_bytes()
    found = read_bundle(bundle.path)
    assert (found.digest, found.publisher) == (bundle.digest, PUBLISHER.public)
    found.unpack(tmp_path / "out")
    for name in found.manifest.files:
        assert (tmp_path / "out" / name).read_bytes() == (registered.experiment.folder / name).read_bytes()
    assert not any("config" in name or name.endswith(("HEAD", ".lock", "worker.log")) for name in found.manifest.files)


def test_a_light_bundle_has_no_snapshots(registered: Registered, tmp_path: Path) -> None:
    light = write_bundle(registered.experiment, tmp_path / "l.zip", PUBLISHER, disclosures=Disclosures(), light=True)
    names = {name.rpartition("/")[2] for name in light.manifest.files}
    assert names == {"experiment.json", "run.json", "steps.jsonl", "submission.csv"}


def test_an_unpacked_file_is_the_one_that_was_signed(bundle: Bundle, tmp_path: Path) -> None:
    content = members(bundle.path)
    name = next(name for name in content if name.endswith("run.json"))
    content[name] = content[name].replace(b"finished", b"Finished")
    changed = read_bundle(rewritten(bundle.path, tmp_path / "changed.zip", content))
    with pytest.raises(BoardError, match="from the signed file"):
        changed.unpack(tmp_path / "out")


def resigned(content: dict[str, bytes], name: str) -> dict[str, bytes]:
    """The same with a file of another name, signed again by the publisher."""
    signed = Signed.from_dict(parse_canonical(content["bundle.json"]))
    facts = {"bytes": 1, "sha256": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}
    statement = {**signed.statement, "files": {**signed.statement["files"], name: facts}}
    return {**content, "bundle.json": canonical(PUBLISHER.sign(statement).to_dict()), name: b"x"}


HOSTILE_NAMES = [
    "../outside",
    "/etc/passwd",
    "spaceship-titanic/0/../../../outside",
    "spaceship-titanic/0/submission/../../../../x",
    "spaceship-titanic/0/submission//x",
    "spaceship-titanic/0/submission/a\\b",
    "spaceship-titanic/0/submission/\x1b[31m",
    "spaceship-titanic/0/submission/" + "x" * 300,
    "spaceship-titanic/0/history/config",
    "spaceship-titanic/0/history/segments/00000000",
    "spaceship-titanic/0/run.json/more",
    "spaceship-titanic/0/submission.csv/x",
    "registration.json",
]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_name_that_no_experiment_has_is_refused(bundle: Bundle, tmp_path: Path, name: str) -> None:
    assert not is_publishable(name)
    hostile = rewritten(bundle.path, tmp_path / "hostile.zip", resigned(members(bundle.path), name))
    with pytest.raises(BoardError):
        read_bundle(hostile)


def test_a_path_that_no_disk_can_hold_is_refused(bundle: Bundle, tmp_path: Path) -> None:
    name = "spaceship-titanic/0/submission/" + f"{'x' * 200}/" * 25 + "x"
    hostile = rewritten(bundle.path, tmp_path / "hostile.zip", resigned(members(bundle.path), name))
    with pytest.raises(BoardError, match="cannot be unpacked"):
        read_bundle(hostile).unpack(tmp_path / "out")


@pytest.mark.parametrize("name", ["MANIFEST_BYTES", "MAX_FILES"])
def test_an_oversized_table_of_contents_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Nothing is made of its entries before it is refused."""
    rewritten(tmp_path, tmp_path / "hostile.zip", {f"{number}.json": b"" for number in range(500)})
    monkeypatch.setattr(f"podium.board.bundle.{name}", 400)
    monkeypatch.delattr("zipfile.ZipInfo")
    with pytest.raises(BoardError, match=r"table of contents is too large|more than 400 files"):
        read_bundle(tmp_path / "hostile.zip")


CONTENTS: dict[str, Callable[[dict[str, bytes]], dict[str, bytes]]] = {
    "no manifest": lambda content: {name: data for name, data in content.items() if name != "bundle.json"},
    "a file more": lambda content: {**content, "spaceship-titanic/9/run.json": b"{}"},
    "a file less": lambda content: {name: data for name, data in content.items() if not name.endswith("/1/run.json")},
    "a longer file": lambda content: {**content, "experiment.json": content["experiment.json"] + b" "},
    "another signer": lambda content: {
        **content,
        "bundle.json": content["bundle.json"].replace(PUBLISHER.public.encode(), make_key().public.encode()),
    },
    "nonsense": lambda content: {"bundle.json": b"[" * 100_000},
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_an_archive_that_differs_from_its_manifest_is_refused(bundle: Bundle, tmp_path: Path, kind: str) -> None:
    hostile = rewritten(bundle.path, tmp_path / "hostile.zip", CONTENTS[kind](members(bundle.path)))
    with pytest.raises(BoardError):
        read_bundle(hostile)


def test_a_damaged_archive_is_refused_with_one_error(bundle: Bundle, tmp_path: Path) -> None:
    data = bundle.path.read_bytes()
    (tmp_path / "out").mkdir()
    for place in range(0, len(data), len(data) // 60):
        path = tmp_path / "damaged.zip"
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        try:
            read_bundle(path).unpack(tmp_path / "out" / str(place))
        except BoardError:
            continue
    for length in (0, 10, len(data) // 2):
        path.write_bytes(data[:length])
        with pytest.raises(BoardError):
            read_bundle(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, 93, 99])
@pytest.mark.parametrize("member", [0, -1])
def test_unbounded_compression_methods_are_refused(bundle: Bundle, tmp_path: Path, method: int, member: int) -> None:
    data = bytearray(bundle.path.read_bytes())
    with zipfile.ZipFile(bundle.path) as archive:
        place = archive.start_dir
        for info in archive.infolist()[: len(archive.infolist()) - 1 if member else 0]:
            place += 46 + len(info.filename.encode()) + len(info.extra) + len(info.comment)
    data[place + 10 : place + 12] = method.to_bytes(2, "little")
    (tmp_path / "hostile.zip").write_bytes(data)
    with pytest.raises(BoardError, match=f"compression method {method}"):
        read_bundle(tmp_path / "hostile.zip")


def test_a_link_in_the_experiment_is_not_followed(registered: Registered, tmp_path: Path) -> None:
    shutil.copytree(registered.experiment.folder, tmp_path / "copy")
    (tmp_path / "secret").write_text("secret")
    target = tmp_path / "copy" / "spaceship-titanic" / "0" / "submission.csv"
    target.unlink()
    target.symlink_to(tmp_path / "secret")
    with pytest.raises(RecordError, match="link"):
        write_bundle(read_experiment(tmp_path / "copy"), tmp_path / "x.zip", PUBLISHER, disclosures=Disclosures())
    assert not list(tmp_path.glob("*x.zip*"))
