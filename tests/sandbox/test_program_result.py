"""Bounded output of programs."""

from __future__ import annotations

import os

import pytest

from podium.sandbox.program_result import Collector, Keep, Output


@pytest.mark.parametrize("sizes", [[1] * 500, [7, 100, 3], [1000], [], [64, 64, 64]])
@pytest.mark.parametrize(("head", "tail"), [(0, 0), (10, 0), (0, 10), (100, 100), (1000, 1000)])
def test_collector_keeps_head_and_tail(sizes: list[int], head: int, tail: int) -> None:
    collector = Collector(Keep(head, tail))
    whole = os.urandom(sum(sizes))
    place = 0
    for size in sizes:
        collector.add(whole[place : place + size])
        place += size
    output = collector.output()
    assert output.head == whole[:head]
    rest = whole[head:]
    assert output.tail == rest[max(0, len(rest) - tail) :]
    assert len(output.head) + len(output.tail) + output.dropped == len(whole)


def test_dropped_bytes_are_counted_in_the_text() -> None:
    assert Output(b"head", b"tail", 1234).text == "head\n[... 1,234 bytes left out ...]\ntail"
    assert Output(b"", b"tail", 5).text == "[... 5 bytes left out ...]\ntail"
    assert Output(b"half \xff", b"", 0).text == "half \N{REPLACEMENT CHARACTER}"
