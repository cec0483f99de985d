"""Recipes that hand a whole table to FLAML or AutoGluon, where the interpreter has them."""

from __future__ import annotations

from podium.recipes.finishing import ending
from podium.recipes.profile import Profile
from podium.recipes.recipe import Recipe, Settings
from podium.recipes.sources import fold_source, target_source
from podium.recipes.tabular import feature_source, suits, table_source

FLAML_METRICS = {"mae": "mae", "roc_auc": "roc_auc", "log_loss": "log_loss", "accuracy": "accuracy", "f1": "macro_f1"}
AUTOGLUON_METRICS = {
    "rmse": "root_mean_squared_error",
    "mae": "mean_absolute_error",
    "rmsle": "root_mean_squared_error",
    "log_loss": "log_loss",
    "accuracy": "accuracy",
    "roc_auc": "roc_auc",
}


def is_plain(profile: Profile) -> bool:
    """Whether one target of a table is to be learnt."""
    return suits(profile) and profile.modality == "tabular" and not profile.has_several_targets


def suits_flaml(profile: Profile) -> bool:
    """Whether FLAML is installed."""
    return "flaml" in profile.packages and is_plain(profile)


def suits_autogluon(profile: Profile) -> bool:
    """Whether AutoGluon is installed, and random folds are right: it makes its own."""
    is_random = profile.time is None and profile.group is None
    return "autogluon.tabular" in profile.packages and is_plain(profile) and is_random


def flaml_body(profile: Profile, settings: Settings) -> str:
    """FLAML's best model, cross-validated as all others."""
    metric = FLAML_METRICS.get(profile.metric, "rmse" if profile.goal in ("regression", "ordinal") else "log_loss")
    metric = "roc_auc_ovr" if metric == "roc_auc" and profile.goal == "multiclass" else metric
    is_log = settings["log"]
    back = "oof, prediction = np.expm1(oof), np.expm1(prediction)\n" if is_log else ""
    return f"""{table_source(profile)}
{feature_source(profile, settings)}
folds = {fold_source(profile, settings["folds"])}
y = {target_source(profile, is_log=is_log)}
fit = flaml_fit(numbers, groups, y, folds, {metric!r})
oof, prediction, rows = cross_validate(numbers, groups, y, folds, fit, refit=True)
{back}{ending(profile, settings)}"""


def autogluon_body(profile: Profile, settings: Settings) -> str:
    """AutoGluon's bagged and stacked models, on the columns as they are."""
    metric = AUTOGLUON_METRICS.get(profile.metric)
    metric = "roc_auc_ovo_macro" if metric == "roc_auc" and profile.goal == "multiclass" else metric
    is_log = settings["log"]
    back = "oof, prediction = np.expm1(oof), np.expm1(prediction)\n" if is_log else ""
    return f"""{table_source(profile)}
y = {target_source(profile, is_log=is_log)}
oof, prediction, rows = autogluon_predictions(both[NUMBERS + GROUPS + DATES], y, {metric!r})
{back}{ending(profile, settings)}"""


def _defaults(profile: Profile) -> Settings:
    return {"folds": 4, "log": profile.metric == "rmsle"}


RECIPES = (
    Recipe(
        name="flaml",
        title="The best model that FLAML finds.",
        suits=suits_flaml,
        body=flaml_body,
        defaults=_defaults,
    ),
    Recipe(
        name="autogluon",
        title="The bagged and stacked models of AutoGluon.",
        suits=suits_autogluon,
        body=autogluon_body,
        defaults=_defaults,
        time_share=0.5,
        min_time_s=60.0,
    ),
)
