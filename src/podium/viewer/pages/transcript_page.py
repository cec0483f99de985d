"""Page of the transcript between an agent and its model."""

from __future__ import annotations

from concurrent.futures import TimeoutError as NotYetError

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from podium.viewer.http_security import Pages, run_address
from podium.viewer.index.transcripts import Transcript
from podium.viewer.page_site import page_of, site_of, with_query
from podium.viewer.pages.downloads import find_logs

PER_PAGE = 20
PATIENCE_S = 0.5
"""Maximum time that a page waits for a log; it is updated later if reading takes longer."""


def transcript(request: Request) -> Response:
    """Render the exchanges of one attempt, optionally only those that match a search."""
    site = site_of(request)
    row, folder, _ = site.find_run(request)
    logs = find_logs(folder)
    if not logs:
        raise HTTPException(404, "There is no transcript yet. It is written when an attempt ends.")
    given, find = request.query_params.get("log", ""), request.query_params.get("find", "")[:200]
    chosen = int(given) if given.isdecimal() and 1 <= int(given[:9]) <= len(logs) else len(logs)
    reading = site.transcripts.read(logs[chosen - 1], top=folder.experiment)
    change_token = site.change_tokens.of_run(row.key)
    try:
        found: Transcript | None = reading.result(timeout=PATIENCE_S)
    except NotYetError:
        found = None
    words = find.lower().split()
    every = list(enumerate(found.exchanges, 1)) if found else []
    matching = [(number, exchange) for number, exchange in every if exchange.matches(words)]
    here = run_address(row.key)
    pages = Pages(
        len(matching),
        PER_PAGE,
        page_of(request),
        lambda n: with_query(f"{here}/transcript", find=find, log=chosen, page=n),
    )
    return site.render(
        "transcript.html",
        live=f"/live{here}" if found is None else None,
        change_token=change_token,
        here=here,
        row=row,
        logs=[log.name for log in logs],
        chosen=chosen,
        find=find,
        words=words,
        found=found,
        shown=matching[pages.offset : pages.last],
        pages=pages,
    )
