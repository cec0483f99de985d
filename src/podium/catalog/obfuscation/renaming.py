"""Consistent new names of columns, ids, categories and files, stored in the private folder."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

NAMES_FILE = "names.json"
_PARTS = re.compile(r"([_\-./])")


@dataclass
class Names:
    """Mapping from old to new names."""

    seed: int
    columns: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    """New names of categories, shared by all columns."""
    pieces: dict[str, str] = field(default_factory=dict)
    """New names of the parts of ids between separators, so that ids with a common part keep one."""
    files: dict[str, str] = field(default_factory=dict)
    ids_stay: bool = False
    """True if ids keep their names because files are named after them."""

    def column(self, name: str) -> str:
        """Return the new name of a column; a column that is also a category gets the same name."""
        if name not in self.columns:
            self.columns[name] = self.values.get(name) or f"column_{len(self.columns) + 1}"
        return self.columns[name]

    def value(self, text: str) -> str:
        """Return the new name of a category."""
        if text not in self.values:
            self.values[text] = self.columns.get(text) or f"value_{len(self.values) + 1}"
        return self.values[text]

    def learn_ids(self, ids: Collection[str]) -> None:
        """Draw new parts for all ids; numeric parts stay numeric."""
        pieces = sorted({piece for name in ids for piece in _PARTS.split(name)[::2]})
        if not pieces:
            return
        width = max(max(map(len, pieces)), len(str(3 * len(pieces))))
        rng = np.random.default_rng(self.seed)
        drawn = rng.choice(10 ** min(width, 15), len(pieces), replace=False).tolist()
        form = "{}" if all(piece.isdigit() for piece in pieces) else "r{}"
        self.pieces = {piece: form.format(number) for piece, number in zip(pieces, drawn, strict=True)}

    def new_id(self, name: str) -> str:
        """Return the new name of a row."""
        if self.ids_stay:
            return str(name)
        parts = _PARTS.split(str(name))
        return "".join(self.pieces.get(part, part) if place % 2 == 0 else part for place, part in enumerate(parts))

    def old_id(self, name: str) -> str:
        """Return the original name of a row."""
        if self.ids_stay:
            return str(name)
        parts = _PARTS.split(str(name))
        return "".join(self._old_pieces.get(part, part) if place % 2 == 0 else part for place, part in enumerate(parts))

    def old_value(self, text: str) -> str:
        """Return the original name of a category; other texts are unchanged."""
        return self._old_values.get(text, text)

    @cached_property
    def _old_pieces(self) -> dict[str, str]:
        return {new: old for old, new in self.pieces.items()}

    @cached_property
    def _old_values(self) -> dict[str, str]:
        return {new: old for old, new in self.values.items()}


def seed_of(task_id: str) -> int:
    """Return a seed that depends only on the task, so that the data is the same on every machine."""
    return int.from_bytes(hashlib.sha256(f"obfuscated {task_id}".encode()).digest()[:8], "little")


def write_names(names: Names, private: Path) -> None:
    (private / NAMES_FILE).write_text(json.dumps(asdict(names)), encoding="utf-8")


def read_names(private: Path) -> Names:
    return Names(**json.loads((private / NAMES_FILE).read_text(encoding="utf-8")))
