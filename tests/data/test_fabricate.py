"""What miniatures are made of opens as what it is."""

from __future__ import annotations

import io
import struct
import wave
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from podium.data.fabricate import pictures, sound
from podium.data.formats.image_files import picture_of, pixels_of
from podium.errors import RawDataError


def test_pictures_are_of_the_kind_their_names_end_in() -> None:
    found = dict(pictures(np.random.default_rng(0), ["a.jpg", "b.png", "c.tif"], [1, 2, 3], size=(4, 6)))
    opened = {name: Image.open(io.BytesIO(content)) for name, content in found.items()}
    assert {name: (image.format, image.size) for name, image in opened.items()} == {
        "a.jpg": ("JPEG", (6, 4)),
        "b.png": ("PNG", (6, 4)),
        "c.tif": ("TIFF", (6, 4)),
    }


def test_pixels_become_a_picture_and_pixels_again(tmp_path: Path) -> None:
    pixels = np.arange(12).reshape(3, 4) * 30
    (tmp_path / "page.png").write_bytes(picture_of(pixels))
    assert pixels_of(tmp_path / "page.png").tolist() == np.minimum(pixels, 255).tolist()
    with pytest.raises(RawDataError, match=r"lacks no\.png"):
        pixels_of(tmp_path / "no.png")


def test_a_sound_is_a_wav_file() -> None:
    with wave.open(io.BytesIO(sound(np.random.default_rng(0), samples=50, rate=8000))) as file:
        assert (file.getnchannels(), file.getframerate(), file.getnframes()) == (1, 8000, 50)


@pytest.mark.parametrize(("rate", "exponent"), [(2000, 10), (44_100, 15)])
def test_a_sound_may_be_an_aiff_file(rate: int, exponent: int) -> None:
    content = sound(np.random.default_rng(0), samples=50, rate=rate, suffix=".aif")
    name, size, kind, facts, _, channels, samples, bits, power, mantissa = struct.unpack(">4sI4s4sIhIhHQ", content[:38])
    assert (name, size, kind, facts) == (b"FORM", len(content) - 8, b"AIFF", b"COMM")
    assert (channels, samples, bits) == (1, 50, 16)
    assert (power, mantissa / 2 ** (63 - exponent)) == (16383 + exponent, rate)
