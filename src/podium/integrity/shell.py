"""What shell commands say: their words, and the Python programs that stand in them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

COMMAND_CHARACTERS = 200_000
_HERE = re.compile(r"^([^\n]*)<<-?\s*(['\"]?)(\w+)\2([^\n]*)\n(.*?)(?:^\s*\3\s*$|\Z)", re.DOTALL | re.MULTILINE)
_JOINED = re.compile(r"\d?>&\d|&>")
_ENDS = {";", "&&", "||", "|", "&", "(", ")", "\n", "{", "}"}
_WRAPPERS = {"sudo", "env", "nohup", "time", "timeout", "nice", "exec", "xargs", "then", "do", "else", "if", "while"}


@dataclass(frozen=True)
class SimpleCommand:
    """A program and its arguments."""

    program: str
    words: tuple[str, ...]
    """With the program itself; redirections are words as well."""
    writes: tuple[str, ...] = ()
    """Files that its output goes to."""


@dataclass(frozen=True)
class ShellScript:
    """A text for a shell, taken apart."""

    commands: tuple[SimpleCommand, ...]
    python: tuple[str, ...]
    """Programs in the text itself: of `python -c`, and of here-documents that Python reads."""
    documents: tuple[tuple[str, str], ...]
    """Here-documents that are written to files: the file and the text."""


def read_shell(text: str) -> ShellScript:
    """The commands of a shell script, as far as they can be told without running it."""
    text = text[:COMMAND_CHARACTERS].replace("\\\n", " ")
    text = _JOINED.sub(" ", text)
    python: list[str] = []
    documents: list[tuple[str, str]] = []

    def take_out(found: re.Match[str]) -> str:
        line, body = f"{found[1]} {found[4]}", found[5]
        target = re.search(r">>?\s*(\S+)", line) or re.search(r"\btee\b(?:\s+-a)?\s+(\S+)", line)
        if re.search(r"\bpython[\d.]*\b", line):
            python.append(body)
        elif target:
            documents.append((target[1].strip("'\""), body))
        return f"{line}\n"

    commands = list(_split(_HERE.sub(take_out, text)))
    for command in commands:
        if re.fullmatch(r"(?:.*/)?python[\d.]*", command.program) and "-c" in command.words[:-1]:
            python.append(command.words[command.words.index("-c") + 1])
    return ShellScript(tuple(commands), tuple(python), tuple(documents))


def _split(text: str) -> list[SimpleCommand]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, "#"
    try:
        words = list(lexer)
    except ValueError:  # a quote without an end
        words = re.findall(r"[^\s;&|()]+|[;&|()\n]+", text)
    commands: list[SimpleCommand] = []
    current: list[str] = []
    for word in [*words, ";"]:
        if word in _ENDS or (word and not word.strip(";&|()\n")):
            commands += [_simple(current)] if current else []
            current = []
        else:
            current.append(word)
    return commands


def _simple(words: list[str]) -> SimpleCommand:
    start = 0
    while start < len(words) - 1 and (words[start] in _WRAPPERS or re.match(r"\w+=", words[start])):
        start += 1
        while words[start - 1] == "timeout" and start < len(words) - 1 and re.match(r"-|\d", words[start]):
            start += 1
    writes = [
        match[1] or (words[index + 1] if index + 1 < len(words) else "")
        for index, word in enumerate(words)
        if (match := re.fullmatch(r"\d?>>?\|?(.*)", word))
    ]
    return SimpleCommand(words[start], tuple(words), tuple(writes))
