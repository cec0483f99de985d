"""What all pages share: the index, journals that are open, templates that trust nobody."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse

from podium.report.table import Row
from podium.runs.record import RunFolder
from podium.text import format_duration, format_size
from podium.viewer import text
from podium.viewer.index import Index
from podium.viewer.live import Signs
from podium.viewer.standings import Standings
from podium.viewer.steps import StepLines
from podium.viewer.store import index_file
from podium.viewer.verifying import Verifier
from podium.viewer.web import Token, experiment_address, run_address

HERE = Path(__file__).parent
OPEN_JOURNALS = 32


class Site:
    """One `podium view`."""

    def __init__(self, root: Path, *, file: Path | None = None) -> None:
        self.root = root
        self.index = Index(root, file or index_file(root))
        self.verifier = Verifier(self.index)
        self.signs = Signs(self.index, self.verifier)
        self.standings = Standings(self.index)
        self.token = Token()
        self.closing = threading.Event()
        self._templates = _templates(self)
        self._journals: OrderedDict[Path, StepLines] = OrderedDict()
        self._lock = threading.Lock()

    def close(self) -> None:
        """Lets go of everything."""
        self.closing.set()
        self.verifier.close()
        self.index.close()

    def render(self, name: str, *, code: int = 200, **values: Any) -> HTMLResponse:
        """A page."""
        return HTMLResponse(self._templates.get_template(name).render(**values), code)

    def find_run(self, request: Request) -> tuple[Row, RunFolder]:
        """The run that an address names: EXPERIMENT/TASK/SEED, each known by exactly that name."""
        name, _, rest = request.path_params["run"].rpartition("/")
        name, _, task = name.rpartition("/")
        row = self.index.row(name, task, int(rest)) if rest.isdecimal() and len(rest) < 10 else None
        if row is None or row.folder is None:
            raise HTTPException(404, "There is no such run.")
        return row, RunFolder(row.folder)

    def lines(self, run: RunFolder) -> StepLines:
        """The journal of a run, up to date."""
        with self._lock:
            lines = self._journals.setdefault(run.path, StepLines(run.journal))
            self._journals.move_to_end(run.path)
            while len(self._journals) > OPEN_JOURNALS:
                self._journals.popitem(last=False)
        return lines.update() if run.journal.exists() else lines


def site_of(request: Request) -> Site:
    """The site that a request is for."""
    site: Site = request.app.state.site
    return site


def page_of(request: Request) -> int:
    """The page that a request asks for."""
    given = request.query_params.get("page", "1")
    return int(given) if given.isdecimal() and len(given) < 9 else 1


def raw_query(request: Request, name: str) -> str | None:
    """A value of the query as a file name, whatever bytes it consists of."""
    for part in request.scope["query_string"].split(b"&"):
        key, _, value = part.partition(b"=")
        if key == name.encode():
            return unquote_to_bytes(value.replace(b"+", b" ")).decode("utf-8", "surrogateescape")
    return None


def with_query(address: str, /, **values: Any) -> str:
    """An address with those values that are not empty; file names may hold any bytes."""
    query = {name: _encodable(value) for name, value in values.items() if value not in ("", None)}
    return f"{address}?{urlencode(query, quote_via=quote)}" if query else address


def _encodable(value: Any) -> Any:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def _templates(site: Site) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_harmless,
    )
    environment.globals |= {
        "token": site.token.text,
        "root": str(site.root),
        "experiment_address": experiment_address,
        "run_address": run_address,
        "with_query": with_query,
    }
    environment.filters |= {
        "short": text.short,
        "name": text.name,
        "size": _size,
        "duration": _duration,
        "number": text.number_in_words,
        "moment": _moment,
    }
    return environment


def _harmless(value: Any) -> Any:
    """Whatever a template writes goes through here, so no control character reaches a page by any way."""
    if value is None:
        return ""
    return text.visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _size(size_bytes: int | None) -> str:
    return "unknown" if size_bytes is None else format_size(size_bytes)


def _duration(seconds: float | None) -> str:
    return "" if seconds is None else format_duration(seconds)


def _moment(time: str | None) -> str:
    """A time from a record, to the second."""
    return time[:19].replace("T", " ") if time else ""
