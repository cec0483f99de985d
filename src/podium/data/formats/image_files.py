"""Images from arrays (for miniatures whose labels are visible in their images) and arrays from images."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.safefs.atomic_files import missing_raw_file


def picture_of(pixels: ArrayLike, suffix: str = ".png", *, dtype: type[np.integer] = np.uint8) -> bytes:
    """Return the bytes of a .png, .tif or .jpg file with these pixels, clipped to the range of the type."""
    from PIL import Image

    limits = np.iinfo(dtype)
    buffer = io.BytesIO()
    kind = {".png": "PNG", ".tif": "TIFF", ".tiff": "TIFF", ".jpg": "JPEG", ".jpeg": "JPEG"}[suffix]
    Image.fromarray(np.clip(pixels, limits.min, limits.max).astype(dtype)).save(buffer, kind)
    return buffer.getvalue()


def pixels_of(path: Path) -> NDArray[np.uint8]:
    """Return the pixels of an image in greyscale; a missing file raises RawDataError."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            return np.asarray(image.convert("L"))
    except FileNotFoundError as error:
        raise missing_raw_file(path) from error
