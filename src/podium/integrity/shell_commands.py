"""What shell commands say: their words, and the Python programs that stand in them."""

from __future__ import annotations

import itertools
import posixpath
import re
import shlex
from functools import partial
from typing import NamedTuple

COMMAND_CHARACTERS, LINE_CHARACTERS = 200_000, 5_000
_HERE = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")
_JOINED = re.compile(r"\d?>&\d|&>")
_ENDS = {"{", "}"}
_WRAPPERS = {"sudo", "env", "nohup", "time", "timeout", "nice", "exec", "xargs", "then", "do", "else", "if", "while"}


class ShellCommand(NamedTuple):
    """A program and its arguments."""

    program: str
    """Without its folder."""
    words: tuple[str, ...]
    """With the program itself; redirections are words as well."""
    writes: tuple[str, ...]
    """Files that its output goes to."""

    @property
    def said(self) -> str:
        return " ".join(self.words)


class ShellScript(NamedTuple):
    """A text for a shell, taken apart."""

    commands: tuple[ShellCommand, ...]
    python: tuple[str, ...]
    """Programs in the text itself: of `python -c`, and of here-documents that Python reads."""
    documents: tuple[tuple[str, str], ...]
    """Here-documents that are written to files: the file and the text."""

    @property
    def words(self) -> list[str]:
        return [word for command in self.commands for word in command.words]


def read_shell(text: str) -> ShellScript:
    """The commands of a shell script, as far as they can be told without running it."""
    rest, bodies = _take_out_documents(_JOINED.sub(" ", text[:COMMAND_CHARACTERS].replace("\\\n", " ")))
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
    """The text without its here-documents, and each of them with the line that it belongs to."""
    rest: list[str] = []
    bodies: list[tuple[str, str]] = []
    lines = iter(text.splitlines())
    for line in lines:
        if start := _HERE.search(line[:LINE_CHARACTERS]):
            line = line[: start.start()] + line[start.end() :]
            body = itertools.takewhile(partial(_is_not, start[2]), lines)
            bodies.append((line[:LINE_CHARACTERS], "".join(f"{each}\n" for each in body)))
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
