"""Slurm batch scripts: start Ray on every node of an allocation and run one command on all of them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

PORT = 6379


@dataclass(frozen=True)
class Allocation:
    """Resources requested from Slurm."""

    nodes: int
    time_s: float
    cores: int | None = None
    """Cores per node; None for all."""
    gpus: int = 0
    partition: str | None = None
    setup: str | None = None
    """Shell command that makes `podium` and `ray` available on every node."""


def batch_script(allocation: Allocation, command: Sequence[str]) -> str:
    """Return the batch script; `command` is `podium run ...` without `--on`, which is added."""
    minutes = max(1, round(allocation.time_s / 60))
    settings = [
        ("job-name", "podium"),
        ("nodes", allocation.nodes),
        ("ntasks-per-node", 1),
        ("time", minutes),
        *([("exclusive", None)] if allocation.cores is None else [("cpus-per-task", allocation.cores)]),
        *([("gpus-per-node", allocation.gpus)] if allocation.gpus else []),
        *([("partition", allocation.partition)] if allocation.partition else []),
    ]
    lines = ["#!/bin/bash"]
    lines += [f"#SBATCH --{name}" + ("" if value is None else f"={value}") for name, value in settings]
    cores = "" if allocation.cores is None else f" --num-cpus={allocation.cores}"
    return "\n".join(
        [
            *lines,
            "set -eu",
            *([allocation.setup] if allocation.setup else []),
            'head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
            'address=$(getent ahostsv4 "$head" | head -n 1 | cut -d " " -f 1)',
            "export RAY_TMPDIR=${RAY_TMPDIR:-/tmp/ray-$SLURM_JOB_ID}  # short, because socket paths are limited",
            'srun --kill-on-bad-exit=0 mkdir -p "$RAY_TMPDIR"',
            "# Ray runs on every node; the command runs once, on the first node, after all nodes have joined.",
            f'srun ray symmetric-run --address "$address:{PORT}" --min-nodes {allocation.nodes}{cores} -- \\',
            f'    {shlex.join(command)} --on "ray://$address:{PORT}"',
            "",
        ]
    )
