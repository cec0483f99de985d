"""Which plans were made on this machine: a plan that came with somebody's folder is not obeyed unless one asks for it.

A plan says what runs where: an agent's command line, files and programs of the host, whether there is a sandbox, and
which server gets the key of a model. So a plan that was typed here is remembered by its hash.
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

OF_THE_HOST = (
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
"""Parts of a plan that decide what is done to the machine it is carried out on."""


def remember_plan(plan: Plan) -> None:
    """Keeps in mind that somebody wants this plan carried out here."""
    try:
        write_atomically(_mark(plan), "", durable=False)
    except OSError as error:
        logger.warning("%s cannot be written (%s): resuming will need --trust", _mark(plan), error.strerror)


def is_known_plan(plan: Plan) -> bool:
    """Whether somebody asked for this plan here."""
    return _mark(plan).is_file()


def own_data_dir(plan: Plan) -> Path | None:
    """Where a plan says that data lies, if it was made here; None means the usual place."""
    return plan.data_dir if is_known_plan(plan) else None


def requests(plan: Plan) -> str:
    """What a plan wants of the host, in words."""
    asked = plan.model_dump(mode="json", include=set(OF_THE_HOST), exclude_defaults=True)
    return ", ".join(f"{name} {asked[name]}" for name in OF_THE_HOST if name in asked)


def _mark(plan: Plan) -> Path:
    # Without defaults, so that a new version of Podium, with another setting, knows the plan too.
    text = json.dumps(plan.model_dump(mode="json", exclude_defaults=True), sort_keys=True)
    return home() / "plans" / hashlib.sha256(text.encode()).hexdigest()
