"""llama-inference: real speed is recognised, other tokens are not, and the model comes from the hub."""

from __future__ import annotations

import io
import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from trials import hub_of, needs_transformers, play, prepare

import podium
from podium.catalog.research import BabyLM, llama_inference
from podium.catalog.research._speedup import measured_speed_up, packed
from podium.data.fetch.hugging_face import fetch_from_hub
from podium.data.home import DataFolder
from podium.errors import DownloadError, InvalidSubmission, RawDataError
from podium.grading.grade import Grade
from podium.runs.steps import Steps

assert llama_inference.task.starter is not None
STARTER = (llama_inference.task.starter.folder / "inference.py").read_text(encoding="utf-8")
GENERATE = STARTER[STARTER.index("    made = model.generate(") : STARTER.index("def read_prompts")]
FORWARD = "    return model(prompts, use_cache=False, logits_to_keep=1).logits[:, -1].argmax(-1)\n\n\n"
FASTER = Path(__file__).with_name("quick_llama.py").read_text(encoding="utf-8")
WRONG = STARTER.replace(GENERATE, FORWARD.replace("model(prompts,", "model(prompts[:, 1:],"))
LAZY = """
import sys
import numpy as np
np.save(sys.argv[2], np.load(sys.argv[1])["prompts"][:, -1])
"""


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def place(data_dir: Path) -> DataFolder:
    return prepare("llama-inference", data_dir)


def grade(program: str, tmp_path: Path, data_dir: Path) -> Grade:
    (tmp_path / "inference.py").write_text(program, encoding="utf-8")
    return podium.grade("llama-inference", tmp_path, data_dir=data_dir)


def tokens(array: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def test_what_disturbs_a_measurement_does_not_count() -> None:
    found = measured_speed_up([15.0, 9.0, 9.0], [7.0, 7.0, 30.0], [5.0, 8.0, 6.0])
    assert (found.score, found.interval) == (pytest.approx(2.0), None)
    quick = measured_speed_up([15.0], [5.0], [5.0])
    assert quick.score == pytest.approx(20.0)  # what is shorter than noise counts as noise


def test_six_rounds_give_an_interval() -> None:
    found = measured_speed_up([10, 11, 12, 9, 10, 10], [5.0, 5, 5, 5, 5, 4], [0.0])
    assert (found.score, found.interval) == (pytest.approx(2.1), (pytest.approx(1.8), pytest.approx(2.5)))


def test_a_few_tokens_may_tip_over() -> None:
    wanted = np.arange(100)
    llama_inference._check(tokens(wanted), tokens(np.where(wanted < 2, 0, wanted)))
    faults = {
        r"Only 97\.0% of the tokens": tokens(np.where(wanted < 4, 0, wanted)),
        r"an array of shape \(99,\)": tokens(wanted[1:]),
        "no array that np.save wrote": packed(tokens=wanted),
    }
    for message, content in faults.items():
        with pytest.raises(InvalidSubmission, match=message):
            llama_inference._check(tokens(wanted), content)


def test_missing_raw_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(RawDataError, match="has no complete folder model/"):
        llama_inference.prepare(tmp_path, tmp_path, tmp_path)


@pytest.fixture
def files() -> dict[str, bytes]:
    """What the hub has: a model without weights, and a text of 20 letters."""
    config = {"model_type": "llama", "vocab_size": 257}
    content = {
        "config.json": config,
        "tokenizer.json": BabyLM._byte_tokenizer(),
        "tokenizer_config.json": BabyLM._CONFIG,
    }
    model = f"/{llama_inference.MODEL}/resolve/{llama_inference.MODEL_REVISION}"
    files = {f"{model}/{name}": json.dumps(content.get(name, {})).encode() for name in llama_inference.MODEL_FILES}
    table, file = pd.DataFrame({"text": ["", "ten letter", "once again"]}), io.BytesIO()
    table.to_parquet(file)
    text = f"/datasets/{llama_inference.TEXT}/resolve/{llama_inference.TEXT_REVISION}/{llama_inference.TEXT_FILE}"
    return files | {text: file.getvalue()}


def fetch(raw: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama_inference, "fetch_from_hub", partial(fetch_from_hub, endpoint=address))
    llama_inference.fetch(raw)


@pytest.mark.research
@needs_transformers
def test_model_and_text_come_from_the_hub(
    files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hub_of(files) as address:
        fetch(tmp_path, address, monkeypatch)
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == sorted(llama_inference.MODEL_FILES)
    assert np.load(tmp_path / "tokens.npy").shape == (20,)


def test_a_file_that_the_hub_lacks_is_named(
    files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {path: content for path, content in files.items() if not path.endswith("00002.safetensors")}
    with hub_of(kept) as address, pytest.raises(DownloadError, match=r"model-00001.* could not be.*set HF_TOKEN"):
        fetch(tmp_path, address, monkeypatch)


def test_offline_message_is_helpful(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub", reason="needs huggingface_hub: pip install 'podium[research]'")
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # the client tries again for a while
    with pytest.raises(DownloadError, match=r"config\.json could not be downloaded .*run the command again"):
        fetch(tmp_path, "http://localhost:1", monkeypatch)


@pytest.mark.research
@needs_transformers
def test_the_texts_of_the_evaluation_are_not_shown(place: DataFolder) -> None:
    shown, hidden = np.load(place.public / "prompts.npz")["prompts"], np.load(place.private / "tokens.npy")
    assert shown.shape[1] == llama_inference.LENGTH
    windows = np.lib.stride_tricks.sliding_window_view(shown.ravel(), 16)
    assert not (windows == hidden[1000:1016]).all(axis=1).any()


@pytest.mark.research
@needs_transformers
def test_the_starter_is_as_fast_as_itself(place: DataFolder, data_dir: Path, tmp_path: Path) -> None:
    row = play("llama-inference", tmp_path / "run", data_dir)
    assert "Average time per token" in Steps(row.folder).observation(1).text
    assert row.record.valid, row.record.error
    assert 0.75 < float(row.record.score or 0) < 1.33


@pytest.mark.research
@needs_transformers
def test_a_faster_program_is_recognised(place: DataFolder, data_dir: Path, tmp_path: Path) -> None:
    result = grade(FASTER, tmp_path, data_dir)
    assert result.valid, result.error
    assert result.success, result.score  # ten times as fast, so that other programs on this machine do not hide it


@pytest.mark.research
@needs_transformers
@pytest.mark.parametrize("program", [WRONG, LAZY], ids=["looks at a part of the text", "computes nothing"])
def test_other_tokens_are_refused(
    program: str, place: DataFolder, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llama_inference, "DRAWN_SMALL", 100)
    assert program != STARTER
    assert "of the tokens are those that the original finds" in str(grade(program, tmp_path, data_dir).error)
