"""Actions that edit a script by giving a model instructions."""

from __future__ import annotations

import difflib
import re

from podium.actions.action_context import ActionContext
from podium.actions.action_spec import ActionError, action
from podium.actions.files.file_access import call_file_helper, read_text
from podium.actions.model_calls import ask

MAX_SCRIPT_BYTES = 200_000
ATTEMPTS = 2
_FENCE = re.compile(r" {0,3}(`{3,})[^`]*")


@action(title="Edit Script (AI)")
async def edit_script(context: ActionContext, script_name: str, edit_instruction: str, save_name: str) -> str:
    """Have a language model edit a script according to your instruction. Check the result: it may contain mistakes.

    Args:
        script_name: The script to edit, relative to the workspace. A script that does not exist starts empty.
        edit_instruction: What to change, in detail and step by step: the model sees nothing but the script.
        save_name: Where to save the edited script, relative to the workspace; may be the same as script_name.

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
    """Have a language model edit a range of lines of a script according to your instruction. Check the result.

    Args:
        script_name: The script to edit, relative to the workspace.
        start_line_number: The first line that may be changed; lines are counted from 1.
        end_line_number: The last line that may be changed.
        edit_instruction: What to change, in detail and step by step: the model sees nothing but these lines.
        save_name: Where to save the edited script, relative to the workspace; may be the same as script_name.

    Returns:
        The changes as a unified diff.
    """
    script = await _read_script(context, script_name)
    lines = re.findall(r"[^\n]*\n|[^\n]+", script)
    first, last = start_line_number, end_line_number
    if not 1 <= first <= last <= max(1, len(lines)):
        raise ActionError(f"{script_name} has {len(lines)} lines, so lines {first} to {last} do not exist.")
    segment = "".join(lines[first - 1 : last])
    edited = await _rewrite(segment, edit_instruction, what=f"lines {first} to {last} of the script {script_name}")
    spliced = "".join([*lines[: first - 1], edited, *lines[last:]])
    return await _save(context, script, spliced, script_name=script_name, save_name=save_name)


def fenced_block(answer: str) -> str | None:
    """Return the content of the only fenced block in an answer; None if there is not exactly one closed block."""
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
    """Return the script, or an empty string if there is no such file.

    Raises:
        ActionError: editing would damage it.
    """
    file = await read_text(context, name, limit_bytes=MAX_SCRIPT_BYTES, missing_is_empty=True)
    if file.left_out:
        raise ActionError(f"{name} is too large to edit: it exceeds {MAX_SCRIPT_BYTES:,} bytes.")
    if not file.is_clean:
        raise ActionError(f"{name} is not UTF-8 text: editing would damage it.")
    return file.text


async def _rewrite(text: str, instruction: str, *, what: str) -> str:
    """Return the text as edited by the model, with its original line endings."""
    from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser

    messages: list[ChatMessage] = [ChatMessageUser(content=_edit_prompt(text, instruction, what=what))]
    for _ in range(ATTEMPTS):
        answer = await ask("edit", messages)
        block = fenced_block(answer)
        if block is not None:
            return block.replace("\n", "\r\n") if "\r\n" in text else block
        messages += [ChatMessageAssistant(content=answer), ChatMessageUser(content=_REMINDER)]
    raise ActionError(
        "Nothing was changed: the editing model did not return the result in a single fenced block, even after a "
        "reminder. A smaller or clearer instruction may help."
    )


async def _save(context: ActionContext, before: str, after: str, *, script_name: str, save_name: str) -> str:
    await call_file_helper(context, "write", name=save_name, content=after, undoable=True)
    old, new = before.split("\n"), after.split("\n")
    diff = "\n".join(difflib.unified_diff(old, new, fromfile=script_name, tofile=save_name, lineterm=""))
    if not diff:
        return f"{save_name} was saved, but the editing model changed nothing."
    return f"{save_name} was saved. Check that the changes are what you intended:\n{diff}"


def _edit_prompt(text: str, instruction: str, *, what: str) -> str:
    # The fence must be longer than any in the text.
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"""Change {what} as instructed.

Instruction:
{instruction}

Answer with one fenced block that contains all of {what} after the change, not only the changed parts, and use no other
fenced block. Keep everything that the instruction does not affect exactly as it is, including indentation. Open and
close the block with {len(fence)} backticks, like this:

{fence}
{text.replace(chr(13), "")}{"" if text.endswith(chr(10)) or not text else chr(10)}{fence}"""


_REMINDER = """Your answer could not be used: it must contain exactly one fenced block, opened and closed by lines of
backticks, with the complete text after the change. Answer again in this format."""
