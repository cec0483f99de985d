"""Web application: routes and error pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from podium.errors import PodiumError
from podium.viewer import live_updates
from podium.viewer.http_security import LocalOnly
from podium.viewer.page_site import HERE, Site, site_of
from podium.viewer.pages import (
    downloads,
    experiment_pages,
    leaderboard_page,
    run_page,
    step_page,
    task_page,
    transcript_page,
)

_STEP = "/runs/{run:path}/steps/{number:int}"


def make_app(site: Site) -> ASGIApp:
    """Return the application for a site."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        site.close()

    app = Starlette(
        routes=[
            Route("/", experiment_pages.experiments),
            Route("/leaderboard", leaderboard_page.leaderboard),
            Route("/tasks", task_page.tasks),
            Route("/tasks/{task}", task_page.task),
            Route("/compare", leaderboard_page.compare_page),
            Mount("/static", StaticFiles(directory=HERE / "static"), name="static"),
            Route("/live", _live_all),
            Route("/live/experiments/{name:path}", _live_experiment),
            Route("/live/runs/{run:path}", _live_run),
            Route("/experiments/{name:path}/verify", experiment_pages.verify_experiment, methods=["POST"]),
            Route("/experiments/{name:path}", experiment_pages.experiment),
            Route(f"{_STEP}/files", step_page.files),
            Route(f"{_STEP}/diff", step_page.diff),
            Route(f"{_STEP}/save/file", step_page.save_file),
            Route(f"{_STEP}/save/observation", step_page.save_observation),
            Route(f"{_STEP}/save/diff", step_page.save_diff),
            Route(f"{_STEP}/save/step", step_page.save_step),
            Route(_STEP, step_page.step),
            Route("/runs/{run:path}/tree/{number:int}/save", downloads.save_script),
            Route("/runs/{run:path}/tree/{number:int}", run_page.node),
            Route("/runs/{run:path}/tree", run_page.tree_page),
            Route("/runs/{run:path}/transcript", transcript_page.transcript),
            Route("/runs/{run:path}/verify", run_page.verify_run, methods=["POST"]),
            Route("/runs/{run:path}/save/{name:path}", downloads.save),
            Route("/runs/{run:path}", run_page.run),
        ],
        exception_handlers={HTTPException: _refuse, PodiumError: _fail, Exception: _crash},
        lifespan=lifespan,
    )
    app.state.site = site
    return LocalOnly(app)  # outermost, so that it covers error responses too


def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = error.detail if error.detail != HTTPStatus(error.status_code).phrase else "This page does not exist."
    return site_of(request).render("error.html", code=error.status_code, message=message)


def _fail(request: Request, error: Exception) -> Response:
    return site_of(request).render("error.html", code=500, message=str(error))


def _crash(request: Request, error: Exception) -> Response:
    """Render an internal error, which Starlette also logs to the terminal."""
    return site_of(request).render("error.html", code=500, message="An internal error occurred. The terminal shows it.")


async def _live_all(request: Request) -> Response:
    return _stream(request, site_of(request).change_tokens.of_all)


async def _live_experiment(request: Request) -> Response:
    return _stream(request, partial(site_of(request).change_tokens.of_experiment, request.path_params["name"]))


async def _live_run(request: Request) -> Response:
    site = site_of(request)
    return _stream(request, partial(site.change_tokens.of_run, site.find_run(request).row.key))


def _stream(request: Request, find_token: Callable[[], str]) -> Response:
    since = request.headers.get("last-event-id") or request.query_params.get("since", "")
    events = live_updates.events(find_token, since, site_of(request).closing)
    return StreamingResponse(events, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
