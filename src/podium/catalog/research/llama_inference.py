"""llama-inference: make a LLaMA model find the next token faster."""

from __future__ import annotations

import io
import json
import secrets
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

from podium.catalog.research._race import packed, race, speed_up
from podium.data.files import link_tree
from podium.data.hub import fetch_from_hub
from podium.errors import InvalidSubmission, MissingExtraError, RawDataError
from podium.task import Baseline, Evaluation, Files, Starter, research_task

HERE = Path(__file__).parent
MODEL = "huggyllama/llama-7b"
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
WIKITEXT = "wikitext-103-v1/test-00000-of-00001.parquet"
LENGTH = 128
SEED = 7
EQUAL = 0.98
"""The share of tokens that have to be the starter's: rounding tips the balance between two likely ones now and then."""

task = research_task(
    "llama-inference",
    title="Faster inference of a LLaMA model",
    kind="code speed",
    metric=speed_up,
    submission=Files(names=("inference.py",), max_bytes=1 << 20, tolerance=0.5),
    starter=Starter(HERE / "llama_inference", "inference.py"),
    reference=Baseline(1.0),
    first="fixed",
)


@task.fetch
def fetch(raw: Path) -> None:
    """The model, and the texts of wikitext-103's test part that have exactly 128 tokens."""
    fetch_from_hub(MODEL, MODEL_FILES, raw / "model")
    fetch_from_hub("Salesforce/wikitext", [WIKITEXT], raw / "wikitext", is_dataset=True)
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingExtraError("Cutting texts into a LLaMA model's tokens", "research") from error
    tokenizer = AutoTokenizer.from_pretrained(raw / "model")
    texts = pd.read_parquet(raw / "wikitext" / WIKITEXT)["text"].tolist()
    tokens = [tokens for tokens in tokenizer(texts)["input_ids"] if len(tokens) == LENGTH]
    np.savez(raw / "prompts.npz", prompts=np.array(tokens, dtype=np.int32))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    """A small model with random weights, and texts of random tokens."""
    try:
        import torch
        from transformers import LlamaConfig, LlamaForCausalLM
    except ImportError as error:
        raise MissingExtraError("The miniature of llama-inference, a small model,", "research") from error
    torch.manual_seed(int(rng.integers(2**31)))
    config = LlamaConfig(
        vocab_size=512,
        hidden_size=256,
        intermediate_size=512,
        num_hidden_layers=6,
        num_attention_heads=4,
        max_position_embeddings=256,
        initializer_range=0.2,
    )
    LlamaForCausalLM(config).save_pretrained(raw / "model", safe_serialization=True)
    np.savez(raw / "prompts.npz", prompts=rng.integers(3, 512, (400, LENGTH)).astype(np.int32))


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    """The model for everybody; half of the texts for the agent, the other half for the evaluation."""
    try:
        prompts = np.load(raw / "prompts.npz", allow_pickle=False)["prompts"]
        json.loads((raw / "model" / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError) as error:
        raise RawDataError(f"{raw} holds no model/ and prompts.npz as they are downloaded: {error}") from error
    link_tree(raw / "model", public / "model")
    order = np.random.default_rng(SEED).permutation(len(prompts))
    for folder, part in ((public, order[::2]), (private, order[1::2])):
        np.savez(folder / "prompts.npz", prompts=prompts[np.sort(part)])


@task.evaluate
def evaluate(evaluation: Evaluation) -> float:
    """Starter and submission in turns, on hidden texts in an order that changes."""
    prompts = np.load(evaluation.private / "prompts.npz", allow_pickle=False)["prompts"]
    rng = np.random.default_rng(secrets.randbits(128))
    return race(
        evaluation,
        program="inference.py",
        output="tokens.npz",
        rounds=3 if evaluation.miniature else 5,
        nothing=packed(prompts=prompts[:0]),
        draw=lambda: packed(prompts=rng.permutation(prompts)),
        check=_check,
        data=True,
    )


def _check(expected: bytes, found: bytes) -> None:
    wanted, made = _tokens(expected), _tokens(found)
    if made.shape != wanted.shape:
        raise InvalidSubmission(f"tokens.npz has no array 'tokens' with the next token of all {len(wanted)} texts.")
    equal = float(np.mean(made == wanted))
    if equal < EQUAL:
        raise InvalidSubmission(
            f"Only {equal:.1%} of the tokens are those that the original finds; {EQUAL:.0%} have to be."
        )


def _tokens(content: bytes) -> np.ndarray:
    """The tokens in a file, none if it is something else."""
    try:
        return np.asarray(np.load(io.BytesIO(content), allow_pickle=False)["tokens"])
    except (ValueError, LookupError, OSError, zipfile.BadZipFile):
        return np.zeros(0)
