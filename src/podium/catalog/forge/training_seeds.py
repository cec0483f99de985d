"""Seeds for training: tasks drawn from them are never drawn from anything that agents are measured with.

The random numbers come from a hash of the seed under a name of its own. Public seeds are used as they are and secrets
are keys of another hash, so no seed or secret of theirs can lead to the data of a training task.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TrainingSeed:
    """Integer from which one training task of each family and difficulty is drawn."""

    number: int

    def generator(self, purpose: str) -> np.random.Generator:
        """Return the random generator for a purpose."""
        digest = hashlib.sha256(f"podium forge training {self.number} {purpose}".encode()).digest()
        return np.random.default_rng(int.from_bytes(digest, "little"))
