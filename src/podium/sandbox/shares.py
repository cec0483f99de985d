"""Variables by which libraries learn what they may use: they would otherwise count the machine's cores."""

from __future__ import annotations

from collections.abc import Sequence


def shares(cores: Sequence[int], gpus: Sequence[int]) -> dict[str, str]:
    """For programs that run on these cores and GPUs."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(len(cores)))
    return {**threads, "CUDA_VISIBLE_DEVICES": ",".join(map(str, gpus))}
