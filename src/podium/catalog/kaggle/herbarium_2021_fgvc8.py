"""Herbarium 2021: to which of 64,500 species does the pressed plant belong?"""

from podium.catalog.kaggle._coco import fabricate_herbarium, prepare_herbarium
from podium.metrics import f1
from podium.task import Columns, Integer, competition

task = competition(
    "herbarium-2021-fgvc8",
    title="Herbarium 2021 - FGVC8",
    kind="image classification",
    metric=f1.using(average="macro", title="Macro F1"),
    submission=Columns(id="Id", target="Predicted", values=Integer(cut=True), answers="answers.csv"),
)
task.prepare(prepare_herbarium)
task.fabricate(fabricate_herbarium)
