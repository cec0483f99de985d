"""Action that reads a file with a language model."""

from __future__ import annotations

from podium.actions.action_context import ActionContext
from podium.actions.action_spec import ActionError, action
from podium.actions.files.file_access import read_text
from podium.actions.model_calls import BLOCKS, MAX_BLOCK_CHARACTERS, ask_about, split_blocks

MAX_READ_BYTES = 8 * MAX_BLOCK_CHARACTERS * BLOCKS  # the first half must hold all blocks, in any script


@action()
async def understand_file(context: ActionContext, file_name: str, things_to_look_for: str) -> str:
    """Have a language model read a whole text file and report what you want to know about it.

    Args:
        file_name: The file, relative to the workspace.
        things_to_look_for: What to find out, in full detail: the model knows nothing else about your work.

    Returns:
        The model's report.
    """
    file = await read_text(context, file_name, limit_bytes=MAX_READ_BYTES)
    if not file.text.strip():
        raise ActionError(f"{file_name} is empty.")
    blocks = split_blocks(file.text)[:BLOCKS]
    report = await ask_about(blocks, name=file_name, question=things_to_look_for)
    read = len("".join(blocks))
    if file.left_out or read < len(file.text):
        return f"{file_name} is long: only its first {read:,} characters were read.\n{report}"
    return report
