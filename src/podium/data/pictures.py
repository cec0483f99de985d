"""Pictures made from arrays, for miniatures whose labels are drawn in their pictures."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import ArrayLike


def picture_of(pixels: ArrayLike, suffix: str = ".png", *, dtype: type[np.integer] = np.uint8) -> bytes:
    """The bytes of a .png, .tif or .jpg file with these pixels, cut off at what the type holds."""
    from PIL import Image

    limits = np.iinfo(dtype)
    buffer = io.BytesIO()
    kind = {".png": "PNG", ".tif": "TIFF", ".tiff": "TIFF", ".jpg": "JPEG", ".jpeg": "JPEG"}[suffix]
    Image.fromarray(np.clip(pixels, limits.min, limits.max).astype(dtype)).save(buffer, kind)
    return buffer.getvalue()
