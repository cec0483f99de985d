"""Runs as `podium run` leaves them, made without a sandbox: real journals, real snapshots, real states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from podium.agents.search.search_agent import SearchState
from podium.agents.search.search_tree import Node, Operator, Tree
from podium.grading.grade import Grade
from podium.runs.experiment import FILE, run_folder
from podium.runs.records import CurvePoint, ExperimentDocument, Plan, RunRecord, Times
from podium.runs.run_folder import RunFolder, write_document
from podium.sandbox.policy import Policy
from podium.task import Medal
from podium.workspace.budget import Budget, Usage
from podium.workspace.history.history import History
from podium.workspace.journal.events import FORMAT, Action, End, Start, Step, shorten
from podium.workspace.journal.journal import Journal, read_journal
from podium.workspace.journal.observations import Observation, ProgramOutput, ScriptResult, TextResult

TASK = "spaceship-titanic"
OTHER = "leaf-classification"
HOSTILE = "<script>document.title='pwned'</script><img src=x onerror=alert(1)>\"'&\x1b[31mred\x1b[0m\x07\u202egnp.exe"
"""What agents write to whoever looks at them."""
POLICY = Policy(
    backend="bubblewrap",
    engine="bubblewrap 0.8.0",
    sealed=True,
    home="/home",
    mounts=(),
    hidden=(),
    environment={},
    network="none",
    gpus=(),
    limits={},
    namespaces=("user", "pid", "net"),
    user_id=1000,
    no_new_privileges=True,
    seccomp=True,
)


@dataclass
class Done:
    """One step to be written into a journal."""

    action: str = "run_command"
    arguments: dict[str, Any] = field(default_factory=lambda: {"command": "ls"})
    observation: Observation = field(default_factory=lambda: ProgramOutput(exit_code=0))
    files: dict[str, str | bytes] = field(default_factory=dict)
    """What it leaves in the workspace."""
    state: bytes = b'{"done": 0}'


def make_experiment(
    folder: Path,
    *,
    agent: str = "scripted",
    model: str | None = None,
    tasks: Sequence[str] = (TASK,),
    seeds: int = 1,
    created: str = "2026-01-02T03:04:05.000+00:00",
    budget: Budget | None = None,
) -> Plan:
    """Writes `experiment.json`."""
    plan = Plan(agent=agent, model=model, edition="v1", budget=budget or Budget(time_s=100, steps=50))
    write_document(folder / FILE, ExperimentDocument(plan=plan, tasks=tuple(tasks), seeds=seeds, created=created))
    return plan


def make_record(folder: Path, plan: Plan, task: str = TASK, seed: int = 0, **facts: Any) -> RunFolder:
    """Writes the `run.json` of a run."""
    run = run_folder(folder, task, seed)
    run.path.mkdir(parents=True, exist_ok=True)
    usual: dict[str, Any] = {
        "status": "finished",
        "valid": True,
        "score": 0.8,
        "medal": "bronze",
        "above_median": True,
        "percentile": 71.5,
        "higher_is_better": True,
        "submission_sha256": "0" * 64,
        "ended_by": "the agent",
        "times": Times(started="2026-01-02T03:04:06+00:00", ended="2026-01-02T03:05:06+00:00"),
        "usage": Usage(working_s=42.0, wall_s=60.0, steps=3, executions=2, tokens=1234, cost=0.5),
        "versions": {"podium": "0.1.0"},
        "backend": "bubblewrap",
        "sandbox": POLICY,
    }
    if facts.get("status") in ("running", "stopped"):
        usual |= dict.fromkeys(("valid", "score", "medal", "above_median", "percentile", "submission_sha256"))
    run.write_record(RunRecord(task=task, agent=plan.agent, model=plan.model, seed=seed, **usual | facts))
    return run


def make_run(
    folder: Path, plan: Plan, steps: Sequence[Done], task: str = TASK, seed: int = 0, **facts: Any
) -> RunFolder:
    """A run with a record, a journal and a history."""
    run = make_record(folder, plan, task, seed, **facts)
    with History(run.history, run.workspace) as history, Journal.open(run.journal) as journal:
        commit = history.snapshot("start", None, time_s=0)
        journal.append(start(task=task, agent=plan.agent, seed=seed, snapshot=commit))
        for number, done in enumerate(steps, 1):
            commit = append_step(history, journal, commit, number, done)
        journal.append(end(len(steps), snapshot=commit))
    return run


def start(**changes: Any) -> Start:
    """The first event of a journal."""
    facts: dict[str, Any] = {
        "time": _time(0),
        "usage": Usage(),
        "format": FORMAT,
        "task": TASK,
        "edition": "v1",
        "miniature": False,
        "data_sha256": "0" * 64,
        "agent": "scripted",
        "options": {},
        "model": None,
        "model_roles": {},
        "seed": 0,
        "budget": Budget(),
        "backend": "bubblewrap",
        "sandbox": POLICY,
        "versions": {},
        "snapshot": "a" * 64,
    }
    return Start(**facts | changes)


def end(steps: int, *, snapshot: str) -> End:
    """The last event of a journal."""
    time, usage = _time(steps + 1), _usage(steps)
    return End(time=time, usage=usage, cause="the agent", stopped=False, snapshot=snapshot)


def step(number: int, **changes: Any) -> Step:
    """An event of a step."""
    facts: dict[str, Any] = {
        "time": _time(number),
        "usage": _usage(number),
        "action": Action(name="run_command", arguments={"command": f"echo {number}"}),
        "observation": ProgramOutput(exit_code=0),
        "seconds": 1.5,
        "snapshot": "a" * 64,
        "state": "b" * 64,
        "decision": number,
        "index": 0,
        "count": 1,
    }
    return Step(**facts | changes)


def append_step(history: History, journal: Journal, commit: str, number: int, done: Done) -> str:
    """Journals a step as an attempt does; the snapshot after it."""
    for name, content in done.files.items():
        path = history.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    commit = history.snapshot(done.action, commit, time_s=number)
    action, action_blob = shorten(Action(name=done.action, arguments=done.arguments), history.put)
    observation, observation_blob = shorten(done.observation, history.put)
    facts = {"action": action, "action_blob": action_blob, "observation": observation}
    facts |= {"observation_blob": observation_blob, "snapshot": commit, "state": history.put(done.state)}
    journal.append(step(number, **facts))
    return commit


def _time(second: int) -> str:
    return f"2026-01-02T{3 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000+00:00"


def _usage(steps: int) -> Usage:
    return Usage(working_s=2.0 * steps, wall_s=3.0 * steps, steps=steps)


def make_search(folder: Path, plan: Plan, *, plan_text: str = "Try something", **facts: Any) -> RunFolder:
    """A run of a tree search: two drafts, one of them buggy and debugged, an improvement, a merge not yet reviewed."""
    made: list[tuple[Operator, tuple[int, ...], float | None, str]] = [
        ("draft", (), 0.70, "a first model"),
        ("draft", (), None, "one that crashes"),
        ("debug", (1,), 0.72, "the crash is fixed"),
        ("improve", (0,), 0.79, "more features"),
        ("merge", (2, 3), 0.81, "both together"),
    ]
    nodes: list[Node] = []
    steps: list[Done] = []
    for number, (operator, parents, metric, what) in enumerate(made):
        script = f"print('{what}')\n" * 3
        node = Node(number=number, operator=operator, parents=parents, plan=f"{plan_text}: {what}", script=script)
        state = SearchState(tree=Tree(nodes=[*nodes, node], higher_is_better=True), submitted=0 if number else None)
        result = ScriptResult(
            exit_code=0 if metric else 1, output=f"output of {number}", seconds=1.5, metric=metric, valid=bool(metric)
        )
        steps.append(
            Done(
                "try_script",
                {"number": number, "script": script, "split": 0, "time_s": 10.0},
                result,
                {f"code/{number:03d}/script.py": script},
                state.model_dump_json().encode(),
            )
        )
        nodes.append(node.model_copy(update={"result": result, "metric": metric, "is_buggy": metric is None}))
    run = make_run(folder, plan, steps, **facts)
    points: list[tuple[int, float | None, Medal | None]] = [(1, None, None), (2, 0.71, None), (4, 0.80, "bronze")]
    run.write_curve(
        tuple(
            CurvePoint(
                line=line,
                submission=str(line),
                usage=_usage(line - 1),
                grade=Grade(TASK, "v1", valid=score is not None, score=score, medal=medal),
            )
            for line, score, medal in points
        )
    )
    return run


def make_hostile(folder: Path, plan: Plan) -> RunFolder:
    """A run whose agent wrote everything with whoever looks at it in mind."""
    big, ok = 50_000_000, TextResult(text="ok")
    steps = [
        Done(
            HOSTILE,
            {HOSTILE: HOSTILE, "list": [HOSTILE]},
            TextResult(text=HOSTILE),
            {"<script>alert(1)</script>.py": HOSTILE},
        ),
        Done(
            "run_command",
            {"command": "yes"},
            ProgramOutput(exit_code=0, stdout="A" * big),
            {"..%2f..%2fetc%2fpasswd": "not the real one\n"},
        ),
        Done("run_command", {"script": "B" * big}, TextResult(text="short")),
        Done(
            "run_command",
            {"command": "names"},
            ok,
            {
                "a\nb\x1b[2Jc": "newline",
                "' onmouseover='alert(1)": "quote",
                "\u202egpj.exe": "reversed",
                "x" * 200: "long",
            },
        ),
        Done(
            "run_command",
            {"command": "bytes"},
            ok,
            {"page.html": f"<body>{HOSTILE}</body>", "zero.bin": b"\0" * 99},
        ),
    ]
    run = make_run(folder, plan, steps, error=HOSTILE, ended_by=HOSTILE)
    (run.workspace / "link").symlink_to("/etc/passwd")
    (run.workspace / "up").symlink_to("../../../..")
    before = read_journal(run.journal).snapshot
    linked = Done("run_command", {"command": "ln -s"}, ok, {os_name(): "bytes"})
    with History(run.history, run.workspace) as history, Journal.open(run.journal) as journal:
        append_step(history, journal, before, 6, linked)
    return run


def os_name() -> str:
    """A file name that is not text."""
    return b"caf\xe9.txt".decode("utf-8", "surrogateescape")


def write_log(run: RunFolder, answers: Sequence[str], *, name: str = "first") -> Path:
    """Inspect's log of a conversation: every question holds all that was said before."""
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
        GenerateConfig,
        ModelOutput,
        ModelUsage,
    )

    said: list[ChatMessage] = [ChatMessageSystem(content="You are an engineer."), ChatMessageUser(content="A brief.")]
    events = []
    for number, answer in enumerate(answers):
        output = ModelOutput.for_tool_call("test/model", "run_command", {"command": f"echo {number}"}, content=answer)
        output.usage = ModelUsage(input_tokens=1000, output_tokens=10, total_tokens=1010, input_tokens_cache_read=900)
        event = ModelEvent(
            model="test/model", input=list(said), tools=[], tool_choice="auto", config=GenerateConfig(), output=output
        )
        events.append(event)
        said += [output.message, ChatMessageTool(content="the same each time", tool_call_id=str(number))]
    spec = EvalSpec(created=_time(0), task="podium", dataset=EvalDataset(), model="test/model", config=EvalConfig())
    sample = EvalSample(id=TASK, epoch=1, input="", target="", events=events)
    path = run.logs / f"{name}.eval"
    path.parent.mkdir(exist_ok=True)
    write_eval_log(EvalLog(eval=spec, samples=[sample]), str(path))
    return path


def make_all(root: Path, *, hostile: bool = True) -> None:
    """Every kind of experiment below a folder."""
    search = make_experiment(root / "search", agent="recipes", tasks=(TASK, OTHER), seeds=2)
    make_search(root / "search", search)
    make_record(root / "search", search, seed=1, medal="gold", percentile=99.0, score=0.95)
    nothing = dict.fromkeys(("valid", "score", "medal", "above_median", "percentile", "submission_sha256"))
    make_record(root / "search", search, OTHER, 0, status="failed", error="it broke", **nothing)
    plain = make_experiment(
        root / "nested" / "plain", agent="command", model="openai/gpt-4o", created="2026-02-01T00:00:00+00:00"
    )
    talking = make_run(
        root / "nested" / "plain",
        plain,
        [Done(files={"notes.txt": "one\ntwo\n"}), Done(files={"notes.txt": "one\n2\n"})],
    )
    write_log(talking, ["First I look at the data.", HOSTILE, "Now the submission."])
    (root / "broken").mkdir()
    (root / "broken" / FILE).write_text("{", encoding="utf-8")
    if hostile:
        evil = make_experiment(root / "hostile", agent="command", created="2026-01-01T00:00:00+00:00")
        make_hostile(root / "hostile", evil)


Make = Callable[..., RunFolder]
