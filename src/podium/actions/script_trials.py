"""Actions that try complete solutions, each in its own folder, and submit one of them."""

from __future__ import annotations

import re

from podium.actions.action_context import ActionContext
from podium.actions.action_spec import ActionError, action
from podium.actions.files.file_access import call_file_helper
from podium.task import SUBMISSION
from podium.text import bounded, last_number
from podium.workspace.journal.observations import ScriptResult, SubmissionResult, ValidationResult

METRIC_LINE = "podium-metric:"
"""Prefix of the output line with a script's validation score; the last such line counts."""
OUTPUT_CHARACTERS = 12_000
_METRIC = re.compile(rf"^{METRIC_LINE}\s*(\S+)\s*$", re.MULTILINE)


@action(needs="check_submission")
async def try_script(
    context: ActionContext, number: int, script: str, split: int = 0, time_s: float | None = None
) -> ScriptResult:
    """Run a Python script in its own folder, code/NUMBER, and check the submission.csv that it writes there.

    The script gets the data folder in $PODIUM_DATA, a seed in $PODIUM_SEED and its time limit in $PODIUM_TIME_S.

    Args:
        number: The number of the script, which names its folder.
        script: The source code of the script.
        split: The validation split to use, passed in $PODIUM_SPLIT; each split has its own folder.
        time_s: Time limit in seconds.

    Returns:
        The output, the score in its last line "podium-metric: NUMBER", and whether the submission is valid.
    """
    folder = script_folder(number, split)
    await call_file_helper(context, "write", name=f"{folder}/script.py", content=script)
    limit_s = min((limit for limit in (time_s, context.remaining_s()) if limit is not None), default=None)
    result = await context.run_program(
        [context.python, "-u", "script.py"],
        cwd=f"{context.root}/{folder}",
        environment={
            "PODIUM_DATA": f"{context.root}/data",
            "PODIUM_SEED": str(context.seed),
            "PODIUM_SPLIT": str(split),
            **({} if limit_s is None else {"PODIUM_TIME_S": f"{limit_s:.1f}"}),
        },
        time_s=time_s,
    )
    scores = (None, None) if context.held_out is None else await context.held_out.take(folder)
    checked = await _check(context, f"{folder}/submission.csv")
    return ScriptResult(
        exit_code=None if result.stopped else result.exit_code,
        stopped=result.stopped,
        output=bounded(f"{result.stdout.text}\n{result.stderr.text}".strip(), OUTPUT_CHARACTERS),
        seconds=round(result.seconds, 2),
        metric=last_metric(result.stdout.text),
        valid=checked.valid,
        error=checked.error,
        search_score=scores[0],
        selection_score=scores[1],
    )


@action(needs="check_submission")
async def submit_script(context: ActionContext, number: int, split: int = 0) -> SubmissionResult:
    """Submit a script's submission.csv; the script must have been tried before.

    Args:
        number: The number of the script.
        split: The validation split with which it was tried.

    Returns:
        A confirmation, or the reason why there is nothing to submit.
    """
    source = f"{script_folder(number, split)}/submission.csv"
    try:
        await call_file_helper(context, "copy", source=source, destination=SUBMISSION)
    except ActionError as error:
        return SubmissionResult(script=number, accepted=False, reason=str(error))
    return SubmissionResult(script=number, accepted=True)


@action(needs="held_out")
async def submit_ensemble(context: ActionContext, numbers: str) -> SubmissionResult:
    """Submit a blend of the predictions of several tried scripts, weighted on held-out rows.

    Args:
        numbers: The numbers of the scripts, separated by commas.

    Returns:
        The weights, or the reason why there is nothing to blend.
    """
    assert context.held_out is not None, "not offered without held-out rows"
    try:
        scripts = [int(number) for number in numbers.split(",")]
    except ValueError as error:
        raise ActionError(f"{numbers!a} is not a list of numbers such as 1,4,7.") from error
    try:
        weights = await context.held_out.submit_ensemble([script_folder(number, 0) for number in scripts])
    except ValueError as error:
        return SubmissionResult(script=scripts[0], accepted=False, reason=str(error))
    return SubmissionResult(script=scripts[0], accepted=True, reason=weights)


@action(needs="check_submission")
async def validate_submission(context: ActionContext) -> ValidationResult:
    """Check whether submission/submission.csv has the format the task requires. This does not show its score.

    Returns:
        Whether it is valid, and the problem if it is not.
    """
    return await _check(context, SUBMISSION)


def last_metric(output: str) -> float | None:
    """Return the number in the last valid metric line."""
    return last_number(_METRIC.findall(output))


async def _check(context: ActionContext, path: str) -> ValidationResult:
    assert context.check_submission is not None, "not offered without a task"
    error = await context.check_submission(path)
    return ValidationResult(valid=error is None, error=error)


def script_folder(number: int, split: int) -> str:
    """Return the folder of a script, relative to the workspace."""
    return f"code/{number:03d}" if split == 0 else f"code/{number:03d}-split-{split}"
