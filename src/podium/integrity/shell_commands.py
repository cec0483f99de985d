"""Parser of shell commands: their words, and the Python programs within them."""

from __future__ import annotations

import itertools
import posixpath
import re
import shlex
from functools import partial
from typing import NamedTuple

MAX_COMMAND_CHARACTERS, MAX_LINE_CHARACTERS = 200_000, 5_000
_HERE = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")
_JOINED = re.compile(r"\d?>&\d|&>")
_ENDS = {"{", "}"}
_WRAPPERS = {"sudo", "env", "nohup", "time", "timeout", "nice", "exec", "xargs", "then", "do", "else", "if", "while"}


class ShellCommand(NamedTuple):
    """Program and its arguments."""

    program: str
    """Name of the program without its folder."""
    words: tuple[str, ...]
    """All words, the program and redirections included."""
    writes: tuple[str, ...]
    """Files that its output goes to."""

    @property
    def text(self) -> str:
        return " ".join(self.words)


class ShellScript(NamedTuple):
    """Parsed shell script."""

    commands: tuple[ShellCommand, ...]
    python: tuple[str, ...]
    """Embedded Python programs: of `python -c`, and of here-documents that Python reads."""
    documents: tuple[tuple[str, str], ...]
    """Here-documents that are written to files: the file and the text."""

    @property
    def words(self) -> list[str]:
        return [word for command in self.commands for word in command.words]


def read_shell(text: str) -> ShellScript:
    """Parse a shell script as far as possible without running it."""
    rest, bodies = _take_out_documents(_JOINED.sub(" ", text[:MAX_COMMAND_CHARACTERS].replace("\\\n", " ")))
    python: list[str] = []
    documents: list[tuple[str, str]] = []
    for line, body in bodies:
        target = re.search(r">>?\s*(\S+)", line) or re.search(r"\btee\b(?:\s+-a)?\s+(\S+)", line)
        if re.search(r"\bpython[\d.]*\b", line):
            python.append(body)
        elif target:
            documents.append((target[1].strip("'\""), body))
    commands = _split(rest)
    for command in commands:
        if re.fullmatch(r"python[\d.]*", command.program) and "-c" in command.words[:-1]:
            python.append(command.words[command.words.index("-c") + 1])
    return ShellScript(tuple(commands), tuple(python), tuple(documents))


def _take_out_documents(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the text without its here-documents, and each of them with the line that it belongs to."""
    rest: list[str] = []
    bodies: list[tuple[str, str]] = []
    lines = iter(text.splitlines())
    for line in lines:
        if start := _HERE.search(line[:MAX_LINE_CHARACTERS]):
            line = line[: start.start()] + line[start.end() :]
            body = itertools.takewhile(partial(_is_not, start[2]), lines)
            bodies.append((line[:MAX_LINE_CHARACTERS], "".join(f"{each}\n" for each in body)))
        rest.append(line)
    return "\n".join(rest), bodies


def _is_not(end: str, line: str) -> bool:
    return line.strip() != end


def _split(text: str) -> list[ShellCommand]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, "#"
    try:
        words = list(lexer)
    except ValueError:  # a quote without an end
        words = re.findall(r"[^\s;&|()]+|[;&|()\n]+", text)
    ends = itertools.groupby(words, lambda word: word in _ENDS or (word != "" and not word.strip(";&|()\n")))
    return [_command(list(group)) for is_end, group in ends if not is_end]


def _command(words: list[str]) -> ShellCommand:
    start = 0
    while start < len(words) - 1 and (words[start] in _WRAPPERS or re.match(r"\w+=", words[start])):
        start += 1
        while words[start - 1] == "timeout" and start < len(words) - 1 and re.match(r"-|\d", words[start]):
            start += 1
    writes = [
        match[1] or next(iter(words[index + 1 :]), "")
        for index, word in enumerate(words)
        if (match := re.fullmatch(r"\d?>>?\|?(.*)", word))
    ]
    return ShellCommand(posixpath.basename(words[start]), tuple(words), tuple(writes))
