"""BabyLM: pretrain a language model on as many words as a child hears."""

from __future__ import annotations

import json
import math
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.data.fetch.http_download import fetch_file
from podium.data.fetch.hugging_face import fetch_from_hub
from podium.data.formats.archives import unpacked
from podium.errors import InvalidSubmission, RawDataError
from podium.safefs.atomic_files import link_tree, missing_raw_file, write_atomically
from podium.task import Evaluation, Files, Starter, metric, research_task

if TYPE_CHECKING:
    import numpy as np

HERE = Path(__file__).parent
ARCHIVE = "https://github.com/babylm/babylm.github.io/raw/main/babylm_data.zip"
PARTS = ("babylm_10M", "babylm_dev", "babylm_test")
TOKENIZER, TOKENIZER_REVISION = "openai-community/gpt2", "607a30d783dfa663caf39e06633721c8d4cfcd7e"
TOKENIZER_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt")
BLOCK, SMALL_BLOCK = 1024, 64
REFUSED = (".py", ".bin", ".pt", ".pth", ".pkl", ".ckpt")
"""Code and pickles: nothing would run them, but who hands them in expects that."""
TIME_S = 3600.0


@metric("Perplexity", higher_is_better=False)
def perplexity(truth: Any, losses: Any) -> float:
    """Return the exponential of the mean loss per token."""
    return math.exp(min(sum(losses) / len(losses), 700.0))


task = research_task(
    "BabyLM",
    title="BabyLM: a language model from ten million words",
    kind="language modelling",
    metric=perplexity,
    submission=Files(names=("output/",), max_bytes=8 << 30, tolerance=1e-3),
    starter=Starter(HERE / "BabyLM", "train.py"),
    first="fixed",
)


@task.fetch
def fetch(raw: Path) -> None:
    """Download the challenge's archive, and GPT-2's tokenizer and configuration (not its weights)."""
    archive = raw / "babylm_data.zip"
    fetch_file(ARCHIVE, archive, check=_check_archive)
    missing = [part for part in PARTS if not (raw / part).exists()]
    if missing:
        with unpacked(archive, archive) as folder:
            for part in missing:
                found = [path for path in folder.rglob(part) if "__MACOSX" not in path.parts]
                if not found:
                    raise RawDataError(f"{archive} has no folder {part}: it is not the archive of the 2023 challenge.")
                found[0].rename(raw / part)
    fetch_from_hub(TOKENIZER, TOKENIZER_FILES, raw / "gpt2", revision=TOKENIZER_REVISION)
    _settings(raw, BLOCK)


def _check_archive(path: Path) -> None:
    if not zipfile.is_zipfile(path):
        raise ValueError("the download is not a zip archive")


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    """Publish training and validation text; the test text stays private."""
    for name in (*PARTS, "gpt2"):
        if not (raw / name).is_dir():
            raise missing_raw_file(raw / name)
    for name in ("babylm_10M", "babylm_dev", "gpt2"):
        link_tree(raw / name, public / name)
    link_tree(raw / "babylm_test", private / "babylm_test")
    shutil.copyfile(raw / "settings.json", public / "settings.json")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    """Fabricate sentences of a small made-up language, and a byte-level tokenizer."""
    for part, sentences in zip(PARTS, (2500, 300, 300), strict=True):
        for source in ("stories", "speech"):
            path = raw / part / f"{source}.{part.removeprefix('babylm_').replace('10M', 'train')}"
            path.parent.mkdir(exist_ok=True)
            path.write_text("".join(_sentence(rng) for _ in range(sentences)), encoding="utf-8")
    (raw / "gpt2").mkdir()
    documents = {"config.json": _small_config(), "tokenizer.json": _byte_tokenizer(), "tokenizer_config.json": _CONFIG}
    for name, document in documents.items():
        (raw / "gpt2" / name).write_text(json.dumps(document), encoding="utf-8")
    _settings(raw, SMALL_BLOCK)


_CONFIG = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": BLOCK, "eos_token": "<|endoftext|>"}
_WHO = ("the cat", "a dog", "my sister", "the old man", "every bird", "the small girl", "nobody", "a teacher")
_DOES = ("sees", "likes", "follows", "hears", "wants", "finds", "forgets", "paints")
_WHAT = ("the moon", "a red ball", "the river", "bread and milk", "an open door", "the snow", "a long story", "it")
_WHEN = ("in the morning", "again", "at night", "when it rains", "", "today", "with a smile", "by the sea")


def _sentence(rng: np.random.Generator) -> str:
    """Return a sentence in which actions are often followed by related ones, so that there is something to learn."""
    verb = int(rng.integers(len(_DOES)))
    what = verb if rng.random() < 0.7 else int(rng.integers(len(_WHAT)))
    words = (_WHO[rng.integers(len(_WHO))], _DOES[verb], _WHAT[what], _WHEN[rng.integers(len(_WHEN))])
    return " ".join(word for word in words if word) + ".\n"


def _small_config() -> dict[str, Any]:
    sizes = {"n_embd": 64, "n_layer": 2, "n_head": 2, "n_positions": SMALL_BLOCK, "vocab_size": 257}
    ids = {"bos_token_id": 256, "eos_token_id": 256}
    return {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], **sizes, **ids}


def _byte_tokenizer() -> dict[str, Any]:
    """Return a tokenizer of GPT-2's kind without merges: one token per byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    spare = iter(range(256, 512))
    letters = [chr(byte) if byte in plain else chr(next(spare)) for byte in range(256)]
    end = {"id": 256, "content": "<|endoftext|>", "special": True}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    vocabulary = {letter: number for number, letter in enumerate(letters)} | {"<|endoftext|>": 256}
    return {
        "version": "1.0",
        "added_tokens": [{**end, **flags}],
        "pre_tokenizer": level,
        "decoder": level,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
    }


def _settings(raw: Path, block: int) -> None:
    write_atomically(raw / "settings.json", json.dumps({"block": block}))


@task.evaluate
def evaluate(evaluation: Evaluation) -> float:
    """Return the perplexity on the test text, always with the published tokenizer, since token counts differ."""
    output = evaluation.submission / "output"
    refused = sorted(path.name for path in output.rglob("*") if path.suffix in REFUSED)
    if refused:
        raise InvalidSubmission(f"output/ contains {refused[0]}; only safetensors weights and JSON files are allowed.")
    files: dict[str, Path | bytes] = {
        "evaluate.py": HERE / "evaluation" / "babylm.py",
        "output": output,
        "blocks.npy": _test_blocks(evaluation),
    }
    ran = evaluation.execute(["python", "evaluate.py"], files=files, time_s=TIME_S)
    if ran.exit_code:
        raise InvalidSubmission(f"The model in output/ cannot be used: {ran.stopped or ran.output[-400:]}")
    try:
        losses = [float(loss) for loss in json.loads(ran.read("losses.json", 16 << 20))]
    except (ValueError, TypeError) as error:
        raise InvalidSubmission(f"The model in output/ produced no valid losses: {error}") from error
    if not losses or not all(math.isfinite(loss) and loss >= 0 for loss in losses):
        raise InvalidSubmission("The model in output/ has losses that are not finite numbers.")
    return perplexity(None, losses)


def _test_blocks(evaluation: Evaluation) -> bytes:
    """Return the test text as blocks of tokens, computed in a separate sandbox without files of the agent."""
    files: dict[str, Path | bytes] = {
        "cut.py": HERE / "evaluation" / "babylm_blocks.py",
        "babylm_test": evaluation.private / "babylm_test",
    }
    ran = evaluation.execute(["python", "cut.py"], files=files, time_s=TIME_S, data=True)
    if ran.exit_code:
        raise RawDataError(f"The test text of BabyLM cannot be read: {ran.output[-400:]}")
    return ran.read("blocks.npy")
