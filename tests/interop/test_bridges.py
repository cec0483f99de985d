"""The tools of others drive Podium's environments as they come from their registries: `make test-bridges`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import harbor_container
import pytest
from harbor_container import PYTHON, VARIABLE, reason_against
from model_server import Request, serving

import podium
from podium.interop.harbor_export import export_task
from podium.interop.harbor_import import import_harbor
from podium.report.results import read_results

pytestmark = [pytest.mark.bridges, pytest.mark.filterwarnings("default")]

ROOT = Path(__file__).parents[2]
TASK = "forge-tabular-classification-tiny-t1"
SUBMIT = {"action": "run_command", "arguments": {"command": "cp data/sample_submission.csv submission/submission.csv"}}
FINISH = {"action": "final_answer", "arguments": {"final_answer": "done"}}
EVALUATED = 20


def test_gymnasium_finds_nothing_wrong() -> None:
    import gymnasium
    from gymnasium.utils.env_checker import check_env

    import podium.interop.gymnasium  # noqa: F401

    environment = gymnasium.make("podium/Training-v0")
    check_env(environment.unwrapped, skip_render_check=True)
    environment.close()


def test_gymnasium_plays_a_named_task() -> None:
    import gymnasium

    environment = gymnasium.make("podium.interop.gymnasium:podium/Task-v0", tasks=[TASK])
    _, info = environment.reset(seed=1)
    assert info == {"task": TASK}
    environment.step(json.dumps(SUBMIT))
    _, reward, terminated, truncated, info = environment.step(json.dumps(FINISH))
    assert (terminated, truncated) == (True, False)
    assert reward == info["grade"]["percentile"] / 100
    environment.close()


@contextmanager
def openenv_server() -> Iterator[str]:
    import uvicorn

    from podium.interop.openenv import make_app

    server = uvicorn.Server(uvicorn.Config(make_app(sessions=4), port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def test_openenv_plays_an_episode_with_its_own_client() -> None:
    from openenv.core.generic_client import GenericEnvClient

    with openenv_server() as address, GenericEnvClient(base_url=address).sync() as client:
        first = client.reset(task=TASK)
        assert "area under the ROC curve" in first.observation["text"]
        assert not client.step(SUBMIT).done
        last = client.step(FINISH)
        assert last.done
        assert last.reward is not None and 0 <= last.reward <= 1


def play(request: Request, rng: Random) -> str:
    has_begun = any(message["role"] == "assistant" for message in request["messages"])
    return json.dumps(FINISH) if has_begun else f"```json\n{json.dumps(SUBMIT)}\n```"


def test_verifiers_evaluates_forged_tasks(tmp_path: Path) -> None:
    tools = Path(sys.executable).parent
    with serving(play) as server:
        options = ["-m", "scripted", "-n", str(EVALUATED), "-c", "4", "--no-push", "--no-rich", "-o", str(tmp_path)]
        endpoint = ["--client.base-url", server.url, "--client.api-key-var", "SCRIPTED_KEY"]
        environment = os.environ | {"SCRIPTED_KEY": "none", "PATH": f"{tools}:{os.environ['PATH']}"}
        command = [tools / "vf-eval", "podium-verifiers", *options, *endpoint]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (written,) = tmp_path.rglob("traces.jsonl")
    traces: list[dict[str, Any]] = [json.loads(line)["traces"][0] for line in written.read_text().splitlines()]
    assert len(traces) == EVALUATED
    assert all(trace["errors"] == [] and trace["metrics"]["valid"] == 1.0 for trace in traces)
    for trace in traces:
        assert trace["rewards"]["reward"]["score"] == pytest.approx(trace["metrics"]["percentile"] / 100)


class Cut:
    """An interaction that submits something, and is then ended by a limit of verifiers."""

    def __init__(self) -> None:
        self.trace = SimpleNamespace(info={})
        self._replies = [json.dumps(SUBMIT)]

    async def turn(self, message: str) -> Any:
        from verifiers.v1.agent import Segment

        reply = self._replies.pop() if self._replies else None
        return Segment(messages=[], root_reply=reply, terminated=reply is None)


def test_submission_is_graded_when_verifiers_ends_a_conversation() -> None:
    from podium.interop.verifiers import PodiumEnv

    cut = Cut()

    @asynccontextmanager
    async def interaction(task: Any) -> AsyncIterator[Cut]:
        yield cut

    task = SimpleNamespace(data=SimpleNamespace(podium_task=TASK, steps=9, miniature=False))
    agents = SimpleNamespace(player=SimpleNamespace(interaction=interaction))
    asyncio.run(PodiumEnv.run(cast(Any, None), cast(Any, task), agents))
    assert cut.trace.info["podium"]["grade"]["valid"]


HARBOR = Path(sys.prefix, "harbor", "bin", "harbor")
needs_harbor = pytest.mark.skipif(not HARBOR.exists(), reason="Harbor needs Python 3.12, which is not there")
needs_containers = pytest.mark.skipif(reason_against() is not None, reason=str(reason_against()))


@needs_harbor
@needs_containers
@pytest.mark.parametrize("task", ["forge-tabular-classification-tiny-1", "house-price", "bibtex-generation"])
def test_harbor_runs_an_exported_task_whose_trial_comes_back(task: str, tmp_path: Path) -> None:
    folder = export_task(task, tmp_path, miniature=True)
    options = ["--agent", "oracle", "--env", "harbor_bubblewrap:BubblewrapEnvironment", "--jobs-dir", tmp_path / "jobs"]
    variables = {VARIABLE: PYTHON, "PYTHONPATH": str(Path(harbor_container.__file__).parent), "HARBOR_TELEMETRY": "off"}
    command = [HARBOR, "run", "--path", folder, *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=os.environ | variables)
    assert done.returncode == 0, done.stdout + done.stderr
    (job,) = (tmp_path / "jobs").iterdir()
    import_harbor(job, tmp_path / "imported")
    [row] = read_results(tmp_path / "imported").rows
    assert (row.agent, row.task, row.valid, row.error) == ("oracle", task, True, None)
    [trial] = job.glob("*/result.json")
    kept = trial.parent / "artifacts" / "home"
    ours = podium.grade(task, kept if not podium.load(task).is_table else kept / "submission" / "submission.csv")
    assert row.score == pytest.approx(ours.score, abs=1e-5)


def test_inspect_evals_reads_the_entry_for_its_register() -> None:
    import yaml
    from inspect_evals.metadata import ExternalEvalMetadata

    entry = yaml.safe_load((ROOT / "examples/inspect-evals/podium_quick/eval.yaml").read_text())
    assert ExternalEvalMetadata.model_validate(entry).is_sandboxed


def test_inspect_works_through_a_suite_as_an_eval_set(tmp_path: Path) -> None:
    tools = Path(sys.executable).parent
    tasks = "forge-tabular-classification-tiny-1,forge-text-classification-tiny-1"
    suite = ["podium/suite", "-T", f"name={tasks}", "--solver", "podium/agent", "-S", "name=baseline"]
    options = ["--model", "mockllm/model", "--log-dir", str(tmp_path / "logs"), "--display", "plain"]
    for _ in range(2):  # the second time there is nothing left to do
        done = subprocess.run([tools / "inspect", "eval-set", *suite, *options], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((tmp_path / "logs").glob("*.eval"))) == 1
