"""Looking at files and changing them."""

from __future__ import annotations

from podium.actions.action_context import ActionContext
from podium.actions.action_spec import ActionError, action
from podium.actions.files.file_access import call_file_helper, read_text

READ_BYTES = 16_000
LINES_AT_ONCE = 100


@action()
async def list_files(context: ActionContext, dir_path: str = ".") -> str:
    """List the files and folders in a folder of the workspace.

    Args:
        dir_path: The folder, relative to the workspace, such as "data"; "." is the workspace itself.

    Returns:
        One name per line. A mark after the name shows a folder (/), a link (@), an executable file (*).
    """
    found = await call_file_helper(context, "list", name=dir_path or ".")
    gap = [f"[... {found['left_out']:,} more entries left out ...]"] if found["left_out"] else []
    return "\n".join([*found["first"], *gap, *found["last"]]) or f"{dir_path} is empty."


@action()
async def read_file(context: ActionContext, file_name: str) -> str:
    """Read a text file. Of a long file only the beginning and the end are shown.

    Args:
        file_name: The file, relative to the workspace.

    Returns:
        What the file holds.
    """
    file = await read_text(context, file_name, limit_bytes=READ_BYTES)
    if not file.size:
        return f"{file_name} is empty."
    notes = []
    if file.left_out:
        notes.append(f"{file_name} has {file.size:,} bytes: only its beginning and its end are shown.")
    if not file.is_clean:
        notes.append(f"{file_name} is not all UTF-8: other bytes are shown as \N{REPLACEMENT CHARACTER}.")
    return "\n".join([*notes, str(file)])


@action()
async def write_file(context: ActionContext, file_name: str, content: str) -> str:
    """Write text to a file. An existing file is replaced; missing folders are made.

    Args:
        file_name: The file, relative to the workspace.
        content: Everything the file is to hold.

    Returns:
        A confirmation, or why the file could not be written.
    """
    await call_file_helper(context, "write", name=file_name, content=content, undoable=True)
    return f"{file_name} has been written."


@action()
async def append_file(context: ActionContext, file_name: str, content: str) -> str:
    """Append text to the end of a file. A missing file is made.

    Args:
        file_name: The file, relative to the workspace.
        content: The text to append, as it stands: no line break is added.

    Returns:
        A confirmation, or why the file could not be changed.
    """
    await call_file_helper(context, "write", name=file_name, content=content, append=True)
    return f"The text has been appended to {file_name}."


@action()
async def copy_file(context: ActionContext, source: str, destination: str) -> str:
    """Copy a file. An existing destination is replaced; missing folders are made.

    Args:
        source: The file to copy, relative to the workspace.
        destination: The file to make, or an existing folder to copy into, relative to the workspace.

    Returns:
        A confirmation, or why the file could not be copied.
    """
    made = await call_file_helper(context, "copy", source=source, destination=destination)
    return f"{source} has been copied to {made}."


@action()
async def inspect_script_lines(
    context: ActionContext, script_name: str, start_line_number: int, end_line_number: int
) -> str:
    """Show some lines of a script or another text file, with their numbers. At most 100 lines at a time.

    Args:
        script_name: The file, relative to the workspace.
        start_line_number: The first line to show; lines are counted from 1.
        end_line_number: The last line to show.

    Returns:
        How many lines the file has, and the lines asked for, each after its number and a tab.
    """
    first, last = start_line_number, end_line_number
    if first < 1 or last < first:
        raise ActionError(f"There are no lines {first} to {last}: count from 1, and end after the start.")
    if last - first >= LINES_AT_ONCE:
        raise ActionError(f"Lines {first} to {last} are too many: at most {LINES_AT_ONCE} can be shown at a time.")
    found = await call_file_helper(context, "lines", name=script_name, start=first, end=last)
    if not found["is_text"]:
        raise ActionError(f"{script_name} is a binary file: it has no lines to show.")
    lines, count = found["lines"], found["count"]
    if not lines:
        raise ActionError(f"{script_name} has {count} lines: there is no line {first}.")
    shown = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, start=first))
    return f"{script_name} has {count} lines. Lines {first} to {first + len(lines) - 1}:\n{shown}"


@action()
async def undo_edit_script(context: ActionContext, script_name: str) -> str:
    """Take back the last edit of a script. Repeated, it takes back the edits before, one after the other.

    Every change by an editing action, and every replacement of the whole file by writing it, is an edit.

    Args:
        script_name: The file that was edited (for an edit saved under another name: that name).

    Returns:
        What the file holds again.
    """
    done = await call_file_helper(context, "undo", name=script_name)
    left = f"{done['left']} earlier edits can be undone."
    if done["is_removed"]:
        return f"{script_name} did not exist before the last edit and has been removed. {left}"
    file = await read_text(context, script_name, limit_bytes=READ_BYTES)
    return f"The last edit of {script_name} was taken back. {left} It holds:\n{file}"
