"""Fork server preparation: imported last, once for all runs."""

from __future__ import annotations

import gc

from podium import plugins

plugins.offered("tasks", {})
gc.collect()
gc.freeze()  # workers need not scan objects that are never freed, and their memory stays shared
