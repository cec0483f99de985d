"""Dog Breed Identification: of which of 120 breeds is the dog in the picture?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import hex_ids, picture, write_bytes
from podium.data.files import link_files
from podium.data.split import split_rows
from podium.data.tables import one_hot, read_csv, sample_of, write_csv
from podium.metrics import log_loss
from podium.task import Columns, Number, competition

BREEDS = """
affenpinscher afghan_hound african_hunting_dog airedale american_staffordshire_terrier appenzeller australian_terrier
basenji basset beagle bedlington_terrier bernese_mountain_dog black-and-tan_coonhound blenheim_spaniel bloodhound
bluetick border_collie border_terrier borzoi boston_bull bouvier_des_flandres boxer brabancon_griffon briard
brittany_spaniel bull_mastiff cairn cardigan chesapeake_bay_retriever chihuahua chow clumber cocker_spaniel collie
curly-coated_retriever dandie_dinmont dhole dingo doberman english_foxhound english_setter english_springer entlebucher
eskimo_dog flat-coated_retriever french_bulldog german_shepherd german_short-haired_pointer giant_schnauzer
golden_retriever gordon_setter great_dane great_pyrenees greater_swiss_mountain_dog groenendael ibizan_hound
irish_setter irish_terrier irish_water_spaniel irish_wolfhound italian_greyhound japanese_spaniel keeshond kelpie
kerry_blue_terrier komondor kuvasz labrador_retriever lakeland_terrier leonberg lhasa malamute malinois maltese_dog
mexican_hairless miniature_pinscher miniature_poodle miniature_schnauzer newfoundland norfolk_terrier
norwegian_elkhound norwich_terrier old_english_sheepdog otterhound papillon pekinese pembroke pomeranian pug redbone
rhodesian_ridgeback rottweiler saint_bernard saluki samoyed schipperke scotch_terrier scottish_deerhound
sealyham_terrier shetland_sheepdog shih-tzu siberian_husky silky_terrier soft-coated_wheaten_terrier
staffordshire_bullterrier standard_poodle standard_schnauzer sussex_spaniel tibetan_mastiff tibetan_terrier toy_poodle
toy_terrier vizsla walker_hound weimaraner welsh_springer_spaniel west_highland_white_terrier whippet
wire-haired_fox_terrier yorkshire_terrier
""".split()  # noqa: SIM905

task = competition(
    "dog-breed-identification",
    title="Dog Breed Identification",
    kind="image classification",
    metric=log_loss,
    submission=Columns(id="id", target=tuple(BREEDS), values=Number(0, 1), row_total=1),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_rows(read_csv(raw / "labels.csv"), 0.1)
    write_csv(train, public / "labels.csv")
    for part, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, part["id"] + ".jpg")
    write_csv(sample_of(test, "id", **dict.fromkeys(BREEDS, 1 / len(BREEDS))), public / "sample_submission.csv")
    write_csv(test[["id"]].join(one_hot(test["breed"], BREEDS)), private / "test.csv")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    breeds = rng.permutation(np.repeat(np.arange(len(BREEDS)), 2))
    labels = pd.DataFrame({"id": sorted(hex_ids(rng, len(breeds), 32)), "breed": np.array(BREEDS)[breeds]})
    write_csv(labels, raw / "labels.csv")
    for name, breed in zip(labels["id"], breeds, strict=True):
        write_bytes(raw / "train" / f"{name}.jpg", picture(rng, tint=int(breed)))
