"""How long the command line takes to start, as a multiple of the bare interpreter in the same environment."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 15
PODIUM = str(Path(sys.executable).with_name("podium"))
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "podium --help": [PODIUM, "--help"],
    "podium tasks": [PODIUM, "tasks"],
    "podium tasks --json": [PODIUM, "tasks", "--json"],
}


def main() -> None:
    best = dict.fromkeys(COMMANDS, float("inf"))
    for _ in range(ROUNDS):  # interleaved, so that a busy moment hits all of them
        for name, command in COMMANDS.items():
            started = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            best[name] = min(best[name], time.perf_counter() - started)
    bare = best["python -c pass"]
    for name, seconds in best.items():
        print(f"{name:22} {1000 * seconds:6.1f} ms  {seconds / bare:4.1f} x")


if __name__ == "__main__":
    main()
