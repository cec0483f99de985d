"""Random Acts of Pizza: which requests for a free pizza are granted?"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, read_json, sentences, split_rows, write_answers, write_json, write_zip
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

ID, TARGET = "request_id", "requester_received_pizza"
COUNTS = """account_age_in_days days_since_first_post_on_raop number_of_comments number_of_comments_in_raop
number_of_posts number_of_posts_on_raop upvotes_minus_downvotes upvotes_plus_downvotes"""

task = competition(
    "random-acts-of-pizza",
    title="Random Acts of Pizza",
    kind="text and tabular classification",
    metric=roc_auc,
    submission=Columns(id=ID, target=TARGET, values=Number(0, 1), sample="sampleSubmission.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path, *, without: tuple[str, ...] = ()) -> None:
    requests, unanswered = read_json(raw / "train.json"), read_json(raw / "test.json")
    train, test = split_rows(requests, len(unanswered) / (len(requests) + len(unanswered)))
    _write_requests(train, [name for name in train[0] if name not in without], public / "train.json")
    _write_requests(test, [name for name in unanswered[0] if name not in without], public / "test.json")
    answers = pd.DataFrame(test)[[ID, TARGET]].astype({TARGET: int})
    write_answers(task.form, answers, public, private, guess=0)


def _write_requests(requests: list[Any], fields: list[str], path: Path) -> None:
    """Write the list as a file, and as a ZIP next to it."""
    write_json([{name: request[name] for name in fields} for request in requests], path, indent=4)
    write_zip(path.with_suffix(".zip"), [(path.name, path)])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    names, texts, titles = hex_ids(rng, 210, 6), sentences(rng, 210), sentences(rng, 210)
    karma, sent = rng.exponential(800, 210).astype(int), rng.integers(1_297_000_000, 1_380_000_000, 210).astype(float)
    received = rng.random(210) < np.where(karma > 800, 0.7, 0.2)
    table = pd.DataFrame({ID: [f"t3_{name}" for name in names], TARGET: received, "request_text_edit_aware": texts})
    table["request_text"] = table["request_text_edit_aware"] + np.where(received, "\n\nEDIT: thanks!", "")
    table["request_title"] = [f"[Request] {title} …" for title in titles]
    table["giver_username_if_known"] = np.where(received & (rng.random(210) < 0.3), "giver", "N/A")
    table["requester_username"] = [f"user_{name}" for name in names]
    table["requester_user_flair"], table["post_was_edited"] = received.astype(str), received
    table["requester_subreddits_at_request"] = [["AskReddit"]] * len(table)
    table["requester_number_of_subreddits_at_request"] = 1
    table["unix_timestamp_of_request"], table["unix_timestamp_of_request_utc"] = sent, sent - 3600
    for count in COUNTS.split():
        table[f"requester_{count}_at_request"] = table[f"requester_{count}_at_retrieval"] = karma
    for count in ("number_of_downvotes_of_request", "number_of_upvotes_of_request", "request_number_of_comments"):
        table[f"{count}_at_retrieval"] = rng.integers(20, size=210)
    requests: list[Any] = table.sort_index(axis=1).to_dict("records")
    _write_requests(requests[:150], list(requests[0]), raw / "train.json")
    later = ("at_retrieval", "post_was_edited", "request_text", "pizza", "flair")
    _write_requests(requests[150:], [name for name in requests[0] if not name.endswith(later)], raw / "test.json")


task.fixed(
    "The giver's name, known only where a pizza was given, is left out.",
    prepare=partial(prepare, without=("giver_username_if_known",)),
)
