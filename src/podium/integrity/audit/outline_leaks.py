"""Outline leaks: polygons around the targets in files beside the test pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from podium.integrity.audit.audited_task import AuditedTask, TaskFinding
from podium.integrity.audit.label_leaks import files_of_rows

MIN_OVERLAP = 0.8
"""Smallest overlap of two equivalent boxes, as a share of their union."""
_MAX_POINTS = 1_000_000
Corners = tuple[float, float, float, float]


def outlines_of_masks(task: AuditedTask) -> Iterator[TaskFinding]:
    """Find run-length masks whose bounding box is that of polygons in a file of the same test row."""
    pictures = {row: file.path for row, file in files_of_rows(task) if _size(file.path) is not None}
    files = [(row, file) for row, file in files_of_rows(task) if file.path.suffix.lower() in (".json", ".geojson")]
    for target in task.targets:
        by_kind: dict[str, list[float]] = {}
        for row, file in files:
            size = _size(pictures[row]) if row in pictures else None
            wanted = [] if size is None else _mask_boxes(str(task.answers[target][row]), size)
            outline = _polygon_box(file.path)
            if wanted and outline:
                kind = file.name.rsplit("/", 1)[-1].replace(Path(task.ids[row]).stem, "ID")
                by_kind.setdefault(kind, []).append(max(_overlap(box, outline) for box in wanted))
        for kind, overlaps in by_kind.items():
            if np.mean(overlaps) > MIN_OVERLAP:
                reason = f"Polygons in {kind} surround the areas of {target} in {len(overlaps)} test rows."
                yield task.finding("answers drawn in a public file", reason, 0.97, file=kind)


def _size(path: Path) -> tuple[int, int] | None:
    from PIL import Image

    if path.suffix.lower() not in (".tif", ".tiff", ".png", ".jpg", ".jpeg"):
        return None
    try:
        with Image.open(path) as image:
            return image.size
    except (OSError, ValueError, Image.DecompressionBombError):
        return None


def _mask_boxes(runs: str, size: tuple[int, int]) -> list[Corners]:
    """Return the boxes around a mask, read by columns and by rows."""
    parts = runs.split()
    if len(parts) < 2 or len(parts) % 2 or not all(part.isdigit() for part in parts):
        return []
    numbers = np.array(parts, dtype=np.int64).reshape(-1, 2)
    first, last = numbers[:, 0] - 1, numbers[:, 0] + numbers[:, 1] - 2
    width, height = size
    boxes = []
    for line, down in ((height, True), (width, False)):
        across = np.concatenate([first // line, last // line])
        along = np.concatenate([first % line, last % line])
        box = across.min(), along.min(), across.max() + 1, along.max() + 1
        boxes.append(box if down else (box[1], box[0], box[3], box[2]))
    return [tuple(float(edge) for edge in box) for box in boxes]  # type: ignore[misc]


def _polygon_box(path: Path) -> Corners | None:
    """Return the box around all points of the polygons in a JSON file, or None."""
    try:
        document = json.loads(path.read_bytes()[: 64 << 20])
    except (ValueError, RecursionError):
        return None
    points = list(_points(document))
    if len(points) < 3:
        return None
    table = np.array(points)
    (left, top), (right, bottom) = table.min(axis=0), table.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


def _points(document: Any) -> Iterator[tuple[float, float]]:
    pending, count = [document], 0
    while pending and count < _MAX_POINTS:
        value = pending.pop()
        if isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            if len(value) == 2 and all(isinstance(part, int | float) for part in value):
                count += 1
                yield float(value[0]), float(value[1])
            else:
                pending += value


def _overlap(one: Corners, other: Corners) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    shared = max(width, 0.0) * max(height, 0.0)
    both = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)) - shared
    return shared / both if both > 0 else 0.0
