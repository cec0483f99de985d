"""Readies the process that workers are forked from: done last, and once for all runs."""

from __future__ import annotations

import gc

from podium import plugins

plugins.offered("tasks", {})
gc.collect()
gc.freeze()  # workers need not look through what never goes, and their memory stays shared
