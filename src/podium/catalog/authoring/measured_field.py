"""Measured field of a new task: scikit-learn pipelines trained on its public data and graded as submissions."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable, Hashable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.catalog.authoring.choose_goal import MIN_CLASS_ROWS, SubmissionGoal
from podium.catalog.authoring.flaml_entrant import TRIALS, flaml_model
from podium.catalog.authoring.picture_folder import with_picture_features
from podium.data.columns import Column, parse_times
from podium.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from podium.grading.grade import Grade
    from podium.grading.prepared_task import PreparedTask

MAX_ROWS = 20_000
"""Maximum number of training rows of an entrant, so that fields of large tables take minutes; also the number of test
rows predicted per batch."""
MAX_WORDS = 200
DECIMALS = 6
SEED = 0

OnScore = Callable[[str, float | None], None]


@dataclass(frozen=True)
class PipelineScore:
    """Pipeline of the field, with its score."""

    pipeline: str
    score: float


def measure_pipelines(
    prepared: PreparedTask,
    goal: SubmissionGoal,
    columns: list[Column],
    on_score: OnScore,
    *,
    suffix: str | None = None,
    automl: bool = False,
) -> list[PipelineScore]:
    """Train and rank all pipelines; those with an undefined score (such as a correlation) are left out.

    Args:
        columns: The columns of the table, including id and target.
        on_score: Callback for the score of each entrant.
        suffix: The suffix of the images, if every row has one.
        automl: True to add FLAML.

    Raises:
        UsageError: No submission can be graded; the message says why.
    """
    import pandas as pd

    form, public = prepared.task.form, prepared.place.public
    (target,) = form.targets
    features = [column for column in columns if column.name not in (*form.ids, target)]
    texts: dict[Hashable, type[str]] = {column.name: str for column in features if column.kind != "number"}
    test = pd.read_csv(public / "test.csv", dtype=texts)
    if goal.prediction == "label":
        texts[target] = str
    train = pd.read_csv(public / "train.csv", dtype=texts)
    train = _some_rows(train, None if goal.prediction == "number" else target)
    if suffix:
        (key,) = form.ids
        train, _ = with_picture_features(train, [public / "train" / f"{name}{suffix}" for name in train[key]])
        test, added = with_picture_features(test, [public / "test" / f"{name}{suffix}" for name in test[key]])
        features += added
    submission, entrants = _valid_sample(prepared), []
    for name, model in _pipelines(goal, automl=automl):
        submission[target] = _predict(_whole_pipeline(features, model), goal, train, target, test)
        grade = _grade(prepared, submission)
        on_score(name, grade.score)
        if grade.score is not None:
            entrants.append(PipelineScore(name, round(grade.score, DECIMALS)))
    if not entrants:
        raise UsageError(f"No pipeline of the field could be graded. {grade.error} Choose another --metric.")
    return sorted(entrants, key=lambda entrant: entrant.score, reverse=goal.metric.higher_is_better)


def field_document(entrants: list[PipelineScore]) -> str:
    """Return the text of `field.json`."""
    return json.dumps({"entrants": [asdict(entrant) for entrant in entrants]}, indent=1) + "\n"


def _valid_sample(prepared: PreparedTask) -> pd.DataFrame:
    """Return the sample submission, with ids as text."""
    import pandas as pd

    path = prepared.place.public / prepared.task.form.sample
    checked = prepared.validate(path)
    if not checked.valid:
        raise UsageError(f"No submission to this task would be valid: {checked.error}")
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _grade(prepared: PreparedTask, submission: pd.DataFrame) -> Grade:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "submission.csv")
        submission.to_csv(path, index=False)
        return prepared.grade(path)


def _some_rows(train: pd.DataFrame, target: str | None) -> pd.DataFrame:
    """Return a random sample of training rows, with some of every class."""
    import pandas as pd

    some = train.sample(min(len(train), MAX_ROWS), random_state=SEED)
    if target is None:
        return some
    few = train.groupby(target).head(MIN_CLASS_ROWS)
    return pd.concat([some, few[~few.index.isin(some.index)]])


def _predict(pipeline: Any, goal: SubmissionGoal, train: pd.DataFrame, target: str, test: pd.DataFrame) -> Any:
    import numpy as np
    from threadpoolctl import threadpool_limits

    # One thread, so that a score does not depend on the machine's cores.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # entrants that stop before convergence are part of the field
        pipeline.fit(train, train[target])
        predict = pipeline.predict_proba if goal.prediction == "probability" else pipeline.predict
        pieces = (test.iloc[start : start + MAX_ROWS] for start in range(0, len(test), MAX_ROWS))
        prediction = np.concatenate([predict(piece) for piece in pieces])
    if goal.prediction == "probability":
        return prediction[:, list(pipeline.classes_).index(1)]
    return prediction.clip(min=0) if goal.metric.name == "rmsle" else prediction


def _pipelines(goal: SubmissionGoal, *, automl: bool) -> Iterator[tuple[str, Any]]:
    """Yield the models of the field by name, from a constant to boosted trees, and optionally AutoML."""
    if automl:
        yield f"FLAML, {TRIALS} trials", flaml_model(classify=goal.prediction != "number")
    if goal.prediction == "number":
        yield from _regressors()
    else:
        yield from _classifiers()


def _classifiers() -> Iterator[tuple[str, Any]]:
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    yield "most frequent class", DummyClassifier()
    yield "tree of depth 2", DecisionTreeClassifier(max_depth=2, random_state=SEED)
    yield "tree of depth 6", DecisionTreeClassifier(max_depth=6, random_state=SEED)
    yield "naive Bayes", GaussianNB()
    yield "15 nearest neighbours", KNeighborsClassifier(15)
    yield "logistic regression", LogisticRegression(max_iter=300)
    yield "logistic regression, strongly regularised", LogisticRegression(C=0.02, max_iter=300)
    yield "random forest", RandomForestClassifier(100, min_samples_leaf=2, random_state=SEED)
    yield "extra trees", ExtraTreesClassifier(200, min_samples_leaf=2, random_state=SEED)
    yield "gradient boosting", HistGradientBoostingClassifier(random_state=SEED)


def _regressors() -> Iterator[tuple[str, Any]]:
    from sklearn.dummy import DummyRegressor
    from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
    from sklearn.linear_model import Ridge
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.tree import DecisionTreeRegressor

    yield "mean", DummyRegressor()
    yield "median", DummyRegressor(strategy="median")
    yield "tree of depth 2", DecisionTreeRegressor(max_depth=2, random_state=SEED)
    yield "tree of depth 6", DecisionTreeRegressor(max_depth=6, random_state=SEED)
    yield "15 nearest neighbours", KNeighborsRegressor(15)
    yield "ridge regression", Ridge()
    yield "ridge regression, strongly regularised", Ridge(100)
    yield "random forest", RandomForestRegressor(100, min_samples_leaf=2, random_state=SEED)
    yield "extra trees", ExtraTreesRegressor(200, min_samples_leaf=2, random_state=SEED)
    yield "gradient boosting", HistGradientBoostingRegressor(random_state=SEED)


def _whole_pipeline(features: list[Column], model: Any) -> Any:
    """Return the model with the usual preprocessing: numbers scaled, categories one-hot, texts as word counts."""
    from sklearn.compose import make_column_transformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    categories = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5, sparse_output=False)
    parts: list[Any] = [
        (numbers, [column.name for column in features if column.kind == "number"]),
        (categories, [column.name for column in features if column.kind == "category"]),
    ]
    parts += [
        (
            make_pipeline(
                FunctionTransformer(_no_blanks), TfidfVectorizer(max_features=MAX_WORDS, token_pattern=r"\S+")
            ),
            column.name,
        )
        for column in features
        if column.kind == "text"
    ]
    parts += [
        (make_pipeline(FunctionTransformer(_time_parts, kw_args={"written": column.written}), numbers), column.name)
        for column in features
        if column.kind == "time"
    ]
    used = [part for part in parts if len(part[1])]
    return make_pipeline(make_column_transformer(*used, sparse_threshold=0), model)


def _no_blanks(texts: pd.Series) -> pd.Series:
    return texts.fillna("blank")


def _time_parts(cells: pd.Series, written: str) -> pd.DataFrame:
    """Return times as numbers: the time itself, and its part of the year, the week and the day."""
    import pandas as pd

    seconds = parse_times(cells, written)
    times = pd.to_datetime(pd.Series(seconds), unit="s")
    parts = {"day": times.dt.dayofyear, "weekday": times.dt.dayofweek, "hour": times.dt.hour}
    return pd.DataFrame({"seconds": seconds, **parts})
