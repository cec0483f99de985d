"""A recipe that hands a whole table to AutoGluon, where the interpreter has it."""

from __future__ import annotations

from podium.recipes.kinds.table_recipes import suits, table_source
from podium.recipes.recipe import Recipe, Settings
from podium.recipes.script_ending import ending
from podium.recipes.shared_source import target_source
from podium.tables.profile import Profile

AUTOGLUON_METRICS = {
    "rmse": "root_mean_squared_error",
    "mae": "mean_absolute_error",
    "rmsle": "root_mean_squared_error",
    "log_loss": "log_loss",
    "accuracy": "accuracy",
    "roc_auc": "roc_auc",
}


def suits_autogluon(profile: Profile) -> bool:
    """Return whether AutoGluon is installed, a table has one target, and random folds, which it uses, are suitable."""
    is_plain = profile.modality == "tabular" and not profile.has_several_targets
    is_random = profile.time is None and profile.group is None
    return "autogluon.tabular" in profile.packages and suits(profile) and is_plain and is_random


def autogluon_body(profile: Profile, settings: Settings) -> str:
    """AutoGluon's bagged and stacked models, on the columns as they are."""
    metric = AUTOGLUON_METRICS.get(profile.metric)
    metric = "roc_auc_ovo_macro" if metric == "roc_auc" and profile.goal == "multiclass" else metric
    is_log = settings["log"]
    back = "oof, prediction = np.expm1(oof), np.expm1(prediction)\n" if is_log else ""
    return f"""{table_source(profile)}
y = {target_source(profile, is_log=is_log)}
oof, prediction, rows = autogluon_predictions(both[list(dict.fromkeys(NUMBERS + GROUPS + DATES))], y, {metric!r})
{back}{ending(profile, settings)}"""


RECIPES = (
    Recipe(
        name="autogluon",
        title="The bagged and stacked models of AutoGluon.",
        suits=suits_autogluon,
        body=autogluon_body,
        defaults=lambda profile: {"log": profile.metric == "rmsle"},
        time_share=0.5,
        min_time_s=60.0,
        min_remaining_s=40.0,
    ),
)
