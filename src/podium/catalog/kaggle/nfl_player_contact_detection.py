"""1st and Future: when do two football players, or a player and the ground, touch?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    RAW_ORDER,
    link_files,
    read_csv,
    split_values,
    write_bytes,
    write_csv,
    write_parts,
)
from podium.metrics import matthews
from podium.task import Columns, competition

TABLES = ["baseline_helmets", "player_tracking", "video_metadata"]
VIEWS = ["All29", "Endzone", "Sideline"]
SECONDS = {"start": 43, "end": 54, "snap": 48}
AS_MLE_BENCH = {"float_precision": None, "low_memory": False}
"""Pandas' own float parser; and player 2, an id or G for the ground, is read as text at once."""

task = competition(
    "nfl-player-contact-detection",
    title="1st and Future - Player Contact Detection",
    kind="video and tracking classification",
    metric=matthews,
    submission=Columns(id="contact_id", target="contact", values=bool),
    known_leaks=RAW_ORDER,
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    labels = split_values(read_csv(raw / "train_labels.csv", **AS_MLE_BENCH), "game_play", 0.1)
    write_parts(task.form, labels, public, private, guess=0, train="train_labels.csv")
    tables = {name: read_csv(raw / f"train_{name}.csv", **AS_MLE_BENCH) for name in TABLES}
    for part, plays in zip(("train", "test"), (rows["game_play"].unique() for rows in labels), strict=True):
        for name, table in tables.items():
            write_csv(table[table["game_play"].isin(plays)], public / f"{part}_{name}.csv")
        link_files(raw / "train", public / part, [f"{play}_{view}.mp4" for play in plays for view in VIEWS])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    games, plays = rng.choice(1000, 30, replace=False) + 58_000, rng.integers(4500, size=30)
    play = pd.DataFrame({"game_play": [f"{game}_{number:06d}" for game, number in zip(games, plays, strict=True)]})
    play = play.assign(game_key=games, play_id=plays, datetime="2020-09-11T03:01:48.100Z")
    players = pd.DataFrame({"nfl_player_id": rng.choice(9999, 4, replace=False) + 30_000, "team": ["home", "away"] * 2})
    players = players.assign(position="QB", jersey_number=range(10, 14))
    tracking = play.merge(players, how="cross").merge(pd.DataFrame({"step": range(3)}), how="cross")
    for name in ("x_position", "y_position", "speed", "distance", "direction", "orientation", "acceleration", "sa"):
        tracking[name] = rng.uniform(0, 6, len(tracking)).round(2)
    write_csv(tracking, raw / "train_player_tracking.csv")
    write_csv(_fabricate_labels(tracking, rng), raw / "train_labels.csv")
    views = play.drop(columns="datetime").merge(pd.DataFrame({"view": VIEWS[1:]}), how="cross")
    times = {f"{name}_time": f"2020-09-11T03:01:{second}.000Z" for name, second in SECONDS.items()}
    write_csv(views.assign(**times), raw / "train_video_metadata.csv")
    helmets = views.assign(video=views["game_play"] + "_" + views["view"] + ".mp4", frame=1)
    helmets = helmets.merge(players[["nfl_player_id"]], how="cross")
    helmets["player_label"] = ["H10", "V11", "H12", "V13"] * len(views)
    boxes = {name: rng.integers(10, 700, len(helmets)) for name in ("left", "width", "top", "height")}
    write_csv(helmets.assign(**boxes), raw / "train_baseline_helmets.csv")
    for name in [f"{name}_{view}.mp4" for name in play["game_play"] for view in VIEWS]:
        write_bytes(raw / "train" / name, rng.bytes(16))


def _fabricate_labels(tracking: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Fabricate contacts: players touch when they are close, or touch the ground (a pair of a player with itself)."""
    keys, places = ["game_play", "datetime", "step"], ["x_position", "y_position"]
    moments = tracking[[*keys, "nfl_player_id", *places]]
    pairs = moments.merge(moments, on=keys, suffixes=("_1", "_2")).query("nfl_player_id_1 <= nfl_player_id_2")
    ground = pairs["nfl_player_id_1"] == pairs["nfl_player_id_2"]
    apart = np.linalg.norm([pairs[f"{place}_1"] - pairs[f"{place}_2"] for place in places], axis=0)
    labels = pairs[[*keys, "nfl_player_id_1", "nfl_player_id_2"]].astype(str)
    labels["nfl_player_id_2"] = labels["nfl_player_id_2"].mask(ground, "G")
    labels.insert(0, "contact_id", labels.drop(columns="datetime").agg("_".join, axis=1))
    return labels.assign(contact=np.where(ground, rng.random(len(pairs)) < 0.1, apart < 2).astype(int))
