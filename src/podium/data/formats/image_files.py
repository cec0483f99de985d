"""Pictures made from arrays, for miniatures whose labels are drawn in their pictures, and arrays from pictures."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.safefs.atomic_files import lacks


def picture_of(pixels: ArrayLike, suffix: str = ".png", *, dtype: type[np.integer] = np.uint8) -> bytes:
    """The bytes of a .png, .tif or .jpg file with these pixels, cut off at what the type holds."""
    from PIL import Image

    limits = np.iinfo(dtype)
    buffer = io.BytesIO()
    kind = {".png": "PNG", ".tif": "TIFF", ".tiff": "TIFF", ".jpg": "JPEG", ".jpeg": "JPEG"}[suffix]
    Image.fromarray(np.clip(pixels, limits.min, limits.max).astype(dtype)).save(buffer, kind)
    return buffer.getvalue()


def pixels_of(path: Path) -> NDArray[np.uint8]:
    """The pixels of a picture in shades of grey; a missing file is explained."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            return np.asarray(image.convert("L"))
    except FileNotFoundError as error:
        raise lacks(path) from error
