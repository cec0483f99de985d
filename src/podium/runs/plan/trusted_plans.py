"""Trusted plans: remembers plans made on this machine; a plan from another machine needs `--trust`.

A plan decides what runs on the host: an agent's command line, files and programs, whether there is a sandbox, and
which server receives a model's API key. So every plan made here is remembered by its hash.
"""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path

from podium.data.home import home
from podium.runs.records import Plan
from podium.safefs.atomic_files import write_atomically

logger = logging.getLogger(__name__)

HOST_SETTINGS = (
    "agent",
    "options",
    "model",
    "model_base_url",
    "model_args",
    "model_roles",
    "sandbox",
    "network",
    "env",
    "data_dir",
)
"""Plan fields that affect the host."""


def remember_plan(plan: Plan) -> None:
    """Remember a plan made on this machine."""
    try:
        write_atomically(_mark(plan), "", durable=False)
    except OSError as error:
        logger.warning("%s cannot be written (%s). Resuming will need --trust.", _mark(plan), error.strerror)


def is_known_plan(plan: Plan) -> bool:
    """Return whether the plan was made on this machine."""
    return _mark(plan).is_file()


def own_data_dir(plan: Plan) -> Path | None:
    """Return the plan's data folder if the plan was made on this machine; None means the default folder."""
    return plan.data_dir if is_known_plan(plan) else None


def host_settings(plan: Plan) -> str:
    """Return the plan's settings that affect the host, as text."""
    asked = plan.model_dump(mode="json", include=set(HOST_SETTINGS), exclude_defaults=True)
    return ", ".join(f"{name} {asked[name]}" for name in HOST_SETTINGS if name in asked)


def _mark(plan: Plan) -> Path:
    # Without defaults, so that a newer Podium with more settings recognizes the plan.
    text = json.dumps(plan.model_dump(mode="json", exclude_defaults=True), sort_keys=True)
    return home() / "plans" / hashlib.sha256(text.encode()).hexdigest()
