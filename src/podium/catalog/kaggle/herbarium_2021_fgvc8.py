"""Herbarium 2021: to which of 64,500 species does the pressed plant belong?"""

from podium.catalog.kaggle._herbarium import fabricate, herbarium, prepare

task = herbarium("herbarium-2021-fgvc8", title="Herbarium 2021 - FGVC8")
task.prepare(prepare)
task.fabricate(fabricate)
