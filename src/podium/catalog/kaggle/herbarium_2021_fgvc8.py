"""Herbarium 2021: to which of 64,500 species does the pressed plant belong?"""

from podium.catalog.kaggle._coco import fabricate_herbarium, prepare_herbarium
from podium.catalog.kaggle._whole import whole_macro_f1
from podium.task import Columns, competition

task = competition(
    "herbarium-2021-fgvc8",
    title="Herbarium 2021 - FGVC8",
    kind="image classification",
    metric=whole_macro_f1,
    submission=Columns(id="Id", target="Predicted", values=float, answers="answers.csv"),
)
task.prepare(prepare_herbarium)
task.fabricate(fabricate_herbarium)
