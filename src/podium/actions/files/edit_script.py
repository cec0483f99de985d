"""Changing a script by telling a model what to change."""

from __future__ import annotations

import difflib
import re

from podium.actions.action_context import ActionContext
from podium.actions.action_spec import ActionError, action
from podium.actions.files.file_access import call_file_helper, read_text
from podium.actions.model_calls import ask

SCRIPT_BYTES = 200_000
ATTEMPTS = 2
_FENCE = re.compile(r" {0,3}(`{3,})[^`]*")


@action(title="Edit Script (AI)")
async def edit_script(context: ActionContext, script_name: str, edit_instruction: str, save_name: str) -> str:
    """Have a script changed by a model that follows your instruction. Check the result: it may be wrong.

    Args:
        script_name: The script to change, relative to the workspace; one that does not exist starts empty.
        edit_instruction: What to change, step by step and in detail: the editor knows nothing but the script.
        save_name: Where to save the changed script, relative to the workspace; may be the same as script_name.

    Returns:
        The changes as a unified diff.
    """
    script = await _read_script(context, script_name)
    edited = await _rewrite(script, edit_instruction, what=f"the script {script_name}")
    return await _save(context, script, edited, script_name=script_name, save_name=save_name)


@action(title="Edit Script Segment (AI)")
async def edit_script_segment(
    context: ActionContext,
    script_name: str,
    start_line_number: int,
    end_line_number: int,
    edit_instruction: str,
    save_name: str,
) -> str:
    """Have some lines of a script changed by a model that follows your instruction. Check the result.

    Args:
        script_name: The script to change, relative to the workspace.
        start_line_number: The first line that may change; lines are counted from 1.
        end_line_number: The last line that may change.
        edit_instruction: What to change, step by step and in detail: the editor sees nothing but these lines.
        save_name: Where to save the changed script, relative to the workspace; may be the same as script_name.

    Returns:
        The changes as a unified diff.
    """
    script = await _read_script(context, script_name)
    lines = re.findall(r"[^\n]*\n|[^\n]+", script)
    first, last = start_line_number, end_line_number
    if not 1 <= first <= last <= max(1, len(lines)):
        raise ActionError(f"{script_name} has {len(lines)} lines: there are no lines {first} to {last}.")
    segment = "".join(lines[first - 1 : last])
    edited = await _rewrite(segment, edit_instruction, what=f"lines {first} to {last} of the script {script_name}")
    spliced = "".join([*lines[: first - 1], edited, *lines[last:]])
    return await _save(context, script, spliced, script_name=script_name, save_name=save_name)


def fenced_block(answer: str) -> str | None:
    """What stands in the one fenced block of an answer; None if there is none, several or an open one."""
    block: list[str] = []
    fence, blocks = "", 0
    for line in answer.replace("\r\n", "\n").split("\n"):
        if fence:
            if re.fullmatch(rf" {{0,3}}{fence}`*\s*", line):
                fence = ""
            else:
                block.append(line)
        elif opened := _FENCE.fullmatch(line):
            fence, blocks = opened[1], blocks + 1
    return "".join(f"{line}\n" for line in block) if blocks == 1 and not fence else None


async def _read_script(context: ActionContext, name: str) -> str:
    """The script; an empty one if there is no such file.

    Raises:
        ActionError: it cannot be rewritten without damage.
    """
    file = await read_text(context, name, limit_bytes=SCRIPT_BYTES, missing_is_empty=True)
    if file.left_out:
        raise ActionError(f"{name} is too large to edit: it has {file.size:,} bytes, the limit is {SCRIPT_BYTES:,}.")
    if not file.is_clean:
        raise ActionError(f"{name} is not UTF-8 text: editing would damage it.")
    return file.text


async def _rewrite(text: str, instruction: str, *, what: str) -> str:
    """The text as the edit model changed it, with the line ends it had."""
    from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser

    messages: list[ChatMessage] = [ChatMessageUser(content=_edit_prompt(text, instruction, what=what))]
    for _ in range(ATTEMPTS):
        answer = await ask("edit", messages)
        block = fenced_block(answer)
        if block is not None:
            return block.replace("\n", "\r\n") if "\r\n" in text else block
        messages += [ChatMessageAssistant(content=answer), ChatMessageUser(content=_REMINDER)]
    raise ActionError(
        "Nothing was changed: the editing model did not answer with the result in one fenced block, even when asked "
        "again. A smaller or clearer instruction may help."
    )


async def _save(context: ActionContext, before: str, after: str, *, script_name: str, save_name: str) -> str:
    await call_file_helper(context, "write", name=save_name, content=after, undoable=True)
    old, new = before.split("\n"), after.split("\n")
    diff = "\n".join(difflib.unified_diff(old, new, fromfile=script_name, tofile=save_name, lineterm=""))
    if not diff:
        return f"{save_name} was saved, but the editing model changed nothing."
    return f"{save_name} was saved. Check that the changes are what you wanted:\n{diff}"


def _edit_prompt(text: str, instruction: str, *, what: str) -> str:
    # A fence has to be longer than any that stands in the text.
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"""Change {what} as instructed.

Instruction:
{instruction}

Answer with one fenced block that holds all of {what} after the change, not only the changed places, and with no other
fenced block. Keep everything the instruction does not touch exactly as it is, indentation included. Open and close the
block with {len(fence)} backticks, as here:

{fence}
{text.replace(chr(13), "")}{"" if text.endswith(chr(10)) or not text else chr(10)}{fence}"""


_REMINDER = """Your answer could not be used: it must hold exactly one fenced block, opened and closed by lines of
backticks, with the complete text after the change in it. Answer again in that form."""
