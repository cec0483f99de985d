"""Facebook Recruiting III: which tags did the question get?"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import read_csv, sentences, split_rows, write_csv, write_zip
from podium.metrics import label_micro_f1
from podium.task import Columns, competition

task = competition(
    "facebook-recruiting-iii-keyword-extraction",
    title="Facebook Recruiting III: Keyword Extraction",
    kind="text tagging",
    # MLE-bench does not count predicted tags that no test question has.
    metric=label_micro_f1.using(ignore_unknown=True),
    submission=Columns(id="Id", target="Tags", values=str),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path, *, fixed: bool = False) -> None:
    # As in MLE-bench, the tag "null" is read as missing in v1, where it stands alone.
    kinds = str if fixed else {"Id": str, "Tags": str}
    questions = read_csv(raw / "Train.zip", dtype=kinds, keep_default_na=not fixed)
    train, test = split_rows(questions, 0.1)
    if fixed:
        wording = pd.util.hash_pandas_object(questions[["Title", "Body"]], index=False)
        train = train[~wording[train.index].isin(wording[test.index])]
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="Tags"), public / "test.csv")
    write_csv(test.assign(Tags="javascript c# python php java"), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    names = ["javascript", "c#", "python", "php", "java", "asp.net-mvc-3", "r", "regex", "sql-server-2008", "null"]
    count = 300
    tags = [" ".join(rng.choice(names, rng.integers(1, 4), replace=False)) for _ in range(count)]
    titles = [f"{text} {tag}?" for text, tag in zip(sentences(rng, count), tags, strict=True)]
    bodies = [f'<p>{text}</p>\r\n\n<pre><code>x = "1, 2";</code></pre>\n' for text in sentences(rng, count)]
    table = pd.DataFrame({"Title": titles, "Body": bodies, "Tags": tags})
    again = rng.integers(count, size=count // 10)
    table = pd.concat([table, table.iloc[again]], ignore_index=True)
    table.insert(0, "Id", np.arange(1, len(table) + 1))
    write_zip(raw / "Train.zip", [("Train.csv", table.to_csv(index=False, quoting=1).encode())])


task.fixed(
    "Questions that are asked again in the test part leave the training part, the tag 'null' is kept, and every wrong "
    "tag counts.",
    prepare=partial(prepare, fixed=True),
    metric=label_micro_f1,
)
