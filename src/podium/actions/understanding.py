"""Reading a file through a model."""

from __future__ import annotations

from inspect_ai.tool import Tool, tool

from podium.actions.asking import BLOCK_CHARACTERS, BLOCKS, ask_about
from podium.actions.inside import Workspace, read_text
from podium.actions.observation import ActionError, observed


@tool(max_output=0)
def understand_file(workspace: Workspace = Workspace()) -> Tool:  # noqa: B008 (frozen)
    """The action that has a file read by the fast model."""

    @observed
    async def execute(file_name: str, things_to_look_for: str) -> str:
        """Have a text file read, all of it, by a model that reports what you want to know about it.

        Args:
            file_name: The file, relative to the workspace.
            things_to_look_for: What to find out. The reader knows nothing else: ask in full and in detail.

        Returns:
            The reader's report.
        """
        limit = BLOCK_CHARACTERS * BLOCKS
        file = await read_text(workspace, file_name, limit_bytes=2 * limit)
        if not file.text.strip():
            raise ActionError(f"{file_name} is empty.")
        report = await ask_about(file.text[:limit], name=file_name, question=things_to_look_for)
        if file.left_out or len(file.text) > limit:
            read = len(file.text[:limit].encode())
            return f"Only the first {read:,} of the {file.size:,} bytes of {file_name} were read.\n{report}"
        return report

    return execute
