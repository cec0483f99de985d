"""1st and Future: when do two football players, or a player and the ground, touch?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import write_bytes
from podium.data.files import link_files
from podium.data.split import split_values
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import matthews
from podium.task import Columns, competition

TABLES = ["baseline_helmets", "player_tracking", "video_metadata"]
VIEWS = ["All29", "Endzone", "Sideline"]
AS_MLE_BENCH = {"float_precision": None, "low_memory": False}
"""Pandas' own float parser; and player 2, an id or G for the ground, is read as text at once."""

task = competition(
    "nfl-player-contact-detection",
    title="1st and Future - Player Contact Detection",
    kind="video and tracking classification",
    metric=matthews,
    submission=Columns(id="contact_id", target="contact", values=bool),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_values(read_csv(raw / "train_labels.csv", **AS_MLE_BENCH), "game_play", 0.1)
    write_csv(train, public / "train_labels.csv")
    write_csv(sample_of(test, "contact_id", contact=0), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")
    for name in TABLES:
        table = read_csv(raw / f"train_{name}.csv", **AS_MLE_BENCH)
        for part, labels in (("train", train), ("test", test)):
            write_csv(table[table["game_play"].isin(labels["game_play"])], public / f"{part}_{name}.csv")
    for part, labels in (("train", train), ("test", test)):
        videos = [f"{play}_{view}.mp4" for play in labels["game_play"].unique() for view in VIEWS]
        link_files(raw / "train", public / part, videos)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    games, plays = rng.choice(1000, 30, replace=False) + 58_000, rng.integers(4500, size=30)
    play = pd.DataFrame({"game_play": [f"{game}_{number:06d}" for game, number in zip(games, plays, strict=True)]})
    play = play.assign(game_key=games, play_id=plays)
    players = pd.DataFrame({"nfl_player_id": rng.choice(9999, 4, replace=False) + 30_000, "team": ["home", "away"] * 2})
    players = players.assign(position="QB", jersey_number=range(10, 14), player_label=["H10", "V11", "H12", "V13"])
    steps = pd.DataFrame({"step": range(3), "datetime": [f"2020-09-11T03:01:48.{step}00Z" for step in range(3)]})
    tracking = play.merge(players, how="cross").merge(steps, how="cross")
    for name in ("x_position", "y_position", "speed", "distance", "direction", "orientation", "acceleration", "sa"):
        tracking[name] = rng.uniform(0, 6, len(tracking)).round(2)
    write_csv(tracking.drop(columns="player_label"), raw / "train_player_tracking.csv")
    write_csv(_fabricate_labels(tracking, rng), raw / "train_labels.csv")

    views = play.merge(pd.DataFrame({"view": VIEWS[1:]}), how="cross")
    helmets = views.assign(video=views["game_play"] + "_" + views["view"] + ".mp4", frame=1)
    helmets = helmets.merge(players[["nfl_player_id", "player_label"]], how="cross")
    boxes = {name: rng.integers(10, 700, len(helmets)) for name in ("left", "width", "top", "height")}
    write_csv(helmets.assign(**boxes), raw / "train_baseline_helmets.csv")
    for name, second in (("start_time", 43), ("end_time", 54), ("snap_time", 48)):
        views[name] = f"2020-09-11T03:01:{second}.000Z"
    write_csv(views, raw / "train_video_metadata.csv")
    for name in [f"{name}_{view}.mp4" for name in play["game_play"] for view in VIEWS]:
        write_bytes(raw / "train" / name, rng.bytes(16))


def _fabricate_labels(tracking: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Players touch when they are close; some touch the ground, which a pair of a player with itself stands for."""
    moments = tracking[["game_play", "datetime", "step", "nfl_player_id", "x_position", "y_position"]]
    pairs = moments.merge(moments, on=["game_play", "datetime", "step"], suffixes=("_1", "_2"))
    pairs = pairs[pairs["nfl_player_id_1"] <= pairs["nfl_player_id_2"]]
    ground = pairs["nfl_player_id_1"] == pairs["nfl_player_id_2"]
    apart = np.hypot(pairs["x_position_1"] - pairs["x_position_2"], pairs["y_position_1"] - pairs["y_position_2"])
    labels = pairs[["game_play", "datetime", "step", "nfl_player_id_1", "nfl_player_id_2"]].astype(str)
    labels["nfl_player_id_2"] = labels["nfl_player_id_2"].mask(ground, "G")
    labels.insert(0, "contact_id", labels.drop(columns="datetime").agg("_".join, axis=1))
    return labels.assign(contact=np.where(ground, rng.random(len(pairs)) < 0.1, apart < 2).astype(int))
