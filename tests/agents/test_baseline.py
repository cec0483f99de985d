"""The floor has a submission wherever there is a sample."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import py7zr
import pytest

from podium.agents.baseline import UNPACK

SAMPLE = "id,target\n1,0.5\n"


@pytest.mark.parametrize("archive", ["sample.csv.7z", "sample.csv.zip"])
def test_a_sample_in_an_archive_is_taken_out(archive: str, tmp_path: Path) -> None:
    (tmp_path / "sample.csv").write_text(SAMPLE)
    if archive.endswith(".7z"):
        with py7zr.SevenZipFile(tmp_path / archive, "w") as packed:
            packed.write(tmp_path / "sample.csv", "sample.csv")
    else:
        with zipfile.ZipFile(tmp_path / archive, "w") as zipped:
            zipped.write(tmp_path / "sample.csv", "folder/sample.csv")
    script = UNPACK.format(sample=archive, submission="submission.csv")
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    assert (tmp_path / "submission.csv").read_text() == SAMPLE
