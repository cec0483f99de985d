"""Recipes for sounds: measure much on their spectrograms, and learn from what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from podium.recipes.measured import GOALS, learning, model_moves, rows_to_files
from podium.recipes.profile import Profile
from podium.recipes.recipe import Move, Recipe, Settings

READABLE = (".wav", ".aif", ".aiff")


def suits(profile: Profile) -> bool:
    """Whether rows lead to sounds that can be read, and the target is a class or a number."""
    readable = any(files.suffix in READABLE for files in profile.files)
    return profile.shape == "audio" and profile.pointers is not None and readable and profile.goal in GOALS


def story(profile: Profile, settings: Settings) -> str:
    """Reads sounds, measures them and learns."""
    return f"""{rows_to_files(profile)}
rate, length = sound_form(train_paths)
tests = read_sounds(test_paths, rate, length)
sounds = read_sounds(train_paths, rate, length, until=0.3)
read = len(sounds)
features = sound_features(
    np.concatenate([sounds, tests]), rate, patches={settings["patches"]}, count={settings["count"]}
)
{learning(profile, settings)}"""


def _moves(profile: Profile, settings: Settings) -> Sequence[Move]:
    sizes = list(settings["patches"])
    return [
        *model_moves(settings)[:1],
        Move("take more patches", {"count": 2 * settings["count"]}),
        Move("take patches of other sizes too", {"patches": sorted({*sizes, *(size + 4 for size in sizes)})}),
        *model_moves(settings)[1:],
    ]


RECIPES = (
    Recipe(
        name="quick sounds",
        title="Bands, cepstra, rhythm, glides and chords of sounds, and a linear model.",
        suits=suits,
        story=story,
        defaults=lambda profile: {"patches": [], "count": 0, "parts": 200, "folds": 3, "models": ["linear"]},
    ),
    Recipe(
        name="sounds",
        title="Measures of sounds and typical patches of their spectrograms, and several models.",
        suits=suits,
        story=story,
        defaults=lambda profile: {
            "patches": [8, 12],
            "count": 200,
            "parts": 400,
            "folds": 5,
            "models": ["linear", "curved", "trees"],
        },
        moves=_moves,
        simpler=lambda profile, settings: {**settings, "patches": [], "models": ["linear"]},
        share=0.5,
    ),
)
