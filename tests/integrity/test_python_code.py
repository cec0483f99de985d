"""Programs and commands are read, whatever they are."""

from __future__ import annotations

import pytest

from podium.integrity.python_code import Code
from podium.integrity.shell_commands import read_shell

HOSTILE = {
    "nested lists": "[" * 5_000 + "]" * 5_000,
    "nested signs": "-" * 100_000 + "1",
    "a long sum": "x = " + "+".join(["'a'"] * 20_000),
    "a null byte": "print(1)\0",
    "names made of each other": "a = a + a\nb = a + b\na = b + b\nopen(a)",
    "a huge literal": "x = [" + "1," * 9_000 + "]",
    "half a character": "x = '\\ud800'\nopen('\ud800')",
    "too long": "x = 1\n" * 100_000,
    "attributes without end": "x" + ".a" * 20_000,
    "not Python": "SELECT * FROM answers;",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_program_breaks_the_reader(source: str) -> None:
    code = Code(source)
    assert len(code.texts) + len(code.calls) + len(code.imports) + len(code.assigned("x")) >= 0


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("open('/a' + '/private')", "/a/private"),
        ("from pathlib import Path\nPath('/a') / 'b' / name", "/a/b/{}"),
        ("import os\nopen(os.path.join(os.environ['PODIUM_DATA'], '..', 'x'))", "/home/data/../x"),
        ("import base64\nopen(base64.b64decode('L2V0Yw=='))", "/etc"),
        ("open('etavirp/'[::-1])", "/private"),
        ("open(''.join(['/', 'x']))", "/x"),
        ("open(f'/a/{n}.csv')", "/a/{}.csv"),
        ("p = '/a'\nq = p + '/b'\nopen(q)", "/a/b"),
        ("open(chr(47) + 'x')", "/x"),
    ],
)
def test_constant_texts_are_concatenated(source: str, text: str) -> None:
    assert text in [each.value for each in Code(source).texts]


def test_calls_have_full_names() -> None:
    code = Code("import numpy as np\nfrom sklearn import metrics as m\nnp.random.seed(1)\nm.f1_score(a, b)")
    assert [name for name, _ in code.calls] == ["numpy.random.seed", "sklearn.metrics.f1_score"]


def test_docstrings_are_not_paths() -> None:
    assert Code('"""Never reads /private/answers.csv."""').texts == []


def test_shell_scripts_are_parsed() -> None:
    script = read_shell("cd /x && timeout 5 curl -s https://a.org/b > c.csv\npython3 - <<'END'\nprint(1)\nEND\n")
    assert [command.program for command in script.commands] == ["cd", "curl", "python3"]
    assert script.commands[1].writes == ("c.csv",)
    assert script.python == ("print(1)\n",)


@pytest.mark.parametrize("text", ["'" * 99_999, "<<A" * 50_000, "a" * 200_000 + "<", ";" * 100_000, "\0$(("])
def test_no_command_breaks_the_reader(text: str) -> None:
    assert isinstance(read_shell(text).commands, tuple)
