"""Baseline agent: submits the unchanged sample submission, or runs the unchanged starter code."""

from __future__ import annotations

from podium.agents.scripted_base import FixedAgent
from podium.workspace.journal.events import Action

UNPACK = '''"""Extracts the sample submission from its archive."""
import shutil
import tempfile
from pathlib import Path

archive = "{sample}"
if archive.endswith(".7z"):
    from py7zr import SevenZipFile as Archive
else:
    from zipfile import ZipFile as Archive
with Archive(archive) as opened, tempfile.TemporaryDirectory() as folder:
    opened.extractall(folder)
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    sample = min(files, key=lambda path: path.suffix != ".csv")  # a table may also be called .txt
    shutil.copyfile(sample, "{submission}")
'''


class BaselineAgent(FixedAgent):
    """Submits the unchanged sample submission, or runs the unchanged starter code."""

    def actions(self) -> list[Action]:
        task = self.assignment.task
        starter = (
            [Action(name="execute_script", arguments={"script_name": task.starter.script})] if task.starter else []
        )
        if not task.is_table:
            return starter
        sample, submission = f"data/{task.form.sample}", "submission/submission.csv"
        if starter:
            # Skeleton code may not write a submission; its baseline is then the sample submission.
            fill = f"test -s {submission} || cp {sample} {submission}"
            return [*starter, Action(name="run_command", arguments={"command": fill})]
        if sample.endswith(".csv"):
            return [Action(name="copy_file", arguments={"source": sample, "destination": submission})]
        script = UNPACK.format(sample=sample, submission=submission)
        return [
            Action(name="write_file", arguments={"file_name": "code/unpack.py", "content": script}),
            Action(name="execute_script", arguments={"script_name": "code/unpack.py"}),
        ]
