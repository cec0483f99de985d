"""A coding agent small enough to read: a package for PyPI that asks a model in Anthropic's protocol and has a shell.

It keeps its conversation in a file of its home, as the real ones do, and takes it up again with --continue.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

PROGRAM = """
import json, os, subprocess, sys, urllib.request
from pathlib import Path

TOOL = {"name": "Shell", "description": "Runs a command.",
        "input_schema": {"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]}}
kept = Path.home() / "conversation.json"
(Path.home() / ".tiny").mkdir(exist_ok=True)
(Path.home() / ".tiny" / "shell.sh").write_text("claude --print hello")  # as real ones keep programs of their own
messages = json.loads(kept.read_text()) if "--continue" in sys.argv else []
if messages and messages[-1]["role"] == "assistant":
    calls = [block for block in messages[-1]["content"] if block["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "interrupted"} for call in calls]
else:
    results = []
messages.append({"role": "user", "content": [*results, {"type": "text", "text": sys.argv[-1]}]})
while True:
    body = json.dumps({"model": "x", "max_tokens": 1000, "messages": messages, "tools": [TOOL]}).encode()
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body)
    answer = json.loads(urllib.request.urlopen(request).read())
    messages.append({"role": "assistant", "content": answer["content"]})
    kept.write_text(json.dumps(messages))
    results = []
    for call in (block for block in answer["content"] if block["type"] == "tool_use"):
        done = subprocess.run(call["input"]["cmd"], shell=True, capture_output=True, text=True)
        text = f"Exit code: {done.returncode}\\\\n{done.stdout}{done.stderr}"
        results.append({"type": "tool_result", "tool_use_id": call["id"], "content": text})
    if not results:
        print(answer["content"][0]["text"])
        break
    messages.append({"role": "user", "content": results})
    kept.write_text(json.dumps(messages))
"""

PRESET = """
what = "A coding agent for tests."
protocol = "messages"
start = '"$PROGRAM" -m tiny_agent "$PROMPT"'
resume = '"$PROGRAM" -m tiny_agent --continue "$PROMPT"'

[install]
kind = "pypi"
packages = ["{wheel}"]
program = "env/bin/python"
megabytes = 20

[environment]
TINY = "yes"

[files]
"settings/tiny.json" = '{{"telemetry": false}}'

[tools]
Shell = {{ action = "run_command", command = "cmd" }}
"""


def write_preset(folder: Path) -> Path:
    """The preset's data file, beside the wheel that it installs."""
    wheel, info = folder / "tiny_agent-1.0-py3-none-any.whl", "tiny_agent-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny_agent.py", PROGRAM)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-agent\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    path = folder / "tiny-agent.toml"
    path.write_text(PRESET.format(wheel=wheel), encoding="utf-8")
    return path
