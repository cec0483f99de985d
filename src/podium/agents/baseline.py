"""The floor: the sample submission as it is, or the starter code as it stands."""

from __future__ import annotations

from podium.agents.scripted_base import FixedAgent
from podium.workspace.journal.events import Action

UNPACK = '''"""Takes the sample submission out of its archive."""
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
    """Submits the sample submission, or runs the starter code as it stands."""

    def actions(self) -> list[Action]:
        task = self.assignment.task
        starter = (
            [Action(name="execute_script", arguments={"script_name": task.starter.script})] if task.starter else []
        )
        if not task.is_table:
            return starter
        sample, submission = f"data/{task.form.sample}", "submission/submission.csv"
        if starter:
            # A skeleton leaves nothing: its floor is the guess that the sample submission is.
            fill = f"test -s {submission} || cp {sample} {submission}"
            return [*starter, Action(name="run_command", arguments={"command": fill})]
        if sample.endswith(".csv"):
            return [Action(name="copy_file", arguments={"source": sample, "destination": submission})]
        script = UNPACK.format(sample=sample, submission=submission)
        return [
            Action(name="write_file", arguments={"file_name": "code/unpack.py", "content": script}),
            Action(name="execute_script", arguments={"script_name": "code/unpack.py"}),
        ]
