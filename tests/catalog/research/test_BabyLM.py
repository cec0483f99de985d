"""BabyLM: a hidden text that stays hidden, weights and nothing else, and models that may not look ahead."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path

import pytest
from table_trials import run_starter
from trials import hub_of, needs_transformers, play, prepare, site

import podium
from podium.catalog.research import BabyLM
from podium.data.fetch.hugging_face import fetch_from_hub
from podium.data.home import DataFolder
from podium.errors import DownloadError, RawDataError
from podium.grading.grade import Grade
from podium.runs.steps import Steps

assert BabyLM.task.starter is not None
STARTER = BabyLM.task.starter


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def place(data_dir: Path) -> DataFolder:
    return prepare("BabyLM", data_dir)


def grade(folder: Path, data_dir: Path) -> Grade:
    return podium.grade("BabyLM", folder, data_dir=data_dir)


SEARCH = """
import os
import sys

needle = open("/home/agent/needle.txt", "rb").read()
system = ("/proc", "/sys", "/dev", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", sys.prefix, sys.base_prefix)
with open("/home/logs/found.txt", "w") as found:
    for folder, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if not os.path.join(folder, name).startswith(system)]
        for name in files:
            path = os.path.join(folder, name)
            try:
                if os.path.isfile(path) and needle in open(path, "rb").read():
                    found.write(path + "\\n")
            except OSError:
                pass
"""


@pytest.mark.parametrize("part", ["babylm_10M", "babylm_test"])
def test_a_program_inside_finds_no_text_but_that_for_training(
    place: DataFolder, data_dir: Path, tmp_path: Path, part: str
) -> None:
    hidden = next((place.raw / part).iterdir())
    files = tmp_path / "searcher"
    files.mkdir()
    (files / "needle.txt").write_text(hidden.read_text()[1000:1200])
    (files / "search.py").write_text(SEARCH)
    row = play("BabyLM", tmp_path / "run", data_dir, agent="command", command="python search.py", files=files)
    assert row.record.status == "finished", row.record.error
    found = (row.folder.workspace / "logs" / "found.txt").read_text().split()
    shown = [f"/home/data/{part}/{hidden.name}"] if part == "babylm_10M" else []
    assert sorted(found) == ["/home/agent/needle.txt", *shown]


def test_code_and_pickles_are_refused(place: DataFolder, data_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "output").mkdir()
    for name in ("modeling.py", "pytorch_model.bin", "model.pt"):
        (tmp_path / "output" / name).write_bytes(b"code")
        assert f"output/ contains {name}; only safetensors weights" in str(grade(tmp_path, data_dir).error)
        (tmp_path / "output" / name).unlink()
    assert "folder output/ is missing or empty" in str(grade(tmp_path, data_dir).error)


@pytest.fixture
def offered(tmp_path: Path) -> Path:
    """A folder with an archive as the challenge published it, what nobody needs included."""
    folder = tmp_path / "site"
    folder.mkdir()
    with zipfile.ZipFile(folder / "babylm_data.zip", "w") as archive:
        for part in (*BabyLM.PARTS, "babylm_100M"):
            archive.writestr(f"babylm_data/{part}/stories.train", f"Text of {part}.\n")
            archive.writestr(f"__MACOSX/babylm_data/{part}/._stories.train", b"\0")
    return folder


TOKENIZER = {
    f"/{BabyLM.TOKENIZER}/resolve/{BabyLM.TOKENIZER_REVISION}/{name}": name.encode() for name in BabyLM.TOKENIZER_FILES
}


def use(monkeypatch: pytest.MonkeyPatch, archive: str, hub: str) -> None:
    monkeypatch.setattr("podium.data.fetch.http_download.ATTEMPTS", 1)
    monkeypatch.setattr(BabyLM, "ARCHIVE", f"{archive}/babylm_data.zip")
    monkeypatch.setattr(BabyLM, "fetch_from_hub", partial(fetch_from_hub, endpoint=hub))


def test_text_and_tokenizer_are_fetched_once(offered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    with site(offered) as address, hub_of(TOKENIZER) as hub:
        use(monkeypatch, address, hub)
        BabyLM.fetch(raw)
        (offered / "babylm_data.zip").unlink()
        BabyLM.fetch(raw)  # the archive is gone from the site, but here
    names = [f"{part}/stories.train" for part in BabyLM.PARTS] + [f"gpt2/{name}" for name in BabyLM.TOKENIZER_FILES]
    found = sorted(path.relative_to(raw).as_posix() for path in raw.rglob("*") if path.is_file())
    assert found == sorted([*names, "babylm_data.zip", "settings.json"])
    for folder in ("public", "private"):
        (tmp_path / folder).mkdir()
    BabyLM.prepare(raw, tmp_path / "public", tmp_path / "private")
    assert json.loads((tmp_path / "public" / "settings.json").read_text()) == {"block": 1024}
    assert not list((tmp_path / "public").rglob("*test*"))


def test_another_archive_is_refused(offered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (offered / "babylm_data.zip").write_text("<html>moved</html>")
    with site(offered) as address:
        use(monkeypatch, address, address)
        with pytest.raises(DownloadError, match=r"babylm_data\.zip could not be downloaded .*not a zip archive"):
            BabyLM.fetch(tmp_path / "raw")
    with zipfile.ZipFile(offered / "babylm_data.zip", "w") as archive:
        archive.writestr("readme.txt", "empty")
    with site(offered) as address:
        use(monkeypatch, address, address)
        with pytest.raises(RawDataError, match="has no folder babylm_10M"):
            BabyLM.fetch(tmp_path / "raw")


def test_offline_message_is_helpful(offered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, "http://localhost:1", "http://localhost:1")
    with pytest.raises(DownloadError, match="run the command again to resume"):
        BabyLM.fetch(tmp_path / "raw")
    with site(offered) as address, hub_of({}) as hub:
        use(monkeypatch, address, hub)
        with pytest.raises(DownloadError, match=r"config\.json could not be downloaded from Hugging Face"):
            BabyLM.fetch(tmp_path / "raw")


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    with pytest.raises(RawDataError, match="lacks babylm_10M"):
        BabyLM.prepare(tmp_path, tmp_path, tmp_path)


@pytest.fixture(scope="module")
def starter(place: DataFolder, data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """The model that the untouched starter leaves in the sandbox, and its score."""
    row = play("BabyLM", tmp_path_factory.mktemp("run"), data_dir)
    assert "validation perplexity" in Steps(row.folder).observation(1).text
    assert row.record.valid, row.record.error
    return row.folder.workspace / "output", float(row.record.score or 0)


@pytest.mark.research
@needs_transformers
def test_the_starter_learns_and_longer_training_scores_better(
    starter: tuple[Path, float], place: DataFolder, data_dir: Path, tmp_path: Path
) -> None:
    assert 20 < starter[1] < 200  # 257 tokens: a model that knows nothing has 257
    ran = run_starter(place, STARTER, tmp_path, {"LEARNING_RATE, SEED = 1, 16": "LEARNING_RATE, SEED = 2, 16"})
    assert ran.returncode == 0, ran.stderr
    longer = grade(tmp_path, data_dir)
    assert longer.valid, longer.error
    assert float(longer.score or 0) < 0.95 * starter[1]


@pytest.mark.research
@needs_transformers
def test_another_tokenizer_changes_nothing(starter: tuple[Path, float], data_dir: Path, tmp_path: Path) -> None:
    shutil.copytree(starter[0], tmp_path / "output")
    tokenizer = BabyLM._byte_tokenizer()
    tokenizer["model"]["vocab"] = dict.fromkeys(tokenizer["model"]["vocab"], 32)  # all text would be blanks
    (tmp_path / "output" / "tokenizer.json").write_text(json.dumps(tokenizer))
    (tmp_path / "output" / "tokenizer_config.json").write_text(json.dumps(BabyLM._CONFIG))
    assert grade(tmp_path, data_dir).score == pytest.approx(starter[1], rel=1e-3)


MAKE = """
from transformers import {kind}Config, {model}
{model}({kind}Config({settings})).save_pretrained("output")
"""
BERT = "vocab_size=257, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16"
GPT2 = "vocab_size=100, n_embd=16, n_layer=1, n_head=2, n_positions=64, bos_token_id=1, eos_token_id=1"


@pytest.mark.research
@needs_transformers
@pytest.mark.parametrize(
    ("kind", "model", "settings", "message"),
    [
        ("Bert", "BertLMHeadModel", BERT, "the model looks at tokens that come later"),
        ("GPT2", "GPT2LMHeadModel", GPT2, "the model knows 100 tokens"),
    ],
    ids=["looks ahead", "too few tokens"],
)
def test_a_model_of_another_kind_is_refused(
    place: DataFolder, data_dir: Path, tmp_path: Path, kind: str, model: str, settings: str, message: str
) -> None:
    code = MAKE.format(kind=kind, model=model, settings=settings)
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True)
    assert message in str(grade(tmp_path, data_dir).error)


@pytest.mark.research
@needs_transformers
def test_a_folder_without_weights_is_explained(starter: tuple[Path, float], data_dir: Path, tmp_path: Path) -> None:
    shutil.copytree(starter[0], tmp_path / "output")
    (tmp_path / "output" / "model.safetensors").write_bytes(b"\x80\x04pickle")
    assert "The model in output/ cannot be used" in str(grade(tmp_path, data_dir).error)
