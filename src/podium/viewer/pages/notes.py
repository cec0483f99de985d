"""Notes and tags of experiments, as people change them."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from podium.viewer.notes import parse_notes, write_notes
from podium.viewer.site import read_form, site_of
from podium.viewer.web import experiment_address


async def change_notes(request: Request) -> Response:
    """Replaces the note and the tags of an experiment."""
    name = request.path_params["name"]
    form = await read_form(request)
    found = site_of(request).index.experiment(name)
    if found is None:
        raise HTTPException(404, "There is no such experiment.")
    try:
        write_notes(found.folder, parse_notes(form.get("note", ""), form.get("tags", "")))
    except OSError as error:
        raise HTTPException(409, f"{found.folder} cannot be written to: {error.strerror}.") from error
    return RedirectResponse(f"{experiment_address(name)}#notes", 303)
