"""Renews the vectors of all competitions, or of those named: `python tests/catalog/make_vectors.py [ID ...]`.

They were first made with code whose results equal MLE-bench's own (scripts/check_fidelity.py); renew them only for a
change that is meant.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from competitions import VECTORS, competition_ids, summary

import podium


def main() -> None:
    vectors = json.loads(VECTORS.read_text(encoding="utf-8")) if VECTORS.exists() else {}
    for task_id in sys.argv[1:] or competition_ids():
        with tempfile.TemporaryDirectory() as folder:
            vectors[task_id] = summary(podium.load(task_id), Path(folder))
        print(task_id, vectors[task_id], flush=True)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(vectors[name])}" for name in sorted(vectors))
    VECTORS.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
