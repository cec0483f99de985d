"""Herbarium 2020: to which of 32,000 species does the pressed plant belong?"""

from functools import partial

from podium.catalog.kaggle._herbarium import fabricate, herbarium, prepare

task = herbarium("herbarium-2020-fgvc7", title="Herbarium 2020 - FGVC7")
task.prepare(partial(prepare, folder="nybg2020", encoding="latin-1"))
task.fabricate(partial(fabricate, folder="nybg2020", encoding="latin-1"))
