"""H&M Personalized Fashion Recommendations: which articles will each customer buy next?"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import lines_beside, link_path, read_csv, write_csv
from podium.data.fabricate import hex_ids, pictures, sentences, write_files
from podium.metrics import map_at_k
from podium.task import Columns, Text, competition

ABOUT_ARTICLES = lines_beside(__file__)

task = competition(
    "h-and-m-personalized-fashion-recommendations",
    title="H&M Personalized Fashion Recommendations",
    kind="recommendation",
    # As in MLE-bench: ids are compared as text, so that padded ones miss; single items are numbers, and no longer whole
    # if one is blank; each blank ends an item, even an empty one that takes up a rank.
    metric=map_at_k.using(k=12, empty_items=True, title="MAP@12"),
    submission=Columns(
        id="customer_id",
        target="prediction",
        values=Text(retyped=True),
        extra_columns=False,
        extra_rows=True,
        answers="answers.csv",
    ),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    sales = read_csv(raw / "transactions_train.csv")
    days = pd.to_datetime(sales["t_dat"])
    # Both ends count, so the week before the last day makes eight days.
    held = days >= days.max() - pd.Timedelta(days=7)
    write_csv(sales[~held], public / "transactions_train.csv")
    bought = sales[held].astype({"article_id": str}).groupby("customer_id")["article_id"].agg(" ".join)
    write_csv(bought.rename("prediction").reset_index(), private / "answers.csv")
    for name in ("articles.csv", "customers.csv", "sample_submission.csv", "images"):
        link_path(raw / name, public / name)


def score_fixed(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    """Take 0108775015 and 108775015 for the same article."""
    predicted = submission["prediction"].str.replace(r"(?<!\S)0+", "", regex=True)
    return map_at_k.using(k=12)(answers["prediction"], predicted)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    customers, articles = np.sort(hex_ids(rng, 60, 64)), np.array([f"0{108775015 + 7000 * i}" for i in range(40)])
    about = {
        name: sentences(rng, 40, words=3) if name.endswith(("name", "desc")) else rng.integers(1, 9, 40)
        for name in ABOUT_ARTICLES
    }
    about |= {"article_id": articles, "product_code": [article[:7] for article in articles]}
    write_csv(pd.DataFrame(about), raw / "articles.csv")
    people = pd.DataFrame({"customer_id": customers, "FN": 1.0, "Active": 1.0, "club_member_status": "ACTIVE"})
    people = people.assign(fashion_news_frequency="Regularly", age=rng.integers(16, 80, 60))
    write_csv(people.assign(postal_code=hex_ids(rng, 60, 64)), raw / "customers.csv")
    write_csv(people[["customer_id"]].assign(prediction=" ".join(articles[:12])), raw / "sample_submission.csv")
    who, days = rng.integers(60, size=700), pd.Timestamp("2020-09-22") - pd.to_timedelta(rng.integers(0, 60, 700), "D")
    sales = pd.DataFrame({"t_dat": np.sort(days.strftime("%Y-%m-%d")), "customer_id": customers[who]})
    tastes = rng.permutation(60)
    sales["article_id"] = articles[(3 * tastes[who] + rng.poisson(2, 700)) % 40]
    sales = sales.assign(price=rng.integers(3, 60, 700) / 590, sales_channel_id=rng.integers(1, 3, 700))
    write_csv(sales, raw / "transactions_train.csv")
    names = [f"{article[:3]}/{article}.jpg" for article in articles[::2]]
    write_files(raw / "images", pictures(rng, names, range(20)))


task.fixed(
    "Article ids count with and without their leading zero; v1 scores the zero-padded ids of its own sample as 0.",
    score=score_fixed,
    submission=replace(task.form, values=str),
)
