"""A contender of benchmarks/agents.py, run inside the sandbox by the agent `command`: python contend.py LEARNER

The sample submission is there already, and stays where a task is not a table. Those that search for all the time there
is hand in a first model early, in case their last fit comes too late.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path

import pandas as pd
from answering import answers
from learners import LEARNERS, Fit
from reading import NotATable, Problem, read_problem

STARTED = time.monotonic()
DATA = Path("/home/data")
SUBMISSION = Path(os.environ.get("SUBMISSION_DIR", "/home/submission"), "submission.csv")
TIME_S = float(os.environ.get("TIME_LIMIT_SECS", "3600"))


def main() -> None:
    warnings.simplefilter("ignore")
    try:
        problem = read_problem(DATA)
    except NotATable as reason:
        print(f"the sample submission, because {reason}")
        return
    print(f"a table of {problem.train.shape[0]} rows and {problem.train.shape[1]} features", flush=True)
    for share, fit in LEARNERS[sys.argv[1]]:
        try:
            hand_in(problem, fit, STARTED + share * TIME_S)
        except (AssertionError, RuntimeError, ValueError) as error:  # AutoGluon, when no model is fitted in time
            print(f"nothing new handed in: {error}", flush=True)
            continue
        seconds = time.monotonic() - STARTED
        print(f"handed in after {seconds:.0f} s, {time.process_time():.0f} s of them on a core", flush=True)


def hand_in(problem: Problem, fit: Fit, deadline: float) -> None:
    """Makes a submission of models that are found until a moment."""
    submission = pd.read_csv(DATA / "sample_submission.csv")
    for number, target in enumerate(problem.targets):
        left = (deadline - time.monotonic()) / (len(problem.targets) - number)
        for name, values in answers(problem, target, fit, max(1.0, left)).items():
            submission[name] = values
    aside = SUBMISSION.with_suffix(".new")
    submission.to_csv(aside, index=False)
    aside.rename(SUBMISSION)


if __name__ == "__main__":
    main()
