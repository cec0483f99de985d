"""Results of experiments: tables, statistics, comparisons, exports and pages. Calling the package makes a report."""

from __future__ import annotations

import sys

from podium.plugins import CallablePackage

sys.modules[__name__].__class__ = CallablePackage
