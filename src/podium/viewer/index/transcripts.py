"""Transcripts: the exchanges between an agent and its model, read from a run's Inspect logs.

Logs are untrusted archives, so a process with limited memory and time reads them and returns bounded texts.

python -m podium.viewer.index.transcripts DESCRIPTOR
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import resource
import subprocess
import sys
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from podium.safefs.open_nofollow import open_regular
from podium.viewer.index.find_experiments import stamp_of

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent
    from inspect_ai.model import ChatMessage

MEMORY_BYTES = 6 << 30
TIME_S = 60.0
MAX_EXCHANGES = 2_000
TEXT_CHARACTERS = 20_000
ALL_CHARACTERS = 8_000_000
KEPT = 8
"""Number of transcripts kept in memory."""


class Call(BaseModel):
    """Tool call of a model."""

    tool: str
    arguments: str


class TranscriptMessage(BaseModel):
    """Message of a conversation."""

    role: str
    text: str
    size: int
    """Length of the full text, in characters."""
    calls: list[Call] = []


class Exchange(BaseModel):
    """Model call: the new messages of its prompt, and the answer."""

    time: str
    model: str
    role: str | None
    prompt: list[TranscriptMessage]
    answer: TranscriptMessage | None
    error: str | None
    seconds: float | None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def matches(self, words: list[str]) -> bool:
        """Return whether the exchange contains all words."""
        messages = [*self.prompt, *([self.answer] if self.answer else [])]
        parts = [
            part for each in messages for part in (each.text, *(f"{call.tool} {call.arguments}" for call in each.calls))
        ]
        text = "\n".join([*parts, self.error or ""]).lower()
        return all(word in text for word in words)


class Transcript(BaseModel):
    """Exchanges of a log, or the reason why they cannot be read."""

    exchanges: list[Exchange] = []
    is_whole: bool = True
    error: str | None = None


class TranscriptReader:
    """Background reader of logs, one at a time, with a cache of recent transcripts."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="podium-transcript")
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[Path, str], Future[Transcript]] = OrderedDict()
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, log: Path, *, top: Path) -> Future[Transcript]:
        """Return a future of a log's transcript; links below `top` are not followed."""
        key = log, stamp_of(log)
        with self._lock:
            if key not in self._known:
                self._known[key] = self._pool.submit(self._read, log, top)
            self._known.move_to_end(key)
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
            return self._known[key]

    def is_reading(self, folder: Path) -> bool:
        """Return whether a log in a folder is being read."""
        with self._lock:
            return any(log.parent == folder and not future.done() for (log, _), future in self._known.items())

    def close(self) -> None:
        """Stop reading."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            if self._process is not None:
                self._process.kill()
        self._pool.shutdown()

    def _read(self, log: Path, top: Path) -> Transcript:
        try:
            descriptor = open_regular(log, top=top)
        except OSError as error:
            return Transcript(error=f"{log.name} cannot be read: {error.strerror}.")
        command = [sys.executable, "-m", __name__, str(descriptor)]
        with self._lock:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=[descriptor]
            )
        os.close(descriptor)
        try:
            output, errors = self._process.communicate(timeout=TIME_S)
            return Transcript.model_validate_json(output)
        except subprocess.TimeoutExpired:
            return Transcript(error=f"Reading {log.name} took longer than {TIME_S:.0f} s.")
        except ValidationError:
            lines = errors.decode("utf-8", "replace").strip().splitlines() or ["it is too large"]
            return Transcript(error=f"{log.name} cannot be read: {lines[-1][:300]}")
        finally:
            self._process.kill()
            self._process.communicate()


def main(descriptor: str) -> None:
    """Print the transcript of an open log as JSON."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (int(TIME_S), int(TIME_S)))
    print(parse_log(f"/proc/self/fd/{int(descriptor)}").model_dump_json())


def parse_log(log: str) -> Transcript:
    """Return the bounded transcript of a log."""
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import read_eval_log_sample, read_eval_log_sample_summaries

    found = read_eval_log_sample_summaries(log, format="eval")
    if not found:
        return Transcript()
    sample = read_eval_log_sample(
        log, id=found[0].id, epoch=found[0].epoch, resolve_attachments=True, format="eval", exclude_fields={"store"}
    )
    events = [event for event in sample.events if isinstance(event, ModelEvent)]
    writer = _Writer()
    exchanges = [writer.exchange(event) for event in events[:MAX_EXCHANGES]]
    return Transcript(exchanges=exchanges, is_whole=len(events) <= MAX_EXCHANGES and writer.left > 0)


class _Writer:
    """Converter of events to exchanges, with each message only once."""

    def __init__(self) -> None:
        self.left = ALL_CHARACTERS
        self._known: Counter[bytes] = Counter()

    def exchange(self, event: ModelEvent) -> Exchange:
        answers = [event.output.message] if event.output.choices else []
        prompt = [self._message(message) for message in self._new_messages(event.input, answers)]
        usage = event.output.usage
        return Exchange(
            time=str(event.timestamp),
            model=event.model[:200],
            role=event.role[:80] if event.role else None,
            prompt=prompt,
            answer=self._message(answers[0]) if answers else None,
            error=event.error[:TEXT_CHARACTERS] if event.error else None,
            seconds=event.working_time,
            input_tokens=usage.input_tokens if usage else 0,
            output_tokens=usage.output_tokens if usage else 0,
            cached_tokens=(usage.input_tokens_cache_read or 0) if usage else 0,
        )

    def _new_messages(self, messages: Sequence[ChatMessage], answers: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Return the messages that earlier calls lack, as every prompt repeats the whole conversation."""
        counts: Counter[bytes] = Counter()
        found = []
        for message in (*messages, *answers):
            said = json.dumps([message.role, message.text, *_calls(message)])
            digest = hashlib.sha256(said.encode("utf-8", "replace")).digest()
            counts[digest] += 1
            if counts[digest] > self._known[digest]:
                self._known[digest] = counts[digest]
                found.append(message)
        return [message for message in found if not any(message is answer for answer in answers)]

    def _message(self, message: ChatMessage) -> TranscriptMessage:
        calls = [Call(tool=tool[:200], arguments=self._cut(arguments)) for tool, arguments in _calls(message)]
        return TranscriptMessage(role=message.role, text=self._cut(message.text), size=len(message.text), calls=calls)

    def _cut(self, text: str) -> str:
        shown = text[: min(TEXT_CHARACTERS, max(200, self.left))]
        self.left -= len(shown)
        return shown


def _calls(message: ChatMessage) -> Iterator[tuple[str, str]]:
    for call in getattr(message, "tool_calls", None) or ():
        yield call.function, json.dumps(call.arguments, ensure_ascii=False, indent=1, default=str)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main(sys.argv[1])
