"""Recipes for audio: features of spectrograms, and models of them."""

from __future__ import annotations

from collections.abc import Sequence

from podium.recipes.kinds.file_features import learning_source, model_improvements, path_source
from podium.recipes.recipe import Improvement, Recipe, Settings
from podium.tables.profile import LEARNABLE, Profile

READABLE = (".wav", ".aif", ".aiff")


def suits(profile: Profile) -> bool:
    """Return whether rows have clips in a readable format, and the target is a class or a number."""
    is_readable = any(files.suffix in READABLE for files in profile.files)
    has_clips = profile.modality == "audio" and profile.file_patterns is not None and is_readable
    return has_clips and profile.goal in LEARNABLE


def body(profile: Profile, settings: Settings) -> str:
    """Reads clips, computes features and learns from them."""
    return f"""{path_source(profile)}
rate, length = clip_rate_and_length(train_paths)
tests = read_clips(test_paths, rate, length)
clips = read_clips(train_paths, rate, length, until=0.3)
read = len(clips)
features = audio_features(
    np.concatenate([clips, tests]), rate, patches={settings["patches"]}, count={settings["count"]}
)
{learning_source(profile, settings)}"""


def _improvements(profile: Profile, settings: Settings) -> Sequence[Improvement]:
    sizes = list(settings["patches"])
    return [
        *model_improvements(settings)[:1],
        Improvement("use more patches", {"count": 2 * settings["count"]}),
        Improvement("use patches of other sizes too", {"patches": sorted({*sizes, *(size + 4 for size in sizes)})}),
        *model_improvements(settings)[1:],
    ]


THOROUGH = {"patches": [8, 12], "count": 200, "parts": 400, "folds": 5, "models": ["linear", "kernel", "trees"]}
RECIPES = (
    Recipe(
        name="quick audio",
        title="Bands, cepstra, rhythm, glides and chords of clips, and a linear model.",
        suits=suits,
        body=body,
        defaults=lambda profile: {"patches": [], "count": 0, "parts": 200, "folds": 3, "models": ["linear"]},
    ),
    Recipe(
        name="audio",
        title="Features of clips and patches of their spectrograms, and several models.",
        suits=suits,
        body=body,
        defaults=lambda profile: THOROUGH,
        improvements=_improvements,
        simpler=lambda profile, settings: {**settings, "patches": [], "models": ["linear"]},
        time_share=0.5,
    ),
)
