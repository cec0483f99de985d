"""Random Acts of Pizza: which requests for a free pizza are granted?"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.data.archives import write_zip
from podium.data.fabricate import hex_ids, sentences
from podium.data.split import split_rows
from podium.data.tables import read_json, sample_of, write_csv
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

ID, TARGET = "request_id", "requester_received_pizza"

task = competition(
    "random-acts-of-pizza",
    title="Random Acts of Pizza",
    kind="text and tabular classification",
    metric=roc_auc,
    submission=Columns(id=ID, target=TARGET, values=Number(0, 1), sample="sampleSubmission.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    requests, unanswered = read_json(raw / "train.json"), read_json(raw / "test.json")
    train, test = split_rows(requests, len(unanswered) / (len(requests) + len(unanswered)))
    _write_requests(train, list(train[0]), public / "train.json")
    _write_requests(test, list(unanswered[0]), public / "test.json")
    answers = pd.DataFrame(test)[[ID, TARGET]].astype({TARGET: int})
    write_csv(sample_of(answers, ID, **{TARGET: 0}), public / "sampleSubmission.csv")
    write_csv(answers, private / "test.csv")


def _write_requests(requests: list[dict[str, Any]], fields: list[str], path: Path) -> None:
    """The list as a file and once more, zipped, beside it."""
    chosen = [{name: request[name] for name in fields} for request in requests]
    path.write_text(json.dumps(chosen, indent=4), encoding="utf-8")
    write_zip(path.with_suffix(".zip"), [(path.name, path.read_bytes())])


def prepare_fixed(raw: Path, public: Path, private: Path) -> None:
    """Leaves out who gave the pizza."""
    prepare(raw, public, private)
    for path in (public / "train.json", public / "test.json"):
        requests = read_json(path)
        _write_requests(requests, [name for name in requests[0] if name != "giver_username_if_known"], path)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    requests = [_fabricate_request(name, rng) for name in hex_ids(rng, 210, 6)]
    _write_requests(requests[:150], list(requests[0]), raw / "train.json")
    later = ("at_retrieval", "post_was_edited", "request_text", "pizza", "flair")
    fields = [name for name in requests[0] if not name.endswith(later)]
    _write_requests(requests[150:], fields, raw / "test.json")


def _fabricate_request(name: str, rng: np.random.Generator) -> dict[str, Any]:
    karma, sent = int(rng.exponential(800)), float(rng.integers(1_297_000_000, 1_380_000_000))
    received = bool(rng.random() < (0.7 if karma > 800 else 0.2))
    text, title = sentences(rng, 2)
    request: dict[str, Any] = {
        "giver_username_if_known": f"giver_{name}" if received and rng.random() < 0.3 else "N/A",
        "post_was_edited": received,
        ID: f"t3_{name}",
        "request_text": text + ("\n\nEDIT: thanks!" if received else ""),
        "request_text_edit_aware": text,
        "request_title": f"[Request] {title} …",
        "requester_number_of_subreddits_at_request": 1,
        TARGET: received,
        "requester_subreddits_at_request": ["AskReddit"],
        "requester_user_flair": "shroom" if received else None,
        "requester_username": f"user_{name}",
        "unix_timestamp_of_request": sent,
        "unix_timestamp_of_request_utc": sent - 3600,
    }
    votes = ("number_of_downvotes_of_request", "number_of_upvotes_of_request", "request_number_of_comments")
    request |= {f"{count}_at_retrieval": int(rng.integers(20)) for count in votes}
    counts = "account_age_in_days days_since_first_post_on_raop number_of_comments number_of_comments_in_raop "
    counts += "number_of_posts number_of_posts_on_raop upvotes_minus_downvotes upvotes_plus_downvotes"
    request |= {f"requester_{count}_at_{when}": karma for count in counts.split() for when in ("request", "retrieval")}
    return dict(sorted(request.items()))


task.fixed("The giver's name, known only where a pizza was given, is left out.", prepare=prepare_fixed)
