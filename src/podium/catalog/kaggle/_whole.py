"""Competitions whose labels are whole numbers, and that take any number for one."""

import numpy as np
from numpy.typing import ArrayLike

from podium.metrics import f1
from podium.task import metric


@metric("Macro F1", higher_is_better=True)
def whole_macro_f1(truth: ArrayLike, prediction: ArrayLike) -> float:
    """The mean F1 of all labels of both sides; what follows the decimal point is cut off, as MLE-bench does."""
    return f1.using(average="macro")(np.trunc(truth), np.trunc(prediction))
