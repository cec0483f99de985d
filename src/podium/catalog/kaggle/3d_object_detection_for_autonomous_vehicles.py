"""Lyft 3D Object Detection: where are the cars, people and bicycles around a self-driving car?"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_file, read_csv, read_json, split_rows, write_csv, write_json, write_parts
from podium.data.fabricate import hex_ids, picture, write_bytes
from podium.metrics import box3d_map
from podium.task import Columns, competition

MAP = "map_raster_palo_alto.png"
WHOLE = ("attribute", "category", "sensor", "visibility")
LABELS = ("sample_annotation", "instance")
TABLES = (*WHOLE, *LABELS, "log", "scene", "sample", "sample_data", "calibrated_sensor", "ego_pose", "map")

Tables = dict[str, list[dict[str, Any]]]

task = competition(
    "3d-object-detection-for-autonomous-vehicles",
    title="Lyft 3D Object Detection for Autonomous Vehicles",
    kind="object detection",
    metric=box3d_map,
    submission=Columns(id="Id", target="PredictionString", values=str),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path, *, train_map: str = "test") -> None:
    # As in MLE-bench: the map of the training part lists the logs of the test part.
    tables = {name: read_json(raw / "train_data" / f"{name}.json") for name in TABLES}
    logs = dict(zip(("train", "test"), split_rows([log["token"] for log in tables["log"]], 0.2), strict=True))
    boxes, rows = read_csv(raw / "train.csv"), {}
    for part in logs:
        drives = _part_of(tables, set(logs[part]))
        listed = logs[train_map if part == "train" else "test"]
        drives["map"] = [facts | {"log_tokens": listed} for facts in tables["map"]]
        rows[part] = boxes[boxes["Id"].isin({sample["token"] for sample in drives["sample"]})]
        for name, table in drives.items():
            if part == "train" or name not in LABELS:
                write_json(table, public / f"{part}_data" / f"{name}.json")
        for recording in drives["sample_data"]:
            link_file(raw / f"train_{recording['filename']}", public / f"{part}_{recording['filename']}")
        link_file(raw / "train_maps" / MAP, public / f"{part}_maps" / MAP)
    # Every eight values are an object, which gets a confidence in front.
    answers = rows["test"].replace({"PredictionString": r"((?:\S+ ){7}\S+)"}, r"1.0 \1", regex=True)
    write_parts(task.form, (rows["train"], answers), public, private, guess="")


def _part_of(tables: Tables, logs: set[str]) -> Tables:
    """Return the tables of some drives. A scene has the same token as its log."""

    def chosen(name: str, key: str, tokens: set[str]) -> list[dict[str, Any]]:
        return [row for row in tables[name] if row[key] in tokens]

    part = {name: tables[name] for name in WHOLE}
    part |= {"log": chosen("log", "token", logs), "scene": chosen("scene", "log_token", logs)}
    part["sample"] = chosen("sample", "scene_token", logs)
    samples = {row["token"] for row in part["sample"]}
    part |= {name: chosen(name, "sample_token", samples) for name in ("sample_data", "sample_annotation")}
    part["instance"] = chosen("instance", "token", {row["instance_token"] for row in part["sample_annotation"]})
    for name in ("calibrated_sensor", "ego_pose"):
        rows = {row["token"]: row for row in tables[name]}
        part[name] = [rows[token] for token in dict.fromkeys(row[f"{name}_token"] for row in part["sample_data"])]
    return part


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    logs, kinds, texts = hex_ids(rng, 10, 64), ["car", "pedestrian", "bicycle"], {}
    at_rest = {"rotation": [1.0, 0.0, 0.0, 0.0], "translation": [0.0, 0.0, 0.0]}
    tables: Tables = {name: [] for name in TABLES}
    tables["log"] = [{"token": log} for log in logs]
    tables["scene"] = [{"token": log, "log_token": log} for log in logs]
    tables["calibrated_sensor"] = [{"token": sensor, **at_rest} for sensor in ("images", "lidar")]
    tables["map"] = [{"log_tokens": logs, "filename": f"maps/{MAP}", "token": "map"}]
    for number, token in enumerate(hex_ids(rng, 20, 64)):
        tables["sample"].append({"token": token, "scene_token": logs[number // 2]})
        boxes = rng.normal([2000, 900, -20, 1.9, 4.8, 1.7, 0], [15, 15, 0.5, 0.1, 0.2, 0.1, 1], (4, 7)).round(3)
        points = (boxes[:, :3] + rng.normal(0, 0.2, (4, 3))).astype(np.float32).tobytes()
        for sensor, file, content in (("images", f"{number}.jpeg", picture(rng)), ("lidar", f"{number}.bin", points)):
            recording = {"token": file, "sample_token": token, "filename": f"{sensor}/{file}", "ego_pose_token": file}
            tables["sample_data"].append(recording | {"calibrated_sensor_token": sensor})
            tables["ego_pose"].insert(0, {"token": file, **at_rest})
            write_bytes(raw / f"train_{sensor}" / file, content)
        names = rng.choice(kinds, 4)
        texts[token] = " ".join(f"{' '.join(map(str, box))} {name}" for box, name in zip(boxes, names, strict=True))
        for place, (box, name) in enumerate(zip(boxes.tolist(), names, strict=True)):
            thing, turned = f"{token}-{place}", [np.cos(box[6] / 2), 0.0, 0.0, np.sin(box[6] / 2)]
            shape = {"translation": box[:3], "size": box[3:6], "rotation": turned, "category_name": name}
            tables["sample_annotation"].append({"sample_token": token, "instance_token": thing, **shape})
            tables["instance"].append({"token": thing, "category_token": name})
    for name, table in tables.items():
        write_json(table, raw / "train_data" / f"{name}.json")
    write_bytes(raw / "train_maps" / MAP, picture(rng, suffix=".png"))
    write_csv(pd.DataFrame(texts.items(), columns=["Id", "PredictionString"]), raw / "train.csv")


task.fixed(
    "v1 lists the logs of the test part in the map table of the training part.",
    prepare=partial(prepare, train_map="train"),
)
