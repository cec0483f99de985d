"""llama-inference: make a LLaMA model find the next token faster."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

import numpy as np
import pandas as pd

from podium.catalog.research._speedup import packed, race, speed_up
from podium.data.fetch.hugging_face import fetch_from_hub
from podium.data.formats.numpy_files import parse_array, read_array, write_array
from podium.errors import InvalidSubmission, MissingExtraError, RawDataError
from podium.safefs.atomic_files import link_tree
from podium.task import Baseline, Evaluation, Files, Measured, Starter, research_task

HERE = Path(__file__).parent
MODEL, MODEL_REVISION = "huggyllama/llama-7b", "8416d3fefb0cb3ff5775a7b13c1692d10ff1aa16"
MODEL_FILES = (
    "config.json",
    "generation_config.json",
    "model.safetensors.index.json",
    "model-00001-of-00002.safetensors",
    "model-00002-of-00002.safetensors",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
)
TEXT, TEXT_REVISION = "Salesforce/wikitext", "b08601e04326c79dfdd32d625aee71d232d685c3"
TEXT_FILE = "wikitext-103-v1/test-00000-of-00001.parquet"
LENGTH = 128
SHOWN = 1024
"""Texts that the agent gets, at most."""
DRAWN, DRAWN_SMALL = 4000, 1600
"""Texts per round: enough that starting the program, which no one can change, does not hide what was gained."""
EQUAL = 0.98
"""The share of tokens that have to be the starter's: rounding tips the balance between two likely ones now and then."""

task = research_task(
    "llama-inference",
    title="Faster inference of a LLaMA model",
    kind="code speed",
    metric=speed_up,
    submission=Files(names=("inference.py",), max_bytes=1 << 20, tolerance=0.5),
    starter=Starter(HERE / "llama_inference", "inference.py"),
    reference=Baseline(1.0, by_definition=True),
    first="fixed",
)


@task.fetch
def fetch(raw: Path) -> None:
    """Download the model, and the test part of wikitext-103 as one sequence of the model's tokens."""
    fetch_from_hub(MODEL, MODEL_FILES, raw / "model", revision=MODEL_REVISION)
    fetch_from_hub(TEXT, [TEXT_FILE], raw / "wikitext", is_dataset=True, revision=TEXT_REVISION)
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingExtraError("Cutting texts into a LLaMA model's tokens", "research") from error
    texts = pd.read_parquet(raw / "wikitext" / TEXT_FILE)["text"].tolist()
    tokens = AutoTokenizer.from_pretrained(raw / "model")(texts, add_special_tokens=False)["input_ids"]
    write_array(np.concatenate([np.array(text, dtype=np.int32) for text in tokens]), raw / "tokens.npy")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    """Fabricate a small model with random weights, and a text of random tokens."""
    try:
        import torch
        from transformers import LlamaConfig, LlamaForCausalLM
    except ImportError as error:
        raise MissingExtraError("The miniature of llama-inference, a small model,", "research") from error
    torch.manual_seed(int(rng.integers(2**31)))
    # Deep and narrow: as on a GPU, a batch of four keeps the machine busy with other things than arithmetic.
    config = LlamaConfig(
        vocab_size=512,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=12,
        num_attention_heads=2,
        max_position_embeddings=256,
        initializer_range=0.2,
    )
    LlamaForCausalLM(config).save_pretrained(raw / "model", safe_serialization=True)
    write_array(rng.integers(3, 512, 100_000).astype(np.int32), raw / "tokens.npy")


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    """Publish the model and texts from the first half of the tokens; the second half stays private."""
    try:
        json.loads((raw / "model" / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RawDataError(f"{raw} has no complete folder model/: {error}") from error
    tokens = read_array(raw / "tokens.npy")
    half = len(tokens) // 2
    link_tree(raw / "model", public / "model")
    shown = min(half // LENGTH, SHOWN)
    np.savez(public / "prompts.npz", prompts=tokens[: shown * LENGTH].reshape(shown, LENGTH))
    write_array(tokens[half:], private / "tokens.npy")


@task.evaluate
def evaluate(evaluation: Evaluation) -> Measured:
    """Run starter and submission in turns, on random texts of the hidden half."""
    tokens = read_array(evaluation.private / "tokens.npy")
    texts = np.lib.stride_tricks.sliding_window_view(tokens, LENGTH)
    rng = np.random.default_rng(secrets.randbits(128))
    drawn = DRAWN_SMALL if evaluation.miniature else DRAWN
    return race(
        evaluation,
        program="inference.py",
        output="tokens.npy",
        nothing=packed(prompts=texts[:0]),
        draw=lambda: packed(prompts=texts[rng.choice(len(texts), drawn, replace=False)]),
        check=_check,
        data=True,
    )


def _check(honest: bytes, tried: bytes) -> None:
    wanted, found = parse_array(honest), parse_array(tried)
    assert wanted is not None
    if found is None or found.shape != wanted.shape:
        what = "no array that np.save wrote" if found is None else f"an array of shape {found.shape}"
        raise InvalidSubmission(f"tokens.npy contains {what}; the next token of all {len(wanted)} texts is expected.")
    equal = float(np.mean(found == wanted))
    if equal < EQUAL:
        raise InvalidSubmission(
            f"Only {equal:.1%} of the tokens match those of the original; at least {EQUAL:.0%} must match."
        )
