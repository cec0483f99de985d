"""A convolution layer in plain NumPy, slow and clear.

    python train.py                        times one batch of random pictures and notes the time
    python train.py INPUT.npz OUTPUT.npy   applies the layer to the pictures in a file

INPUT.npz holds `images` (pictures, height, width, channels), `weight` (kernel, kernel, channels, filters) and `bias`
(filters), all float64. OUTPUT.npy gets the result (pictures, rows, columns, filters), float64 too.
"""

import sys
import time
from pathlib import Path

import numpy as np

STRIDE = 2
PADDING = 2


def relu(values: np.ndarray) -> np.ndarray:
    """Negative numbers become 0."""
    return np.maximum(values, 0)


class Conv2D:
    """Slides square filters over pictures: stride 2, a border of 2 zeros, and a ReLU in the end."""

    def __init__(self, weight: np.ndarray, bias: np.ndarray) -> None:
        self.weight = weight
        self.bias = bias

    def forward(self, images: np.ndarray) -> np.ndarray:
        kernel, _, _, filters = self.weight.shape
        border = ((0, 0), (PADDING, PADDING), (PADDING, PADDING), (0, 0))
        padded = np.pad(images, border)
        rows = (padded.shape[1] - kernel) // STRIDE + 1
        columns = (padded.shape[2] - kernel) // STRIDE + 1
        output = np.zeros((len(images), rows, columns, filters))

        for image in range(len(images)):
            for row in range(rows):
                for column in range(columns):
                    for number in range(filters):
                        top, left = row * STRIDE, column * STRIDE
                        patch = padded[image, top : top + kernel, left : left + kernel, :]
                        value = np.sum(patch * self.weight[:, :, :, number]) + self.bias[number]
                        output[image, row, column, number] = value

        return relu(output)


def apply_to_file(source: str, target: str) -> None:
    """The layer on the pictures of one file, the result in another."""
    with np.load(source) as arrays:
        layer = Conv2D(arrays["weight"], arrays["bias"])
        output = layer.forward(arrays["images"])
    np.save(target, output)


def demonstrate() -> None:
    """Times one batch and adds the seconds to submission/submission.csv."""
    images = np.random.randn(32, 64, 64, 3)
    layer = Conv2D(np.random.randn(3, 3, 3, 8), np.random.randn(8))
    start = time.time()
    layer.forward(images)
    seconds = time.time() - start
    print(f"One batch took {seconds:.4f} s")
    Path("submission").mkdir(exist_ok=True)
    with Path("submission/submission.csv").open("a") as file:
        file.write(f"{seconds}\n")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        apply_to_file(sys.argv[1], sys.argv[2])
    else:
        demonstrate()
