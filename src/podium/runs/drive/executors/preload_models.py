"""Fork server preparation for runs that call language models."""

from __future__ import annotations

from inspect_ai.model import get_model_info

get_model_info("none/none")  # loads Inspect's model database, which takes half a second
