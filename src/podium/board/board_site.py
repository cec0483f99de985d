"""Static website of a board, without external resources.

index.html            tables of entries, one per class of comparable entries
entries/DIGEST.html   an entry with its evidence; entries/DIGEST.json adds an inclusion proof
ledger.html           all statements in order, 500 per page
board.json board.csv  all rows; ledger/ and head.json for audits
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from podium.board.check.check_registration import Known, all_known
from podium.board.ledger.audit_ledger import Audit, audit
from podium.board.ledger.keeper_decisions import BundleStanding, standings
from podium.board.ledger.ledger import LedgerEntry
from podium.board.ledger.merkle import MerkleTree
from podium.errors import BoardError, UsageError
from podium.report.export_results import harmless
from podium.safefs.atomic_files import write_atomically
from podium.text import plural, printable

PAGE = 500
"""Statements per page of the ledger."""
LABELS = {"network": "Network access", "cores": "CPU cores", "gpus": "GPUs"}
"""Labels of settings that differ from their names."""
STATIC = ("style.css", "filter.js")
COLUMNS = ("agent", "model", "mean", "sem", "tasks", "seeds", "unfinished", "by", "measure", "registration")


class BoardSite:
    """Pages of one board."""

    def __init__(self, board: Path, target: Path) -> None:
        """Audit the ledger and load the templates.

        Raises:
            BoardError: The ledger fails its audit.
            UsageError: The target folder contains other files.
        """
        if target.exists() and any(target.iterdir()) and not (target / "head.json").exists():
            raise UsageError(f"{target} contains other files. Choose another folder for the site.")
        self._board, self._target = board, target
        self._ledger = audit(board)
        if not self._ledger.passed:
            raise BoardError(f"The ledger of {board} fails its audit: {self._ledger.problems[0]}")
        self._tree = MerkleTree(entry.leaf for entry in self._ledger.entries)
        self._known = all_known(self._ledger.entries)
        self._templates = _environment(self._ledger)

    def build(self) -> int:
        """Write every page and return the number of entries."""
        found = standings(self._ledger.entries)
        standing = sorted((one for one in found if one.stands), key=lambda one: -one.row.get("mean", 0.0))
        self._page(
            "index.html", "index.html", classes=_classes(standing), gone=[one for one in found if not one.stands]
        )
        for one in found:
            self._entry(one)
        pages = range(0, max(1, len(self._ledger.entries)), PAGE)
        for number, start in enumerate(pages, 1):
            shown = self._ledger.entries[start : start + PAGE]
            name = "ledger.html" if number == 1 else f"ledger-{number}.html"
            self._page("ledger.html", name, shown=shown, number=number, count=len(pages))
        self._downloads(standing)
        return len(found)

    def _page(self, template: str, name: str, **values: Any) -> None:
        text = self._templates.get_template(template).render(depth="../" * name.count("/"), **values)
        self._write(name, text)

    def _entry(self, one: BundleStanding) -> None:
        known = self._known.get(one.row.get("registration") or "")
        decided = one.decisions[-1][0].number
        proof = {
            "bundle": one.bundle,
            "row": one.row,
            "entry": decided,
            "line": one.decisions[-1][0].line.decode("ascii"),
            "proof": [part.hex() for part in self._tree.inclusion_proof(decided)],
            "head": self._ledger.head.to_dict() if self._ledger.head else None,
        }
        self._write(f"entries/{one.bundle}.json", json.dumps(proof, indent=1))
        self._page("entry.html", f"entries/{one.bundle}.html", one=one, row=one.row, known=known, **_anchored(known))

    def _downloads(self, standing: Sequence[BundleStanding]) -> None:
        rows = [{"bundle": one.bundle, **one.row} for one in standing]
        self._write("board.json", json.dumps({"board": self._ledger.board, "entries": rows}, indent=1))
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(("bundle", *COLUMNS))
        writer.writerows([row["bundle"], *(harmless(row.get(name)) for name in COLUMNS)] for row in rows)
        self._write("board.csv", out.getvalue())
        for name in STATIC:
            self._write(name, _loader().get_source(Environment(autoescape=True), name)[0])
        for name in ("head.json", "rules.toml"):
            if (self._board / name).exists():
                shutil.copyfile(self._board / name, self._target / name)
        shutil.copytree(self._board / "ledger", self._target / "ledger", dirs_exist_ok=True)

    def _write(self, name: str, text: str) -> None:
        write_atomically(self._target / name, text, durable=False)


def _classes(standing: Sequence[BundleStanding]) -> list[tuple[dict[str, Any], list[BundleStanding]]]:
    """Return classes of comparable entries, the largest first."""
    found: dict[str, list[BundleStanding]] = {}
    for one in standing:
        found.setdefault(json.dumps([one.row.get("measure"), one.row.get("class")], sort_keys=True), []).append(one)
    return [(group[0].row.get("class") or {}, group) for group in sorted(found.values(), key=len, reverse=True)]


def _anchored(known: Known | None) -> dict[str, Any]:
    """Return the number of an entry's anchors, and the first and last anchor of each run."""
    if known is None:
        return {"anchors": 0, "anchored": []}
    runs = [(name, made[0][0], made[-1][0]) for name, made in sorted(known.anchors.items())]
    return {"anchors": sum(map(len, known.anchors.values())), "anchored": runs}


def _loader() -> PackageLoader:
    return PackageLoader("podium.board", "templates")


def _environment(ledger: Audit) -> Environment:
    environment = Environment(
        loader=_loader(), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    kinds = Counter(entry.statement.kind for entry in ledger.entries)
    environment.globals |= {"board": ledger.board, "head": ledger.head, "kinds": dict(kinds)}
    environment.filters |= {"moment": _moment, "summary": _summary, "label": _label}
    environment.filters |= {"outcomes": partial(_outcomes, board=ledger.board["key"])}
    environment.filters |= {"class_title": _class_title, "text": _text}
    environment.finalize = lambda value: printable(value) if type(value) is str else "" if value is None else value
    return environment


def _class_title(shared: dict[str, Any]) -> str:
    """Return a title from the settings that all entries of a class share."""
    parts = [str(shared.get("budget", "any budget")), "with network" if shared.get("network") else "no network"]
    counts = [plural(shared[name], noun) for name, noun in (("cores", "core"), ("gpus", "GPU")) if shared.get(name)]
    return " · ".join([*parts, *counts, str(shared.get("sandbox", ""))])


def _label(name: str) -> str:
    """Return the label of a setting or a measure."""
    return LABELS.get(name, name[:1].upper() + name[1:].replace("_", " "))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _moment(time: str) -> str:
    return time[:19].replace("T", " ")


def _summary(entry: LedgerEntry) -> str:
    """Return a short summary of a statement."""
    said = entry.statement.model_dump(exclude={"board", "kind", "row", "data"})
    return "; ".join(f"{name.replace('_', ' ')} {_short(value)}" for name, value in said.items())


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _outcomes(one: BundleStanding, board: str) -> str:
    """Summarise the reproductions of an entry: the last outcome per key and run, without the publisher's own."""
    runs = {(run["task"], run["seed"]) for run in one.row.get("runs", ())}
    found = {
        (entry.signed.key, said.task, said.seed): said.outcome
        for entry, said in one.reproductions
        if entry.signed.key != one.row.get("publisher") and (not runs or (said.task, said.seed) in runs)
    }
    counted = Counter((outcome, "the board" if key == board else "others") for (key, _, _), outcome in found.items())
    return ", ".join(f"{number} {outcome} by {whom}" for (outcome, whom), number in counted.most_common())
