"""Recipes for pictures: measure much on them, and learn from what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from podium.recipes.files import PICTURES
from podium.recipes.measured import GOALS, learning, model_moves, rows_to_files
from podium.recipes.profile import Profile
from podium.recipes.recipe import Move, Recipe, Settings


def suits(profile: Profile) -> bool:
    """Whether rows lead to pictures, and the target is a class or a number."""
    pointers = profile.pointers
    leads = pointers is not None and any(pointers.train.lower().endswith(suffix) for suffix in PICTURES)
    named = profile.shape == "pictures" and pointers is not None
    return (leads or named) and profile.train is not None and profile.goal in GOALS


def story(profile: Profile, settings: Settings) -> str:
    """Reads pictures, measures them and learns."""
    return f"""{rows_to_files(profile)}
side, mode = picture_form(train_paths, most={settings["side"]})
tests = read_pictures(test_paths, side, mode)
pictures = read_pictures(train_paths, side, mode, until=0.3)
read = len(pictures)
features = {measuring(settings)}
{learning(profile, settings)}"""


def measuring(settings: Settings) -> str:
    """Source of what is measured on pictures."""
    pictures = "np.concatenate([pictures, tests])"
    options = f"patches={settings['patches']}, count={settings['count']}, even={settings['even']}"
    if not settings["mirror"]:
        return f"picture_features({pictures}, {options})"
    return f"""np.mean(
    [picture_features(seen, {options}) for seen in mirrored({pictures})], axis=0
)"""


def _moves(profile: Profile, settings: Settings) -> Sequence[Move]:
    sizes = list(settings["patches"])
    return [
        Move("count a patch and its negative as the same", {"even": not settings["even"]}),
        *model_moves(settings)[:1],
        Move("take more patches", {"count": 2 * settings["count"]}),
        Move("take patches of other sizes too", {"patches": sorted({*sizes, *(size + 3 for size in sizes)})}),
        Move("average over mirrored pictures", {"mirror": not settings["mirror"]}),
        Move("look closer", {"side": 2 * settings["side"]}),
        *model_moves(settings)[1:],
    ]


RECIPES = (
    Recipe(
        name="quick pictures",
        title="Shades, edges, waves and a few patches of pictures, and a linear model.",
        suits=suits,
        story=story,
        defaults=lambda profile: {
            "side": 32,
            "patches": [8],
            "count": 100,
            "even": True,
            "mirror": False,
            "parts": 200,
            "folds": 3,
            "models": ["linear"],
        },
    ),
    Recipe(
        name="pictures",
        title="Edges, patterns, waves and typical patches of pictures, and several models.",
        suits=suits,
        story=story,
        defaults=lambda profile: {
            "side": 48,
            "patches": [6, 10, 14],
            "count": 300,
            "even": False,
            "mirror": False,
            "parts": 400,
            "folds": 5,
            "models": ["linear", "curved"],
        },
        moves=_moves,
        simpler=lambda profile, settings: {**settings, "side": 24, "patches": [6], "count": 50, "models": ["linear"]},
        share=0.5,
    ),
)
