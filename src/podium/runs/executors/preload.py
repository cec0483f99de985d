"""Readies the process that workers are forked from: done last, and once for all runs."""

from __future__ import annotations

import gc

from inspect_ai.model import get_model_info

from podium import plugins

get_model_info("none/none")  # has Inspect read what it knows of models: half a second
plugins.offered("tasks", {})
gc.collect()
gc.freeze()  # workers need not look through what never goes, and their memory stays shared
