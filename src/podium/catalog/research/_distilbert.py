"""Tiny DistilBERT with random weights for miniatures, in the same files as the real model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase

import numpy as np

from podium.data.building_blocks import write_bytes, write_json

WIDTH, HIDDEN, LAYERS, LENGTH = 32, 64, 2, 512
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

Weight = tuple[str, tuple[int, ...], float]
"""Name, shape and, where it starts out constant, value."""


def write_model(folder: Path, words: list[str], rng: np.random.Generator) -> None:
    """Write a model whose vocabulary has these words, and letters for all others."""
    letters = [mark for letter in ascii_lowercase for mark in (letter, f"##{letter}")]
    vocabulary = list(dict.fromkeys([*SPECIAL, *words, *letters]))
    config = {
        "activation": "gelu",
        "architectures": ["DistilBertForMaskedLM"],
        "attention_dropout": 0.1,
        "dim": WIDTH,
        "dropout": 0.1,
        "hidden_dim": HIDDEN,
        "initializer_range": 0.02,
        "max_position_embeddings": LENGTH,
        "model_type": "distilbert",
        "n_heads": 2,
        "n_layers": LAYERS,
        "pad_token_id": 0,
        "qa_dropout": 0.1,
        "seq_classif_dropout": 0.2,
        "sinusoidal_pos_embds": False,
        "tie_weights_": True,
        "vocab_size": len(vocabulary),
    }
    reading = {"do_lower_case": True, "model_max_length": LENGTH, "tokenizer_class": "DistilBertTokenizer"}
    write_json(config, folder / "config.json")
    write_json(reading, folder / "tokenizer_config.json")
    write_bytes(folder / "vocab.txt", "\n".join([*vocabulary, ""]).encode())
    weights = {
        name: rng.normal(0, 0.02, shape).astype(np.float32) if len(shape) > 1 else np.full(shape, value, np.float32)
        for name, shape, value in _weights(len(vocabulary))
    }
    write_bytes(folder / "model.safetensors", as_safetensors(weights))


def _weights(words: int) -> Iterator[Weight]:
    yield "distilbert.embeddings.word_embeddings.weight", (words, WIDTH), 0.0
    yield "distilbert.embeddings.position_embeddings.weight", (LENGTH, WIDTH), 0.0
    yield from _norm("distilbert.embeddings.LayerNorm")
    for layer in (f"distilbert.transformer.layer.{number}" for number in range(LAYERS)):
        for name in ("q_lin", "k_lin", "v_lin", "out_lin"):
            yield from _linear(f"{layer}.attention.{name}", WIDTH, WIDTH)
        yield from _norm(f"{layer}.sa_layer_norm")
        yield from _linear(f"{layer}.ffn.lin1", WIDTH, HIDDEN)
        yield from _linear(f"{layer}.ffn.lin2", HIDDEN, WIDTH)
        yield from _norm(f"{layer}.output_layer_norm")
    yield from _linear("vocab_transform", WIDTH, WIDTH)
    yield from _norm("vocab_layer_norm")
    yield "vocab_projector.bias", (words,), 0.0


def _linear(name: str, inputs: int, outputs: int) -> Iterator[Weight]:
    yield f"{name}.weight", (outputs, inputs), 0.0
    yield f"{name}.bias", (outputs,), 0.0


def _norm(name: str) -> Iterator[Weight]:
    yield f"{name}.weight", (WIDTH,), 1.0
    yield f"{name}.bias", (WIDTH,), 0.0


def as_safetensors(weights: dict[str, np.ndarray]) -> bytes:
    """Return arrays as a safetensors file: length of the JSON header, header, data."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    start = 0
    for name, array in weights.items():
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [start, start + array.nbytes]}
        start += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(array.tobytes() for array in weights.values())
