"""Pages of a step: action and observation, workspace, changes and downloads."""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from podium.errors import RecordError
from podium.text import plural
from podium.viewer.drawing import observation_view, tree_drawing
from podium.viewer.http_security import attachment, run_address
from podium.viewer.index import snapshot_files
from podium.viewer.page_site import raw_query, site_of
from podium.viewer.shown_text import as_text, clip
from podium.workspace.journal.events import Action, Start, Step, read_full_action, read_full_observation
from podium.workspace.journal.observations import Observation

SAVED_BYTES = 4 << 30


class _StepPage:
    """Step that a request names."""

    def __init__(self, request: Request) -> None:
        site = site_of(request)
        self.row, self.folder, _ = site.find_run(request)
        self.journal, error = site.follow(self.folder)
        self.number: int = request.path_params["number"]
        count = len(self.journal.steps)
        if not 1 <= self.number <= count:
            message = error or f"Step {self.number} does not exist: this run has {plural(count, 'step')}."
            raise HTTPException(500 if error and self.number else 404, message)
        self.step: Step = self.journal.step(self.number)

    @property
    def action(self) -> Action:
        return read_full_action(self.step, partial(snapshot_files.read_blob, self.folder))

    @property
    def observation(self) -> Observation:
        return read_full_observation(self.step, partial(snapshot_files.read_blob, self.folder))

    @property
    def snapshot_before(self) -> str:
        if self.number > 1:
            return self.journal.step(self.number - 1).snapshot
        first = self.journal.read(1)
        if not isinstance(first, Start):
            raise RecordError(f"{self.journal.path} must begin with 'start', not with '{first.kind}'.")
        return first.snapshot

    def shared(self, view: str) -> dict[str, Any]:
        """Return the values that all pages of a step share."""
        here = run_address(self.row.key)
        return {
            "here": here,
            "step_address": f"{here}/steps/{self.number}",
            "row": self.row,
            "number": self.number,
            "count": len(self.journal.steps),
            "step": self.step,
            "view": view,
            "script": self.journal.steps[self.number - 1].script,
            "has_tree": tree_drawing.keeps_tree(self.folder, self.journal),
        }


def step(request: Request) -> Response:
    """Render the action, its arguments and the observation."""
    page = _StepPage(request)
    return site_of(request).render(
        "step.html",
        **page.shared("step"),
        arguments=[(name, clip(as_text(value))) for name, value in page.action.arguments.items()],
        observation=observation_view.show(page.observation),
    )


def files(request: Request) -> Response:
    """Render a folder or file of the workspace after a step."""
    page = _StepPage(request)
    path = raw_query(request, "path") or ""
    if path and not path.endswith("/"):
        shown = snapshot_files.show_file(page.folder, page.step.snapshot, path)
        if shown.found.kind == "absent":
            raise HTTPException(404, "This file does not exist in the workspace after this step.")
        return site_of(request).render("file.html", **page.shared("files"), crumbs=_crumbs(path), shown=shown)
    listing = snapshot_files.list_folder(page.folder, page.step.snapshot, path)
    if path and not listing.items:
        raise HTTPException(404, "This folder does not exist in the workspace after this step.")
    return site_of(request).render("files.html", **page.shared("files"), crumbs=_crumbs(path), listing=listing)


def _crumbs(path: str) -> list[tuple[str, str]]:
    """Return the parent folders of a path with their names."""
    parts = path.split("/")[:-1]
    return [("/".join(parts[: n + 1]) + "/", name) for n, name in enumerate(parts)]


def diff(request: Request) -> Response:
    """Render the changes of a step to the workspace."""
    page = _StepPage(request)
    changes = snapshot_files.diff(page.folder, page.snapshot_before, page.step.snapshot)
    return site_of(request).render("diff.html", **page.shared("diff"), diff=changes)


def save_observation(request: Request) -> Response:
    """Respond with the full observation as text."""
    page = _StepPage(request)
    return _attached(page.observation.text, f"step-{page.number}-observation.txt")


def save_step(request: Request) -> Response:
    """Respond with the full step as JSON."""
    page = _StepPage(request)
    whole = page.step.model_copy(update={"action": page.action, "observation": page.observation})
    return _attached(json.dumps(whole.model_dump(mode="json"), indent=1), f"step-{page.number}.json.txt")


def save_diff(request: Request) -> Response:
    """Respond with the full diff of a step."""
    page = _StepPage(request)
    history = snapshot_files.history_of(page.folder)
    text = history.diff(page.snapshot_before, page.step.snapshot, limit_bytes=64_000_000)
    return _attached(text, f"step-{page.number}.diff.txt")


def save_file(request: Request) -> Response:
    """Respond with a file of the workspace."""
    page = _StepPage(request)
    path = raw_query(request, "path") or ""
    # A new temporary folder and a fixed file name, so that the agent controls neither.
    target = Path(tempfile.mkdtemp(prefix="podium-view-"), "content")
    try:
        out = snapshot_files.history_of(page.folder).extract(page.step.snapshot, path, target, SAVED_BYTES)
    except BaseException:
        _remove(target)
        raise
    if not out.is_file:
        _remove(target)
        raise HTTPException(404, f"This file cannot be downloaded: {out.reason}.")
    return FileResponse(
        target,
        media_type="application/octet-stream",
        headers=attachment(path),
        background=BackgroundTask(_remove, target),
    )


def _attached(text: str, name: str) -> Response:
    data = text.encode("utf-8", "replace")
    return Response(data, media_type="text/plain; charset=utf-8", headers=attachment(name))


def _remove(target: Path) -> None:
    target.unlink(missing_ok=True)
    target.parent.rmdir()
