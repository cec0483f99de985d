"""TensorFlow 2.0 Question Answering: which passage of an encyclopaedia page answers the question?"""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.data.building_blocks import sample_of, sentences, split_rows, write_csv, write_json_lines
from podium.errors import InvalidSubmission
from podium.metrics import accuracy, f1
from podium.task import Columns, Metric, competition

TRAIN, TEST = "simplified-nq-train.jsonl", "simplified-nq-test.jsonl"
SHOWN = ["example_id", "question_text", "document_text", "long_answer_candidates"]

task = competition(
    "tensorflow2-question-answering",
    title="TensorFlow 2.0 Question Answering",
    kind="extractive question answering",
    metric=accuracy.using(title="Micro F1"),
    submission=Columns(id="example_id", target="PredictionString", values=str, answers="test.jsonl"),
    known_leaks="Ids name the kind of answer that is asked for, long or short.",
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    rows: list[tuple[str, str]] = []
    # As in MLE-bench, every thousand lines are split by themselves.
    for chunk in pd.read_json(raw / TRAIN, lines=True, chunksize=1000):
        train, test = split_rows(chunk.astype({"example_id": str}), 0.1)
        for table, path in ((train, public / TRAIN), (test[SHOWN], public / TEST), (test, private / "test.jsonl")):
            write_json_lines(table, path, mode="a")
        for example in test.to_dict("records"):
            rows += [(name, next(iter(accepted), "")) for name, accepted in _accepted(example)]
    gold = pd.DataFrame(rows, columns=["example_id", "PredictionString"])
    write_csv(gold, private / "gold_submission.csv")
    write_csv(sample_of(gold, "example_id", PredictionString=""), public / "sample_submission.csv")


def _accepted(example: dict[Any, Any]) -> list[tuple[str, list[str]]]:
    """Return the two rows of an example, each with the answers that count as right."""
    annotation, name = example["annotations"][0], example["example_id"]
    yes_or_no = [annotation["yes_no_answer"]] if annotation["yes_no_answer"] != "NONE" else []
    long = [annotation["long_answer"]] if annotation["long_answer"]["start_token"] != -1 else []
    return [(f"{name}_short", yes_or_no + _spans(annotation["short_answers"])), (f"{name}_long", _spans(long))]


def _spans(answers: list[dict[str, int]]) -> list[str]:
    return [f"{answer['start_token']}:{answer['end_token']}" for answer in answers]


@task.answers
def read_answers(private: Path) -> pd.DataFrame:
    rows = []
    with (private / "test.jsonl").open("rb") as lines:
        for line in lines:
            # The page, nearly all of the line, comes before the annotations and need not be parsed.
            rows += _accepted(json.loads(b"{" + line[line.rindex(b'"annotations":[') :]))
    return pd.DataFrame(rows, columns=["example_id", "accepted"])


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame, *, metric: Metric = accuracy) -> float:
    texts = submission["PredictionString"].str.strip()
    malformed = ~texts.str.fullmatch(r"(?:YES|NO|-?\d{1,18}\s*:\s*-?\d{1,18})?")
    if malformed.any():
        name, text = submission["example_id"][malformed.idxmax()], texts[malformed.idxmax()][:40]
        raise InvalidSubmission(f"{name}: '{text}' is not an answer; YES, NO, a span (17:25) or a blank is expected.")
    guesses = [":".join(str(int(end)) for end in text.split(":")) if ":" in text else text for text in texts]
    pairs = zip(guesses, answers["accepted"], strict=True)
    right = [guess in accepted if guess else bool(accepted) for guess, accepted in pairs]
    # As in MLE-bench: what it calls micro F1 is the accuracy, where a rightly blank row counts as correct.
    return metric(right, texts.ne(""))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    short, no_span, examples = [{"start_token": 1, "end_token": 2}], {"start_token": -1, "end_token": -1}, []
    for number, text in enumerate(sentences(rng, 1030, words=6)):  # a little more than a chunk
        page, answered = {"start_token": 0, "end_token": len(text.split()) + 2}, text < "m"
        annotation = {
            "yes_no_answer": "YES" if answered and number % 9 == 0 else "NONE",
            "long_answer": page if answered else no_span,
            "short_answers": short if answered and number % 3 else [],
        }
        shown = f"<P> {text} </P> <P> né 1/2 </P>", [page | {"top_level": True}], f"where is {text.split()[0]}"
        name = rng.integers(-(2**63), 2**63 - 1)
        examples.append((*shown, [annotation], f"https://en.wikipedia.org//w/index.php?oldid={number}", name))
    columns = ["document_text", "long_answer_candidates", "question_text", "annotations", "document_url", "example_id"]
    write_json_lines(pd.DataFrame(examples, columns=columns), raw / TRAIN, force_ascii=False)


task.fixed(
    "v1 scores accuracy instead of the F1 of the answers that are given.", score=partial(score, metric=f1), metric=f1
)
