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


@pytest.mark.parametrize("archive", ["sample.csv.7z", "sample.csv.zip", "sample.txt.zip"])
def test_a_sample_in_an_archive_is_taken_out(archive: str, tmp_path: Path) -> None:
    sample = tmp_path / Path(archive).stem
    sample.write_text(SAMPLE)
    if archive.endswith(".7z"):
        with py7zr.SevenZipFile(tmp_path / archive, "w") as packed:
            packed.write(sample, sample.name)
    else:
        with zipfile.ZipFile(tmp_path / archive, "w") as zipped:
            zipped.write(sample, f"folder/{sample.name}")
    script = UNPACK.format(sample=archive, submission="submission.csv")
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    assert (tmp_path / "submission.csv").read_text() == SAMPLE
