"""Readies the process that workers are forked from for runs that ask models."""

from __future__ import annotations

from inspect_ai.model import get_model_info

get_model_info("none/none")  # has Inspect read what it knows of models: half a second
