"""Image folders as tables: labels of images, and numeric features for pipelines."""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from podium.catalog.authoring.read_cells import PARQUET, read_cells
from podium.data.columns import Column
from podium.errors import UsageError
from podium.text import plural

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from PIL import Image

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
TABLES = (".csv", ".tsv", *PARQUET)
PICTURE = "picture"
"""Column with the path of each row's image."""
LABEL = "label"
PARTS = frozenset({"train", "training", "test", "testing", "val", "valid", "validation"})
"""Names of folders for parts of the data, which are not class labels."""
ORIENTATION = 0x0112
"""EXIF tag of the image orientation."""
QUALITY = 95
"""Quality of JPEG images that are encoded again."""
THUMBNAIL = (10, 10)
BINS = 6


def read_pictures(folder: Path) -> tuple[pd.DataFrame, list[str]]:
    """Return a row per image, with notes on images that were left out.

    The rows are those of a table in the folder that names images, or else all images with their subfolder as label.

    Raises:
        UsageError: There are no images, or they have no labels.
    """
    import pandas as pd

    files = sorted(path for path in folder.rglob("*") if path.is_file() and not _is_hidden(path.relative_to(folder)))
    names = [path.relative_to(folder) for path in files if path.suffix.lower() in SUFFIXES]
    tables = [path for path in files if path.suffix.lower() in TABLES]
    if not names:
        advice = f" Name one of its tables, such as {tables[0]}" if tables else ""
        raise UsageError(f"There are no pictures in {folder}; they end in {', '.join(SUFFIXES)}.{advice}")
    beside = [path for path in tables if path.parent == folder]
    if len(beside) > 1:
        raise UsageError(f"{folder} has several tables ({', '.join(path.name for path in beside)}); leave one of them.")
    notes: list[str] = []
    if beside:
        rows = _named_in(read_cells(beside[0]), beside[0], names, notes)
    else:
        rows = pd.DataFrame({PICTURE: [name.as_posix() for name in names], LABEL: _folders(names, folder, notes)})
    return _without_repeated(rows, folder, notes), notes


def _is_hidden(name: PurePath) -> bool:
    """Return whether a path is hidden or internal, such as `.ipynb_checkpoints` and `__MACOSX`."""
    return any(part.startswith((".", "__")) for part in name.parts)


def _folders(names: list[Path], folder: Path, notes: list[str]) -> list[str]:
    """Return the class of each image: its folder, ignoring common folders and names of parts of the data."""
    advice = (
        "Put pictures into a subfolder for each class, or add a table with a column of file names: "
        f"{folder / 'labels.csv'}"
    )
    ordered = sorted(names, key=lambda name: len(name.parts))
    shallow, deep = ordered[0], ordered[-1]
    level, depth = 0, len(shallow.parts) - 1
    while level < depth and _says_nothing({name.parts[level] for name in names}):
        level += 1
    if level == depth:
        raise UsageError(f"Nothing says what {shallow} shows. {advice}")
    if len(deep.parts) > len(shallow.parts):
        raise UsageError(f"Pictures lie at different depths, as {shallow} and {deep} do. {advice}")
    outer = sorted({"/".join(name.parts[:level]) for name in names})
    if outer[1:]:
        notes.append(f"Put together: the pictures of {', '.join(outer)}, which are divided anew.")
    return [name.parts[level] for name in names]


def _says_nothing(folders: set[str]) -> bool:
    return len(folders) == 1 or {name.lower() for name in folders} <= PARTS


def _named_in(cells: pd.DataFrame, table: Path, names: list[Path], notes: list[str]) -> pd.DataFrame:
    """Return the rows of a table with the image named in one of its columns, without the columns of image names."""
    known = _ways_to_name(names)
    named = {str(name): cells[name].map(lambda cell: _find(str(cell), known)) for name in cells}
    column = max(named, key=lambda name: named[name].nunique())
    found = named[column]
    if found.notna().mean() < 0.5:
        raise UsageError(f"No column of {table} names the pictures of {table.parent}, such as {names[0].name}.")
    unclear = found[found.notna() & ~found.isin({name.as_posix() for name in names})]
    if len(unclear):
        cell = cells[column][unclear.index[0]]
        raise UsageError(f"{table}: '{cell}' can be {unclear.iloc[0]}. Name pictures with their folder.")
    rows = cells.drop(columns=[name for name in named if (named[name] == found).mean() >= 0.5])
    if PICTURE in rows:
        raise UsageError(f"{table}: the column '{PICTURE}' does not name pictures; rename it.")
    missing, again = found.isna(), found.notna() & found.duplicated()
    _note(notes, int(missing.sum()), "row", f"of {table.name} whose picture is not there")
    _note(notes, int(again.sum()), "row", f"of {table.name} whose picture an earlier row has")
    _note(notes, len(names) - found.nunique(), "picture", f"that no row of {table.name} names")
    return rows.assign(**{PICTURE: found})[~missing & ~again].reset_index(drop=True)


def _note(notes: list[str], count: int, noun: str, why: str) -> None:
    if count:
        notes.append(f"Left out: {plural(count, noun)} {why}.")


def _ways_to_name(names: list[Path]) -> dict[str, str]:
    """Return the paths of images by all names that may refer to them; ambiguous names map to `PATH or PATH`."""
    known: dict[str, set[str]] = {}
    for name in names:
        for tail in (*_tails(name.as_posix()), *_tails(name.with_suffix("").as_posix())):
            known.setdefault(tail, set()).add(name.as_posix())
    return {tail: " or ".join(sorted(paths)) for tail, paths in known.items()}


def _find(cell: str, known: dict[str, str]) -> str | None:
    return next((known[tail] for tail in _tails(cell) if tail in known), None)


def _tails(path: str) -> list[str]:
    """Return a path and its suffixes, such as a/b/c, b/c and c, since tables may use paths from another folder."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    return ["/".join(parts[start:]) for start in range(len(parts))]


def _without_repeated(rows: pd.DataFrame, folder: Path, notes: list[str]) -> pd.DataFrame:
    """Return the rows without images whose pixels equal those of an earlier one."""
    again = rows[PICTURE].map(lambda name: _digest(folder / name)).duplicated()
    _note(notes, int(again.sum()), "picture", "with the pixels of another one")
    return rows[~again].reset_index(drop=True)


def _digest(path: Path) -> str:
    image = _pixels(path).convert("RGB")
    return hashlib.sha256(repr(image.size).encode() + image.tobytes()).hexdigest()


def _pixels(path: Path) -> Image.Image:
    """Return an image in upright orientation, greyscale or RGB, without metadata."""
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as image:
            upright = ImageOps.exif_transpose(image)
            found = upright.convert("L" if upright.mode in ("1", "L") else "RGB")
    except Exception as error:  # decoders raise many kinds of exceptions
        raise UsageError(f"{path} cannot be read as a picture: {error}") from error
    found.info = {}
    return found


def copy_pictures(rows: pd.DataFrame, id_column: str, source: Path, target: Path) -> str:
    """Write every image under the id of its row, without camera metadata, and return the suffix of the files."""
    suffixes = {Path(name).suffix.lower() for name in rows[PICTURE]}
    suffix = ".jpg" if suffixes <= {".jpg", ".jpeg"} else ".png"
    target.mkdir()
    for name, key in zip(rows[PICTURE], rows[id_column], strict=True):
        _copy(source / name, target / f"{key}{suffix}")
    return suffix


def _copy(path: Path, target: Path) -> None:
    from PIL import Image

    with Image.open(path) as image:
        if target.suffix == ".jpg" and image.format == "JPEG" and image.getexif().get(ORIENTATION, 1) == 1:
            image.load()
            image.info = {}  # otherwise its comment would be written again
            image.save(target, quality="keep")
            return
    _pixels(path).save(target, quality=QUALITY)


def with_picture_features(table: pd.DataFrame, paths: list[Path]) -> tuple[pd.DataFrame, list[Column]]:
    """Return the table with image features: a thumbnail, colour histograms and roughness."""
    import numpy as np
    import pandas as pd

    found = np.array([_features(path) for path in paths])
    names = [f"picture feature {number}" for number in range(found.shape[1])]
    added = pd.DataFrame(found, columns=names, index=table.index)
    return pd.concat([table, added], axis=1), [Column(name, "number") for name in names]


def _features(path: Path) -> np.ndarray:
    import numpy as np
    from PIL import Image

    with Image.open(path) as image:
        coloured = np.asarray(image.convert("RGB").resize((48, 48)), dtype=float) / 255
        small = np.asarray(image.convert("L").resize(THUMBNAIL), dtype=float) / 255
    grey = coloured.mean(axis=2)
    histograms = [np.histogram(coloured[:, :, channel], BINS, (0, 1))[0] / grey.size for channel in range(3)]
    steps = [np.abs(np.diff(grey, axis=axis)) for axis in (0, 1)]
    rough = [statistic(step) for step in steps for statistic in (np.mean, np.std, np.max)]
    return np.concatenate([small.ravel(), *histograms, rough])
