"""Export of a run's conversations as parquet, for training."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from podium.environment.conversations import TracedConversation, TracedMessage, conversations
from podium.errors import MissingExtraError
from podium.runs.run_folder import RunFolder

Format = Literal["messages", "tokens"]


def export_run(run: RunFolder, target: Path, format: Format) -> int:  # noqa: A002 (the option's name)
    """Write a run's conversations, one per row (`messages`), or its answers token by token (`tokens`).

    Returns:
        Number of rows.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError("Writing parquet", "parquet") from error
    start = run.read_journal().start
    about = {"task": start.task, "seed": start.seed, "agent": start.agent}
    talks = conversations(run)
    rows = _message_rows(talks) if format == "messages" else _token_rows(talks)
    text, integer, number = pa.string(), pa.int64(), pa.float64()
    message = pa.struct(
        [
            *((name, text) for name in ("role", "content", "tool_calls", "tool_call_id")),
            *(("generated", pa.bool_()), ("step", integer), ("reward", number)),
        ]
    )
    special: dict[str, Any] = (
        {"messages": pa.list_(message)}
        if format == "messages"
        else {
            "message": integer,
            "step": integer,
            "text": text,
            "tokens": pa.list_(text),
            "token_ids": pa.list_(integer),
            "logprobs": pa.list_(number),
            "mask": pa.list_(pa.int8()),
        }
    )
    common = {"task": text, "seed": integer, "agent": text, "model": text, "role": text, "conversation": integer}
    schema = pa.schema({**common, **special, "reward": number})
    target.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist([about | row for row in rows], schema=schema), target)
    return len(rows)


def _message_rows(talks: list[TracedConversation]) -> list[dict[str, Any]]:
    return [
        {
            "model": talk.model,
            "role": talk.role,
            "conversation": number,
            "messages": [_plain(message) for message in talk.messages],
            "reward": sum(message.reward for message in talk.messages),
        }
        for number, talk in enumerate(talks)
    ]


def _plain(message: TracedMessage) -> dict[str, Any]:
    return {name: field for name, field in asdict(message).items() if name != "tokens"}


def _token_rows(talks: list[TracedConversation]) -> list[dict[str, Any]]:
    """Return one row per answer: the prompt's tokens, if known, with mask 0, then its own with mask 1."""
    rows = []
    for number, talk in enumerate(talks):
        for place, message in enumerate(talk.messages):
            if message.generated:
                about = {"model": talk.model, "role": talk.role, "conversation": number, "message": place}
                rows.append({**about, "step": message.step, "text": message.content, **_token_columns(message)})
    return rows


def _token_columns(message: TracedMessage) -> dict[str, Any]:
    tokens = message.tokens
    if tokens is None:
        return {"reward": message.reward}
    before = len(tokens.prompt_ids or ()) if tokens.ids is not None else 0
    count = len(tokens.ids if tokens.ids is not None else tokens.texts or ())
    return {
        "tokens": None if tokens.texts is None else [*[None] * before, *tokens.texts],
        "token_ids": None if tokens.ids is None else [*(tokens.prompt_ids or ()), *tokens.ids],
        "logprobs": None if tokens.logprobs is None else [*[None] * before, *tokens.logprobs],
        "mask": [*[0] * before, *[1] * count],
        "reward": message.reward,
    }
