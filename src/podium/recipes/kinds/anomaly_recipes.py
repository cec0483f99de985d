"""Recipes for rows that do not fit, where all rows of train do, so that nothing says what an odd one looks like."""

from __future__ import annotations

from collections.abc import Sequence

from podium.recipes.recipe import Improvement, Recipe, Settings
from podium.recipes.shared_source import read_tables_source
from podium.tables.profile import Profile


def suits(profile: Profile) -> bool:
    """Return whether all train labels are equal, the metric is ROC AUC, and there are several numeric columns."""
    is_table = profile.test is not None and len(profile.of_kind("number")) > 1
    return is_table and profile.has_constant_target and len(profile.targets) == 1 and profile.metric == "roc_auc"


def odd_rows_body(profile: Profile, settings: Settings) -> str:
    """Detectors, scored by how well they tell rows of train from such with exchanged numbers."""
    constants = {"NUMBERS": profile.of_kind("number"), "GROUPS": profile.of_kind("category")}
    return f"""{read_tables_source(profile, constants)}both = stack_rows(train, test)
numbers, groups = number_features(both, NUMBERS), one_hot_groups(group_features(both, GROUPS, []))
count, values = numbers.shape[1], filled_values(numbers, groups, len(train))
known, asked = values[: len(train)], values[len(train) :]
is_checked = np.random.default_rng(SPLIT).random(len(known)) < 0.2
usual = known[is_checked]
mixed, truth = np.concatenate([usual, with_exchanged_numbers(usual, count)]), np.repeat([0, 1], len(usual))
detectors = {list(settings["detectors"])!r}
score = roc_auc(truth, oddness(known[~is_checked], mixed, count, detectors, 0.4))
odd = oddness(known, asked, count, detectors, 0.85)
write_submission(sample, IDS, keys, {{TARGETS[0]: odd}})
print("The score is that for rows with exchanged numbers, since no odd row is known.")
print(f"podium-metric: {{score:.6f}}")
"""


def improvements(profile: Profile, settings: Settings) -> Sequence[Improvement]:
    asked = list(settings["detectors"])
    return [
        Improvement(f"ask {name} too", {"detectors": [*asked, name]})
        for name in ("density", "isolation")
        if name not in asked
    ]


def _recipe(name: str, title: str, detector: str) -> Recipe:
    return Recipe(
        name=name,
        title=title,
        suits=suits,
        body=odd_rows_body,
        defaults=lambda profile: {"detectors": [detector]},
        improvements=improvements,
        can_merge=False,
        needs_targets=False,
    )


RECIPES = (
    _recipe("isolation forest", "Rows that random cuts separate early.", "isolation"),
    _recipe("surprise", "Rows whose numbers are not what the others make one expect.", "surprise"),
    _recipe("density", "Rows with more space around them than around their neighbours.", "density"),
)
