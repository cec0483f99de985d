"""The last resort: the same prediction for every row, or the sample submission as it is."""

from __future__ import annotations

from podium.agents.recipes.finishing import ending, forms
from podium.agents.recipes.profile import Profile
from podium.agents.recipes.recipe import Recipe, Settings
from podium.agents.recipes.scripts import assign
from podium.agents.recipes.tabular import truth

WORST_FALLING = 1e6
"""Stands for the score of a submission that nothing is known about, where lower is better."""


def story(profile: Profile, settings: Settings) -> str:
    """What is most common in train, as far as that is known."""
    if settings.get("plain") or profile.train is None or not profile.labels:
        return _sample(profile)
    if profile.goal in ("list", "text", "unknown"):
        return _commonest(profile)
    middle = {
        "binary": "truth.mean()",
        "multiclass": "np.bincount(truth, minlength=len(CLASSES)) / len(truth)",
        "multilabel": "truth.mean(axis=0)",
        "ordinal": "np.median(truth)",
    }.get(profile.goal, _middle_number(profile))
    return (
        assign(TRAIN=profile.train.file)
        + forms(profile)
        + f"""
train, sample, keys = read_table(TRAIN), read_sample(SAMPLE), None
train = train[train[LABELS].notna().all(axis=1)]
{truth(profile)}
usual = {middle}
oof, guess = np.zeros((len(truth), *np.shape(usual))) + usual, np.zeros((len(sample), *np.shape(usual))) + usual
rows = np.ones(len(truth), dtype=bool)
"""
        + ending(profile, settings)
    )


def _middle_number(profile: Profile) -> str:
    if profile.metric in ("mae", "smape"):
        return "np.median(truth, axis=0)"
    return "np.expm1(np.log1p(truth).mean(axis=0))" if profile.metric == "rmsle" else "truth.mean(axis=0)"


def _commonest(profile: Profile) -> str:
    """The items that are most common in train where lists are asked for, or else the most common value."""
    assert profile.train is not None
    given = assign(TRAIN=profile.train.file) + forms(profile)
    count = int(profile.metric_options.get("k", 1))
    split = ".astype(str).str.split().explode()" if profile.goal == "list" else ""
    return (
        given
        + f"""
train, sample = read_table(TRAIN), read_sample(SAMPLE)
values = {{}}
for target, label in zip(TARGETS, LABELS):
    common = train[label].dropna(){split}.value_counts().index[:{count}].astype(str)
    values[target] = [" ".join(common)] * len(sample)
write_submission(sample, IDS, None, values)
{_unknown_score(profile)}
"""
    )


def _sample(profile: Profile) -> str:
    return (
        assign(SAMPLE=profile.sample)
        + f"""
read_sample(SAMPLE).to_csv("submission.csv", index=False)
{_unknown_score(profile)}
"""
    )


def _unknown_score(profile: Profile) -> str:
    worst = 0.0 if profile.higher_is_better else WORST_FALLING
    return f'print("podium-metric: {worst}")  # not measured: as bad as can be'


def _simpler(profile: Profile, settings: Settings) -> Settings | None:
    return None if settings.get("plain") else {"plain": True}


RECIPES = (
    Recipe(
        name="constant",
        title="The same prediction for every row: what is most common in train, or the sample's own values.",
        suits=lambda profile: True,
        story=story,
        simpler=_simpler,
        can_merge=False,
    ),
)
