"""Registry of the families; a family is imported only when one of its tasks is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from podium.catalog.forge.family import Family

FIXED_FAMILIES = (
    "tabular-classification",
    "tabular-regression",
    "time-series",
    "text-classification",
    "image-classification",
    "image-segmentation",
    "graph",
    "ranking",
    "audio",
)
"""Families whose tables and mechanism have one structure in all tasks; the suite `quick` has a task of each."""
WORLD_FAMILIES = (
    "tables-classification",
    "tables-regression",
    "survival",
    "ordinal",
    "multi-label",
    "quantiles",
    "entity-matching",
    "edge-prediction",
    "sequence-labelling",
    "anomaly-detection",
    "counting",
    "log-classification",
    "hierarchical-forecasts",
    "multimodal",
)
"""Families whose structures are drawn."""
FAMILIES = (*FIXED_FAMILIES, *WORLD_FAMILIES)
TINY_FAMILIES = ("tabular-classification", "tabular-regression", "text-classification", *WORLD_FAMILIES)
"""Families with a field that trains in milliseconds, so that training can have a fresh task for every episode."""


def load_family(name: str) -> Family:
    """Import and return a family by name."""
    module = import_module(f"podium.catalog.forge.families.{name.replace('-', '_')}")
    family: Family = module.family
    return family
