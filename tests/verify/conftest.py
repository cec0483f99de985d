"""Fixtures of real runs."""

from __future__ import annotations

from run_fixtures import data_dir, finished, perfect, play, s3, script

__all__ = ["data_dir", "finished", "perfect", "play", "s3", "script"]
