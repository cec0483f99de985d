"""Writer of a forged competition's public and private folders."""

from __future__ import annotations

import io
import logging
import wave
from pathlib import Path

import numpy as np

from podium.catalog.forge.families import load_family
from podium.catalog.forge.family import ForgedData
from podium.catalog.forge.field import Source, draw_data, measure_field, source_of, stored_field
from podium.catalog.forge.forge_ids import ForgeId
from podium.catalog.forge.world.file_layout import write_tables
from podium.grading.reference import LEADERBOARD_FILE

logger = logging.getLogger(__name__)

SAMPLE_RATE = 8000


def write_forged_data(parts: ForgeId, public: Path, private: Path) -> None:
    """Draw the competition and write it with its leaderboard: the stored one, or one measured now."""
    family = load_family(parts.family)
    source = source_of(parts)
    forged = draw_data(family, parts.difficulty, source)
    write_public(forged, public)
    write_tables({family.submission.answers: forged.answers}, private)
    field = stored_field(parts) or _measure(parts, source, forged)
    (private / LEADERBOARD_FILE).write_text(field, encoding="utf-8")


def _measure(parts: ForgeId, source: Source, forged: ForgedData) -> str:
    def report(done: int, total: int) -> None:
        if parts.difficulty != "tiny" and (done % 10 == 0 or done == total):
            logger.info("%s: %d of %d entrants of the field are trained", parts, done, total)

    family = load_family(parts.family)
    return measure_field(family, parts.difficulty, source, on_progress=report, forged=forged).to_json()


def write_public(forged: ForgedData, public: Path) -> None:
    """Write the public files."""
    (public / "description.md").write_text(forged.brief, encoding="utf-8")
    data = forged.public
    tables = {"train.csv": data.train, "test.csv": data.test, "sample_submission.csv": forged.sample}
    write_tables(tables | dict(data.tables), public)
    for folder in {(public / name).parent for name in data.payload}:
        folder.mkdir(parents=True, exist_ok=True)
    for name, array in data.payload.items():
        _write_array(array, public / name)


def _write_array(array: np.ndarray, path: Path) -> None:
    match path.suffix:
        case ".png":
            from PIL import Image

            encoded = io.BytesIO()  # to a small file Pillow writes in many pieces, which takes twice as long
            Image.fromarray(array).save(encoded, "png")
            path.write_bytes(encoded.getvalue())
        case ".wav":
            with wave.open(str(path), "wb") as file:
                file.setparams((1, 2, SAMPLE_RATE, len(array), "NONE", "not compressed"))
                file.writeframes(array.astype("<i2").tobytes())
        case ".npy":
            np.save(path, array)
        case other:
            raise ValueError(f"{path.name} cannot be written: '{other}' files are not supported.")
