"""Model prices: a dated list that ships with Podium, and user files that override it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from podium.errors import UsageError

if TYPE_CHECKING:
    from inspect_ai.model import ModelInfo

_SNAPSHOT = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8})$")
"""Date suffix of a model name; a dated snapshot costs the same as its model."""


class Price(BaseModel):
    """Price of a model in dollars per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    """Output tokens, including reasoning."""
    cache_read: float | None = Field(None, ge=0)
    """Cached input tokens; None if they cost the same as other input."""
    cache_write: float | None = Field(None, ge=0)
    checked: str = Field("", pattern=r"^(\d{4}-\d{2}-\d{2})?$")
    """Date on which the price was checked."""
    source: str = ""
    note: str = ""
    """Conditions the price does not cover, such as a surcharge for long prompts."""


_PRICES = TypeAdapter(dict[str, Price])


def bundled_prices() -> dict[str, Price]:
    """Return the prices that ship with Podium, by model."""
    return _PRICES.validate_json(files("podium.models").joinpath("prices.json").read_bytes())


def read_prices(path: Path) -> dict[str, Price]:
    """Return the prices in a user's file.

    Raises:
        UsageError: the file cannot be read, or is not a price list.
    """
    try:
        return _PRICES.validate_python(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        said = _first_fault(error) if isinstance(error, ValidationError) else str(error)
        raise UsageError(
            f"--prices {path} is not a price list: {said}. A price list gives dollars per million tokens: "
            '{"openai/gpt-4o": {"input": 2.5, "output": 10.0}}'
        ) from error


def _first_fault(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def price_of(model: str, base_url: str | None, overrides: Mapping[str, Price]) -> Price | None:
    """Return the price of a model, or None if it is unknown.

    Podium's prices are those of the models' makers; other hosts of a model have their own.
    """
    prices = overrides if base_url else {**bundled_prices(), **overrides}
    return prices.get(model) or prices.get(_SNAPSHOT.sub("", model))


def register_prices(prices: Mapping[str, Price]) -> None:
    """Register prices with Inspect, so that it counts costs."""
    from inspect_ai.model import ModelCost, ModelInfo, get_model_info, set_model_info

    for name, price in prices.items():
        cost = ModelCost(
            input=price.input,
            output=price.output,
            input_cache_read=price.input if price.cache_read is None else price.cache_read,
            input_cache_write=price.input if price.cache_write is None else price.cache_write,
        )
        info: ModelInfo = get_model_info(name) or ModelInfo()
        set_model_info(name, info.model_copy(update={"cost": cost}))
