"""Actions that list, read, write, copy and restore files."""

from __future__ import annotations

from podium.actions.action_context import ActionContext
from podium.actions.action_spec import ActionError, action
from podium.actions.files.file_access import call_file_helper, read_text

MAX_READ_BYTES = 16_000
MAX_LINES = 100


@action()
async def list_files(context: ActionContext, dir_path: str = ".") -> str:
    """List the files and folders in a folder of the workspace.

    Args:
        dir_path: The folder, relative to the workspace, such as "data"; "." is the workspace itself.

    Returns:
        One name per line. A suffix marks a folder (/), a link (@), an executable file (*) or a special file (|).
    """
    found = await call_file_helper(context, "list", name=dir_path or ".")
    gap = [f"[... {found['left_out']:,} more entries left out ...]"] if found["left_out"] else []
    return "\n".join([*found["first"], *gap, *found["last"]]) or f"{dir_path} is empty."


@action()
async def read_file(context: ActionContext, file_name: str) -> str:
    """Read a text file. Only the beginning and the end of a long file are shown.

    Args:
        file_name: The file, relative to the workspace.

    Returns:
        The content of the file.
    """
    file = await read_text(context, file_name, limit_bytes=MAX_READ_BYTES)
    if not file.size:
        return f"{file_name} is empty."
    notes = []
    if file.left_out:
        notes.append(f"{file_name} has {file.size:,} bytes: only its beginning and its end are shown.")
    if not file.is_clean:
        notes.append(f"{file_name} is not valid UTF-8: invalid bytes are shown as \N{REPLACEMENT CHARACTER}.")
    return "\n".join([*notes, str(file)])


@action()
async def write_file(context: ActionContext, file_name: str, content: str) -> str:
    """Write text to a file. An existing file is overwritten; missing folders are created.

    Args:
        file_name: The file, relative to the workspace.
        content: The complete content of the file.

    Returns:
        A confirmation, or the reason why the file could not be written.
    """
    await call_file_helper(context, "write", name=file_name, content=content, undoable=True)
    return f"{file_name} has been written."


@action()
async def append_file(context: ActionContext, file_name: str, content: str) -> str:
    """Append text to the end of a file. A missing file is created.

    Args:
        file_name: The file, relative to the workspace.
        content: The text to append, exactly as given: no line break is added.

    Returns:
        A confirmation, or the reason why the file could not be changed.
    """
    await call_file_helper(context, "write", name=file_name, content=content, append=True)
    return f"The text has been appended to {file_name}."


@action()
async def copy_file(context: ActionContext, source: str, destination: str) -> str:
    """Copy a file. An existing destination is overwritten; missing folders are created.

    Args:
        source: The file to copy, relative to the workspace.
        destination: The new file, or an existing folder to copy into, relative to the workspace.

    Returns:
        A confirmation, or the reason why the file could not be copied.
    """
    made = await call_file_helper(context, "copy", source=source, destination=destination)
    return f"{source} has been copied to {made}."


@action()
async def inspect_script_lines(
    context: ActionContext, script_name: str, start_line_number: int, end_line_number: int
) -> str:
    """Show a range of numbered lines of a script or another text file, at most 100 lines at a time.

    Args:
        script_name: The file, relative to the workspace.
        start_line_number: The first line to show; lines are counted from 1.
        end_line_number: The last line to show.

    Returns:
        The number of lines in the file, and the requested lines, each preceded by its number and a tab.
    """
    first, last = start_line_number, end_line_number
    if first < 1 or last < first:
        raise ActionError(f"There are no lines {first} to {last}: count from 1, and do not end before the start.")
    if last - first >= MAX_LINES:
        raise ActionError(f"Lines {first} to {last} are too many: at most {MAX_LINES} can be shown at a time.")
    found = await call_file_helper(context, "lines", name=script_name, start=first, end=last)
    if not found["is_text"]:
        raise ActionError(f"{script_name} is a binary file, so it has no lines to show.")
    lines, count = found["lines"], found["count"]
    if not lines:
        raise ActionError(f"{script_name} has {count} lines, so line {first} does not exist.")
    shown = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, start=first))
    return f"{script_name} has {count} lines. Lines {first} to {first + len(lines) - 1}:\n{shown}"


@action()
async def undo_edit_script(context: ActionContext, script_name: str) -> str:
    """Undo the last edit of a script. Repeat to undo earlier edits, one at a time.

    Each change by an editing action and each overwritten file counts as an edit.

    Args:
        script_name: The edited file; if the edit was saved under another name, that name.

    Returns:
        The restored content of the file.
    """
    done = await call_file_helper(context, "undo", name=script_name)
    left = f"{done['left']} earlier edits can be undone."
    if done["is_removed"]:
        return f"{script_name} did not exist before the last edit and has been removed. {left}"
    file = await read_text(context, script_name, limit_bytes=MAX_READ_BYTES)
    return f"The last edit of {script_name} was undone. {left} The file now contains:\n{file}"
