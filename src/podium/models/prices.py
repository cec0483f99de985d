"""What models cost: a dated list that comes with Podium, and files of one's own that go before it."""

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
"""The date at the end of a model's name: a snapshot costs what the model costs."""


class Price(BaseModel):
    """Dollars per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    """Reasoning included."""
    cache_read: float | None = Field(None, ge=0)
    """Input that the provider still had; None where it is charged as input."""
    cache_write: float | None = Field(None, ge=0)
    checked: str = Field("", pattern=r"^(\d{4}-\d{2}-\d{2})?$")
    """The day on which the source said so."""
    source: str = ""
    note: str = ""
    """Where the price is only part of the truth, such as a surcharge for long prompts."""


_PRICES = TypeAdapter(dict[str, Price])


def known_prices() -> dict[str, Price]:
    """The prices that come with Podium, by model."""
    return _PRICES.validate_json(files("podium.models").joinpath("prices.json").read_bytes())


def read_prices(path: Path) -> dict[str, Price]:
    """The prices in a file of one's own.

    Raises:
        UsageError: it cannot be read, or is not a price list.
    """
    try:
        return _PRICES.validate_python(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        said = _first_fault(error) if isinstance(error, ValidationError) else str(error)
        raise UsageError(
            f"--prices {path} is not a price list: {said}. It looks like this, in dollars per million tokens: "
            '{"openai/gpt-4o": {"input": 2.5, "output": 10.0}}'
        ) from error


def _first_fault(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def price_of(model: str, base_url: str | None, own: Mapping[str, Price]) -> Price | None:
    """What a model costs; None if that is not known.

    The prices that come with Podium are those of the models' makers: whoever else serves a model has their own.
    """
    prices = own if base_url else {**known_prices(), **own}
    return prices.get(model) or prices.get(_SNAPSHOT.sub("", model))


def register_prices(prices: Mapping[str, Price]) -> None:
    """Lets Inspect count the cost of models."""
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
