"""Herbarium 2020: to which of 32,000 species does the pressed plant belong?"""

from functools import partial

from podium.catalog.kaggle._coco import fabricate_herbarium, prepare_herbarium
from podium.catalog.kaggle._whole import whole_macro_f1
from podium.task import Columns, competition

task = competition(
    "herbarium-2020-fgvc7",
    title="Herbarium 2020 - FGVC7",
    kind="image classification",
    metric=whole_macro_f1,
    submission=Columns(id="Id", target="Predicted", values=float, answers="answers.csv"),
)
task.prepare(partial(prepare_herbarium, folder="nybg2020", encoding="latin-1"))
task.fabricate(partial(fabricate_herbarium, folder="nybg2020", encoding="latin-1"))
