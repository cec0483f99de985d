"""BMS Molecular Translation: which molecule is drawn in the picture?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import file_names, hex_ids, pictures, split_table, write_csv, write_files
from podium.metrics import mean_levenshtein
from podium.task import Columns, Text, competition

FILES = "train/{image_id[0]}/{image_id[1]}/{image_id[2]}/{image_id}.png"
EXTRA = "extra_approved_InChIs.csv"

task = competition(
    "bms-molecular-translation",
    title="Bristol-Myers Squibb: Molecular Translation",
    kind="image to text",
    metric=mean_levenshtein,
    # MLE-bench reads an empty prediction as NaN and compares the text "nan".
    submission=Columns(id="image_id", target="InChI", values=Text(empty="nan")),
)
split_table(task, 0.2, table="train_labels.csv", guess="InChI=1S/H2O/h1H2", files=FILES, shared=[EXTRA])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    sizes = rng.integers(3, 15, 80)
    chains = ["-".join(map(str, range(1, size + 1))) for size in sizes]
    names = [f"InChI=1S/C{n}H{2 * n + 2}/c{chain}/h1-{n}H" for n, chain in zip(sizes, chains, strict=True)]
    molecules = pd.DataFrame({"image_id": sorted(hex_ids(rng, len(sizes))), "InChI": names})
    write_csv(molecules, raw / "train_labels.csv")
    write_csv(molecules[["InChI"]].drop_duplicates(), raw / EXTRA)
    write_files(raw, pictures(rng, file_names(molecules, FILES), sizes, grey=True))
