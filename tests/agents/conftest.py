"""Prepared tasks for agents to work on."""

from __future__ import annotations

from agent_fixtures import data_dir

__all__ = ["data_dir"]
