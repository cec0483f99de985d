"""The clock of scripts starts with each test."""

from __future__ import annotations

from recipe_fixtures import script_started_now

__all__ = ["script_started_now"]
