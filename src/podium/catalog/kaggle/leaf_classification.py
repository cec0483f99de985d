"""Leaf Classification: of which of 99 species is the leaf?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.archives import unpacked, write_zip
from podium.data.fabricate import picture
from podium.data.files import link_files
from podium.data.split import split_rows
from podium.data.tables import one_hot, read_csv, sample_of, write_csv
from podium.metrics import log_loss
from podium.task import Columns, Number, competition

SPECIES = """
Acer_Capillipes Acer_Circinatum Acer_Mono Acer_Opalus Acer_Palmatum Acer_Pictum Acer_Platanoids Acer_Rubrum
Acer_Rufinerve Acer_Saccharinum Alnus_Cordata Alnus_Maximowiczii Alnus_Rubra Alnus_Sieboldiana Alnus_Viridis
Arundinaria_Simonii Betula_Austrosinensis Betula_Pendula Callicarpa_Bodinieri Castanea_Sativa Celtis_Koraiensis
Cercis_Siliquastrum Cornus_Chinensis Cornus_Controversa Cornus_Macrophylla Cotinus_Coggygria Crataegus_Monogyna
Cytisus_Battandieri Eucalyptus_Glaucescens Eucalyptus_Neglecta Eucalyptus_Urnigera Fagus_Sylvatica Ginkgo_Biloba
Ilex_Aquifolium Ilex_Cornuta Liquidambar_Styraciflua Liriodendron_Tulipifera Lithocarpus_Cleistocarpus
Lithocarpus_Edulis Magnolia_Heptapeta Magnolia_Salicifolia Morus_Nigra Olea_Europaea Phildelphus Populus_Adenopoda
Populus_Grandidentata Populus_Nigra Prunus_Avium Prunus_X_Shmittii Pterocarya_Stenoptera Quercus_Afares
Quercus_Agrifolia Quercus_Alnifolia Quercus_Brantii Quercus_Canariensis Quercus_Castaneifolia Quercus_Cerris
Quercus_Chrysolepis Quercus_Coccifera Quercus_Coccinea Quercus_Crassifolia Quercus_Crassipes Quercus_Dolicholepis
Quercus_Ellipsoidalis Quercus_Greggii Quercus_Hartwissiana Quercus_Ilex Quercus_Imbricaria Quercus_Infectoria_sub
Quercus_Kewensis Quercus_Nigra Quercus_Palustris Quercus_Phellos Quercus_Phillyraeoides Quercus_Pontica
Quercus_Pubescens Quercus_Pyrenaica Quercus_Rhysophylla Quercus_Rubra Quercus_Semecarpifolia Quercus_Shumardii
Quercus_Suber Quercus_Texana Quercus_Trojana Quercus_Variabilis Quercus_Vulcanica Quercus_x_Hispanica Quercus_x_Turneri
Rhododendron_x_Russellianum Salix_Fragilis Salix_Intergra Sorbus_Aria Tilia_Oliveri Tilia_Platyphyllos Tilia_Tomentosa
Ulmus_Bergmanniana Viburnum_Tinus Viburnum_x_Rhytidophylloides Zelkova_Serrata
""".split()  # noqa: SIM905
FEATURES = [f"{kind}_{number}" for kind in ("margin", "shape", "texture") for number in range(1, 65)]

task = competition(
    "leaf-classification",
    title="Leaf Classification",
    kind="tabular and image classification",
    metric=log_loss,
    submission=Columns(id="id", target=tuple(SPECIES), values=Number(0, 1), row_total=1, extra_columns=False),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_rows(read_csv(raw / "train.csv.zip"), 0.1)
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="species"), public / "test.csv")
    write_csv(sample_of(test, "id", **dict.fromkeys(SPECIES, 1 / len(SPECIES))), public / "sample_submission.csv")
    write_csv(test[["id"]].join(one_hot(test["species"], SPECIES)), private / "test.csv")
    with unpacked(raw / "images.zip", public) as folder:
        link_files(folder / "images", public / "images", (f"{leaf}.jpg" for leaf in (*train["id"], *test["id"])))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    species = rng.permutation(np.repeat(np.arange(len(SPECIES)), 2))
    centres = rng.gamma(1, 0.015, (len(SPECIES), len(FEATURES)))
    values = centres[species] * rng.normal(1, 0.2, (len(species), len(FEATURES)))
    table = pd.DataFrame(np.abs(values).round(6), columns=FEATURES)
    table.insert(0, "id", np.sort(rng.choice(np.arange(1, 1585), len(species), replace=False)))
    table.insert(1, "species", np.array(SPECIES)[species])
    write_zip(raw / "train.csv.zip", [("train.csv", table.to_csv(index=False).encode())])
    leaves = zip(table["id"], species, strict=True)
    write_zip(raw / "images.zip", ((f"images/{leaf}.jpg", picture(rng, tint=kind, grey=True)) for leaf, kind in leaves))
