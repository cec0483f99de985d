"""State shared by all pages: the index, followed journals and templates."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, unquote_to_bytes, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse

from podium.errors import RecordError
from podium.report.aggregate import display_name, heading
from podium.report.results import Row, RunKey
from podium.runs.experiment import Experiment
from podium.runs.run_folder import RunFolder
from podium.viewer import shown_text
from podium.viewer.drawing.experiment_overview import Overviews
from podium.viewer.http_security import FormToken, experiment_address, run_address, task_address
from podium.viewer.index.experiment_index import ExperimentIndex
from podium.viewer.index.experiment_ranking import Ranking
from podium.viewer.index.index_database import index_file
from podium.viewer.index.transcripts import TranscriptReader
from podium.viewer.index.verify_requests import Verifier
from podium.viewer.live_updates import ChangeTokens
from podium.workspace.journal.journal import JournalFollower

HERE = Path(__file__).parent
OPEN_JOURNALS = 32
MAX_FORM_BYTES = 4_000


class FoundRun(NamedTuple):
    """Run that an address names."""

    row: Row
    folder: RunFolder
    experiment: Experiment


class FollowedJournal(NamedTuple):
    """Readable part of a journal."""

    journal: JournalFollower
    error: str | None
    """Problem with the first unreadable line."""


class Site:
    """State of one `podium view` process."""

    def __init__(self, root: Path, *, file: Path | None = None) -> None:
        self.root = root
        self.index = ExperimentIndex(root, file or index_file(root))
        self.verifier = Verifier(self.index)
        self.transcripts = TranscriptReader()
        self.change_tokens = ChangeTokens(self.index, self.verifier, self.transcripts)
        self.ranking = Ranking(self.index)
        self.overviews = Overviews(self.index)
        self.token = FormToken()
        self.closing = threading.Event()
        self._templates = _templates(self)
        self._journals: OrderedDict[Path, JournalFollower] = OrderedDict()
        self._lock = threading.Lock()

    def close(self) -> None:
        """Stop all background work."""
        self.closing.set()
        self.verifier.close()
        self.transcripts.close()
        self.index.close()

    def render(self, name: str, *, code: int = 200, **values: Any) -> HTMLResponse:
        """Render a page."""
        return HTMLResponse(self._templates.get_template(name).render(code=code, **values), code)

    def find_run(self, request: Request) -> FoundRun:
        """Return the run that an address names: EXPERIMENT/TASK/SEED."""
        name, _, rest = request.path_params["run"].rpartition("/")
        name, _, task = name.rpartition("/")
        row = self.index.row(RunKey(name, task, int(rest))) if rest.isdecimal() and len(rest) < 10 else None
        status = self.index.experiment(name)
        if row is None or row.folder is None or status is None or status.experiment is None:
            raise HTTPException(404, "This run does not exist.")
        return FoundRun(row, RunFolder(row.folder), status.experiment)

    def follow(self, run: RunFolder) -> FollowedJournal:
        """Return the up-to-date journal of a run."""
        with self._lock:
            journal = self._journals.setdefault(run.path, JournalFollower(run.journal, top=run.experiment))
            self._journals.move_to_end(run.path)
            while len(self._journals) > OPEN_JOURNALS:
                self._journals.popitem(last=False)
        try:
            return FollowedJournal(journal.update() if run.journal.exists() else journal, None)
        except RecordError as error:
            return FollowedJournal(journal, str(error))


def site_of(request: Request) -> Site:
    """Return the site that a request is for."""
    site: Site = request.app.state.site
    return site


async def check_form(request: Request) -> None:
    """Check that a posted form comes from one of our pages.

    Raises:
        HTTPException: The token is missing or wrong.
    """
    fields = parse_qs((await request.body())[:MAX_FORM_BYTES].decode("utf-8", "replace"))
    if not site_of(request).token.is_valid(request, fields.get("token", [""])[0]):
        raise HTTPException(403, "The form has expired. Reload the page and try again.")


def page_of(request: Request) -> int:
    """Return the number of the requested page."""
    given = request.query_params.get("page", "1")
    return int(given) if given.isdecimal() and len(given) < 9 else 1


def raw_query(request: Request, name: str) -> str | None:
    """Return a query value as a file name, which may contain any bytes."""
    for part in request.scope["query_string"].split(b"&"):
        key, _, value = part.partition(b"=")
        if key == name.encode():
            return unquote_to_bytes(value.replace(b"+", b" ")).decode("utf-8", "surrogateescape")
    return None


def with_query(address: str, /, **values: Any) -> str:
    """Return an address with the non-empty values as its query; file names may contain any bytes."""
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
        "task_address": task_address,
        "with_query": with_query,
    }
    environment.filters |= {
        "short": shown_text.short,
        "name": shown_text.name,
        "size": shown_text.size_in_words,
        "duration": shown_text.duration_in_words,
        "number": shown_text.number_in_words,
        "moment": _moment,
        "display_name": display_name,
        "heading": heading,
        "found": shown_text.mark_words,
    }
    return environment


def _harmless(value: Any) -> Any:
    """Remove control characters from every value that a template writes."""
    if value is None:
        return ""
    return shown_text.visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _moment(time: str | None) -> str:
    """Format a time from a record, to the second."""
    return time[:19].replace("T", " ") if time else ""
