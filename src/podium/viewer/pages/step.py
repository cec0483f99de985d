"""A step: the action, what came of it, the workspace after it, what it changed, and all of it to save."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse

from podium.errors import RecordError
from podium.report.table import Row
from podium.runs.record import RunFolder
from podium.viewer import tree, workspace
from podium.viewer.site import raw_query, site_of
from podium.viewer.steps import StepLines
from podium.viewer.text import Clip, as_text, clip
from podium.viewer.web import attachment, run_address

SAVED_BYTES = 4 << 30


class _Found:
    """The step that a request names."""

    def __init__(self, request: Request) -> None:
        site = site_of(request)
        self.row: Row
        self.folder: RunFolder
        self.row, self.folder = site.find_run(request)
        self.lines: StepLines = site.lines(self.folder)
        self.number: int = request.path_params["number"]
        if not 1 <= self.number <= len(self.lines.steps):
            raise HTTPException(404, f"This run has {len(self.lines.steps)} steps so far, and no step {self.number}.")
        self.line = self.lines.step(self.number)

    @property
    def snapshot(self) -> str:
        return self._snapshot(self.line)

    @property
    def snapshot_before(self) -> str:
        return self._snapshot(self.lines.first() if self.number == 1 else self.lines.step(self.number - 1))

    def _snapshot(self, line: dict[str, Any]) -> str:
        commit = line.get("snapshot")
        if not isinstance(commit, str):
            raise RecordError("The journal does not say which snapshot belongs to this step.")
        return commit

    def shared(self, view: str) -> dict[str, Any]:
        """What all pages of a step show."""
        here = run_address(self.row.experiment, self.row.task, self.row.seed)
        return {
            "here": here,
            "step_address": f"{here}/steps/{self.number}",
            "row": self.row,
            "number": self.number,
            "count": len(self.lines.steps),
            "line": self.line,
            "view": view,
            "script": self.lines.steps[self.number - 1].number,
            "has_tree": tree.keeps_tree(self.folder, self.lines),
        }


def step(request: Request) -> Response:
    """Action, arguments and observation."""
    found = _Found(request)
    arguments = found.line.get("arguments") or {}
    return site_of(request).render(
        "step.html",
        **found.shared("step"),
        arguments=[(name, clip(as_text(value))) for name, value in arguments.items()],
        observation=_observation(found),
    )


def _observation(found: _Found) -> Clip:
    kept = found.line.get("observation", "")
    if isinstance(kept, dict):
        return workspace.read_blob(found.folder, str(kept.get("blob")), int(kept.get("bytes", 0)))
    return clip(_unfolded(str(kept)))


def _unfolded(observation: str) -> str:
    """A script's result is JSON; its output is read better as text."""
    if not observation.startswith('{"exit_code":'):
        return observation
    try:
        facts = json.loads(observation)
        output = facts.pop("output", "")
    except (ValueError, AttributeError):
        return observation
    return json.dumps(facts, ensure_ascii=False) + f"\n\n{output}"


def files(request: Request) -> Response:
    """The workspace after a step: a folder, or a file."""
    found = _Found(request)
    path = raw_query(request, "path") or ""
    if path and not path.endswith("/"):
        shown = workspace.show_file(found.folder, found.snapshot, path)
        if shown.found.kind == "absent":
            raise HTTPException(404, "The workspace had no such file after this step.")
        return site_of(request).render("file.html", **found.shared("files"), crumbs=_crumbs(path), shown=shown)
    listing = workspace.list_folder(found.folder, found.snapshot, path)
    if path and not listing.names:
        raise HTTPException(404, "The workspace had no such folder after this step.")
    return site_of(request).render("files.html", **found.shared("files"), crumbs=_crumbs(path), listing=listing)


def _crumbs(path: str) -> list[tuple[str, str]]:
    """The folders on the way to a path, each with its name."""
    parts = path.split("/")[:-1]
    return [("/".join(parts[: n + 1]) + "/", name) for n, name in enumerate(parts)]


def diff(request: Request) -> Response:
    """What a step changed in the workspace."""
    found = _Found(request)
    changes = workspace.diff(found.folder, found.snapshot_before, found.snapshot)
    return site_of(request).render("diff.html", **found.shared("diff"), diff=changes)


def save_observation(request: Request) -> Response:
    """The whole observation, to be saved."""
    found = _Found(request)
    name = f"step-{found.number}-observation.txt"
    kept = found.line.get("observation", "")
    if isinstance(kept, dict):
        target = _scratch()
        try:
            workspace.write_blob(found.folder, str(kept.get("blob")), target)
        except BaseException:
            _remove(target)
            raise
        return _saved(target, name, "text/plain; charset=utf-8")
    data = str(kept).encode("utf-8", "replace")
    return Response(data, media_type="text/plain; charset=utf-8", headers=attachment(name))


def save_line(request: Request) -> Response:
    """The journal's line of a step as it stands, to be saved."""
    found = _Found(request)
    pieces = found.lines.pieces(found.lines.steps[found.number - 1])
    headers = attachment(f"step-{found.number}.json.txt")
    return StreamingResponse(pieces, media_type="text/plain; charset=utf-8", headers=headers)


def save_diff(request: Request) -> Response:
    """All that a step changed, to be saved."""
    found = _Found(request)
    history = workspace.history_of(found.folder)
    text = history.diff(found.snapshot_before, found.snapshot, limit_bytes=64_000_000)
    headers = attachment(f"step-{found.number}.diff.txt")
    return Response(text.encode("utf-8", "replace"), media_type="text/plain; charset=utf-8", headers=headers)


def save_file(request: Request) -> Response:
    """A file of the workspace, to be saved."""
    found = _Found(request)
    path = raw_query(request, "path") or ""
    target = _scratch()
    try:
        out = workspace.history_of(found.folder).extract(found.snapshot, path, target, SAVED_BYTES)
    except BaseException:
        _remove(target)
        raise
    if not out.is_file:
        _remove(target)
        raise HTTPException(404, f"This file cannot be saved: {out.reason}.")
    return _saved(target, path, "application/octet-stream")


def _scratch() -> Path:
    """A file in a new folder of its own, whose name an agent has no say in."""
    return Path(tempfile.mkdtemp(prefix="podium-view-"), "content")


def _saved(target: Path, name: str, media_type: str) -> Response:
    return FileResponse(
        target, media_type=media_type, headers=attachment(name), background=BackgroundTask(_remove, target)
    )


def _remove(target: Path) -> None:
    target.unlink(missing_ok=True)
    target.parent.rmdir()
