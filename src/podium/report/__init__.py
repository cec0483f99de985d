"""The results of experiments: tables, statistics, comparisons, exports, pages.

Calling the package makes a report. The function `podium.report` and this package share their name, and importing any
module of the package would hide the function otherwise.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> Any:
        from podium.report.document import report

        return report(*args, **options)


sys.modules[__name__].__class__ = _Package
