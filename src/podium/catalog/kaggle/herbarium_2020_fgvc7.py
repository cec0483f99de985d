"""Herbarium 2020: to which of 32,000 species does the pressed plant belong?"""

from functools import partial

from podium.catalog.kaggle._coco import fabricate_herbarium, prepare_herbarium
from podium.metrics import f1
from podium.task import Columns, Integer, competition

task = competition(
    "herbarium-2020-fgvc7",
    title="Herbarium 2020 - FGVC7",
    kind="image classification",
    metric=f1.using(average="macro", title="Macro F1"),
    submission=Columns(id="Id", target="Predicted", values=Integer(cut=True), answers="answers.csv"),
)
task.prepare(partial(prepare_herbarium, folder="nybg2020", encoding="latin-1"))
task.fabricate(partial(fabricate_herbarium, folder="nybg2020", encoding="latin-1"))
