"""Our fingerprints beside copydetect's: whatever it takes for a copy, we do too."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from mutations import MUTATIONS
from test_similarity import scripts

from podium.integrity.similarity import find_similar

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
GRAM, WINDOW = 25, 1
"""Copydetect's defaults."""
COPIED = 0.6
"""Share from which on MLE-bench's authors looked at a pair."""


def test_copies_that_copydetect_finds_are_found(tmp_path: Path) -> None:
    copydetect = pytest.importorskip("copydetect")
    rng, checked = random.Random(0), {True: 0, False: 0}
    files = {script: tmp_path / f"{number}.py" for number, script in enumerate(scripts())}
    for script, path in files.items():
        path.write_text(script.source, encoding="utf-8")
    originals = {
        script: copydetect.CodeFingerprint(str(path), k=GRAM, win_size=WINDOW) for script, path in files.items()
    }
    for way, mutate in MUTATIONS.items():
        for script in scripts()[::3]:
            other = rng.choice(scripts()) if rng.random() < 0.5 else script
            copy = type(script)("copy", way, mutate(other.source, rng))
            (tmp_path / "copy.py").write_text(copy.source, encoding="utf-8")
            theirs = copydetect.CodeFingerprint(str(tmp_path / "copy.py"), k=GRAM, win_size=WINDOW)
            _, shares, _ = copydetect.compare_files(originals[script], theirs)
            ours = find_similar([copy], [script])
            if max(shares) >= COPIED:
                assert ours, f"{script.name}, {way}: copydetect {max(shares):.2f}"
                checked[True] += 1
            elif script != other and max(shares) == 0:
                assert not ours, f"{script.name} and {other.name}: ours {ours[0].similarity:.2f}"
                checked[False] += 1
    assert min(checked.values()) >= 20
