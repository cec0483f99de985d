"""Progress after a step, graded outside the sandbox; private answers are used on training tasks only."""

from __future__ import annotations

from dataclasses import dataclass, replace

from podium.actions.script_trials import last_metric
from podium.environment.rewards import MILESTONES, EpisodeStanding
from podium.errors import InvalidSubmission
from podium.grading.grade import Grade
from podium.grading.prepared_task import PreparedTask
from podium.runs.attempt.grade_run import SnapshotFiles, grade_snapshot
from podium.runs.attempt.open_run import RunContext
from podium.safefs.remove_tree import remove_tree
from podium.workspace.journal.observations import Observation, ProgramOutput, ScriptResult


@dataclass
class ProgressGrader:
    """Grades the submissions of one episode."""

    knows_answers: bool
    """True on training tasks: every submission is graded, not only the last."""
    _sample: tuple[float | None] | None = None

    def __call__(
        self,
        context: RunContext,
        before: EpisodeStanding,
        observation: Observation | None = None,
        *,
        grade: Grade | None = None,
    ) -> EpisodeStanding:
        """Return the standing at the last snapshot.

        Args:
            observation: observation of the last action.
            grade: grade of that snapshot, at the end of the episode.
        """
        names, commit = context.prepared.names, context.journal.snapshot
        submission = " ".join(context.history.identity(commit, name.rstrip("/")) or "-" for name in names)
        reported = _reported(observation)
        now = replace(before, submission=submission, reported=before.reported if reported is None else reported)
        if grade is not None or submission != before.submission:
            now = self._judged(context, now, grade)
        reached = {name for name, is_reached in MILESTONES.items() if is_reached(now)}
        return replace(now, milestones=before.milestones | reached)

    def _judged(self, context: RunContext, standing: EpisodeStanding, grade: Grade | None) -> EpisodeStanding:
        prepared, scratch = context.prepared, context.folder.scratch
        files = SnapshotFiles(context.history, context.journal.snapshot)
        if grade is None and self.knows_answers:
            grade = grade_snapshot(context.history, files.commit, prepared, context.plan, scratch)
            remove_tree(scratch)
        if grade is None:
            return replace(standing, valid=_is_valid(context, files))
        return replace(standing, valid=grade.valid, grade=grade, beats_sample=self._beats_sample(prepared, grade))

    def _beats_sample(self, prepared: PreparedTask, grade: Grade) -> bool:
        if self._sample is None:
            self._sample = (_sample_score(prepared),)
        sample = self._sample[0]
        if grade.score is None or sample is None:
            return False
        return grade.score > sample if prepared.task.metric.higher_is_better else grade.score < sample


def _sample_score(prepared: PreparedTask) -> float | None:
    """Return the score of the sample submission; None without a sample or if it cannot be scored."""
    from podium.task import Columns

    form = prepared.task.submission
    return prepared.grade(prepared.place.public / form.sample).score if isinstance(form, Columns) else None


def _is_valid(context: RunContext, files: SnapshotFiles) -> bool:
    """Return whether a snapshot's submission is valid, using public data alone."""
    prepared, scratch = context.prepared, context.folder.scratch
    remove_tree(scratch)
    try:
        prepared.form.take(files, scratch, prepared.submission_limit)
        prepared.form.check(scratch, prepared)
    except InvalidSubmission:
        return False
    finally:
        remove_tree(scratch)
    return True


def _reported(observation: Observation | None) -> float | None:
    match observation:
        case ScriptResult(metric=metric):
            return metric
        case ProgramOutput(stdout=stdout):
            return last_metric(stdout)
        case _:
            return None
