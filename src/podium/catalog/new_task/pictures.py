"""A folder of pictures as a table: what each is labelled with, and numbers that pipelines can learn from."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from podium.catalog.new_task.cells import read_cells
from podium.data.columns import Column
from podium.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
PICTURE = "picture"
"""The column with the path of each row's picture."""
LABEL = "label"
THUMBNAIL = (10, 10)
BINS = 6


def read_pictures(folder: Path) -> pd.DataFrame:
    """A row for each picture: those of a table in the folder that names them, or the subfolder as the label.

    Raises:
        UsageError: there are none, or nothing says what they show.
    """
    import pandas as pd

    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    if not paths:
        raise UsageError(f"There are no pictures in {folder}; they end in {', '.join(SUFFIXES)}.")
    tables = sorted(path for path in folder.iterdir() if path.suffix.lower() in (".csv", ".tsv", ".parquet"))
    if len(tables) > 1:
        raise UsageError(f"{folder} has several tables ({', '.join(path.name for path in tables)}); leave one of them.")
    if tables:
        return _named_in(read_cells(tables[0]), tables[0], folder, paths)
    loose = [path for path in paths if path.parent == folder]
    if loose:
        raise UsageError(
            f"Nothing says what {loose[0].name} shows. Put pictures into a subfolder for each class, or add a table "
            f"with a column of file names: {folder / 'labels.csv'}"
        )
    names = [str(path.relative_to(folder)) for path in paths]
    return _without_repeated(pd.DataFrame({PICTURE: names, LABEL: [Path(name).parts[0] for name in names]}), folder)


def _named_in(cells: pd.DataFrame, table: Path, folder: Path, paths: list[Path]) -> pd.DataFrame:
    """The rows of a table with the picture that one of its columns names, with or without its ending."""
    known = {key: str(path.relative_to(folder)) for path in paths for key in (path.stem, path.name)}
    known |= {str(path.relative_to(folder)): str(path.relative_to(folder)) for path in paths}
    shares = {str(name): cells[name].isin(known).mean() for name in cells}
    column = max(shares, key=lambda name: shares[name])
    if shares[column] < 0.5:
        raise UsageError(f"No column of {table} names the pictures of {folder}, such as {paths[0].name}.")
    rows = cells[cells[column].isin(known)].reset_index(drop=True)
    return _without_repeated(rows.drop(columns=column).assign(**{PICTURE: rows[column].map(known)}), folder)


def _without_repeated(rows: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Without pictures whose pixels are those of an earlier one."""
    return rows[~rows[PICTURE].map(lambda name: _digest(folder / name)).duplicated()].reset_index(drop=True)


def _digest(path: Path) -> str:
    from PIL import Image

    try:
        with Image.open(path) as image:
            return hashlib.sha256(repr(image.size).encode() + image.convert("RGB").tobytes()).hexdigest()
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise UsageError(f"{path} cannot be read as a picture: {error}") from error


def copy_pictures(rows: pd.DataFrame, id_column: str, source: Path, target: Path) -> str:
    """Writes every picture under the id of its row, without what cameras add to it; gives back how names end."""
    from PIL import Image

    suffixes = {Path(name).suffix.lower() for name in rows[PICTURE]}
    suffix = ".jpg" if suffixes <= {".jpg", ".jpeg"} else ".png"
    target.mkdir()
    for name, key in zip(rows[PICTURE], rows[id_column], strict=True):
        with Image.open(source / name) as image:
            if suffix == ".jpg" and image.format == "JPEG":
                image.save(target / f"{key}{suffix}", quality="keep")
            else:
                image.convert("L" if image.mode in ("1", "L") else "RGB").save(target / f"{key}{suffix}")
    return suffix


def with_picture_features(table: pd.DataFrame, paths: list[Path]) -> tuple[pd.DataFrame, list[Column]]:
    """The table with numbers about each picture: a thumbnail, histograms of its colours, and how rough it is."""
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
