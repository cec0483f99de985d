"""Helpers to fabricate miniatures: ids, words, images and sounds, small but in the real formats."""

from __future__ import annotations

import io
import struct
import wave
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

WORDS = [
    "the",
    "a",
    "of",
    "to",
    "in",
    "it",
    "is",
    "was",
    "that",
    "we",
    "they",
    "not",
    "very",
    "good",
    "bad",
    "old",
    "new",
    "small",
    "red",
    "blue",
    "river",
    "house",
    "train",
    "morning",
    "doctor",
    "market",
    "summer",
    "winter",
    "city",
    "paper",
    "music",
    "answer",
    "question",
    "happy",
    "angry",
    "quiet",
    "strange",
    "never",
    "always",
    "because",
]


def hex_ids(rng: np.random.Generator, count: int, length: int = 12) -> list[str]:
    """Return distinct identifiers of `length` hexadecimal digits."""
    ids: dict[str, None] = {}
    while len(ids) < count:
        ids[rng.bytes((length + 1) // 2).hex()[:length]] = None
    return list(ids)


def sentences(rng: np.random.Generator, count: int, *, words: int = 12, vocabulary: Iterable[str] = WORDS) -> list[str]:
    """Return texts of up to `words` words."""
    pool = list(vocabulary)
    return [" ".join(rng.choice(pool, rng.integers(2, words + 1))) for _ in range(count)]


def picture(
    rng: np.random.Generator,
    *,
    tint: int = 0,
    size: tuple[int, int] = (8, 8),
    grey: bool = False,
    suffix: str = ".jpg",
) -> bytes:
    """Return a noisy image whose colour depends on `tint`, as the bytes of a .jpg, .png, .tif or .bmp file."""
    from PIL import Image

    channels = () if grey else (3,)
    shade = (tint * 67) % 160 if grey else np.array([tint * 37, tint * 73, tint * 131]) % 160
    pixels = rng.integers(0, 90, (*size, *channels)) + shade
    buffer = io.BytesIO()
    kind = {".jpg": "JPEG", ".jpeg": "JPEG", ".png": "PNG", ".tif": "TIFF", ".tiff": "TIFF", ".bmp": "BMP"}[suffix]
    Image.fromarray(pixels.astype(np.uint8)).save(buffer, kind)
    return buffer.getvalue()


def pictures(
    rng: np.random.Generator, names: Iterable[str], tints: Iterable[int], **options: Any
) -> Iterator[tuple[str, bytes]]:
    """Yield an image file for each name, in the format of its suffix; its colour encodes the label in `tints`."""
    for name, tint in zip(names, tints, strict=True):
        yield name, picture(rng, tint=int(tint), suffix=Path(name).suffix, **options)


def sound(
    rng: np.random.Generator, *, pitch: int = 0, samples: int = 400, rate: int = 16_000, suffix: str = ".wav"
) -> bytes:
    """Return a noisy tone whose frequency depends on `pitch`, as the bytes of a .wav or .aif file."""
    tone = np.sin(np.arange(samples) * (0.05 + 0.03 * pitch)) * 8000 + rng.normal(0, 2000, samples)
    if suffix == ".aif":
        return _aiff(tone.astype(">i2").tobytes(), samples, rate)
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setparams((1, 2, rate, samples, "NONE", "not compressed"))
        file.writeframes(tone.astype("<i2").tobytes())
    return buffer.getvalue()


def _aiff(content: bytes, samples: int, rate: int) -> bytes:
    """Return an AIFF file with one 16-bit channel; its rate is an 80-bit floating-point number."""
    exponent = rate.bit_length() - 1
    extended = struct.pack(">HQ", 16383 + exponent, rate << (63 - exponent))
    facts = _chunk(b"COMM", struct.pack(">hIh", 1, samples, 16) + extended)
    return _chunk(b"FORM", b"AIFF" + facts + _chunk(b"SSND", bytes(8) + content))


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack(">I", len(content)) + content


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, creating its folder first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def write_files(folder: Path, contents: Iterable[tuple[str, bytes]]) -> None:
    """Write files into a folder under their relative paths."""
    for name, content in contents:
        write_bytes(folder / name, content)
