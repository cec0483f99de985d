"""Transcripts come from Inspect's logs, each thing once, whatever a log holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from viewed import TASK, make_experiment, make_record, write_log

from podium.viewer.app import make_app
from podium.viewer.index import transcripts
from podium.viewer.index.transcripts import TranscriptReader, parse_log
from podium.viewer.page_site import Site

RUN = f"/runs/nested/plain/{TASK}/0"


@pytest.fixture
def reader() -> Iterator[TranscriptReader]:
    reader = TranscriptReader()
    yield reader
    reader.close()


def test_each_exchange_has_only_new_messages(tmp_path: Path) -> None:
    run = make_record(tmp_path, make_experiment(tmp_path))
    found = parse_log(str(write_log(run, ["one", "two", "two"])))
    assert [[message.role for message in each.prompt] for each in found.exchanges] == [
        ["system", "user"],
        ["tool"],
        ["tool"],
    ]
    assert [each.answer.text for each in found.exchanges if each.answer] == ["one", "two", "two"]
    last = found.exchanges[-1]
    assert (last.input_tokens, last.output_tokens, last.cached_tokens) == (1000, 10, 900)
    assert (
        last.answer is not None
        and last.answer.calls[0].tool == "run_command"
        and "echo 2" in last.answer.calls[0].arguments
    )
    assert found.is_whole


def test_long_conversations_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "MAX_EXCHANGES", 2)
    monkeypatch.setattr(transcripts, "TEXT_CHARACTERS", 1_000)
    run = make_record(tmp_path, make_experiment(tmp_path))
    found = parse_log(str(write_log(run, ["x" * 5_000, "two", "three"])))
    answer = found.exchanges[0].answer
    assert len(found.exchanges) == 2 and not found.is_whole
    assert answer is not None and (len(answer.text), answer.size) == (1_000, 5_000)


def test_an_unreadable_log_is_reported(tmp_path: Path, reader: TranscriptReader) -> None:
    (tmp_path / "bad.eval").write_bytes(b"PK\x03\x04 not an archive")
    found = reader.read(tmp_path / "bad.eval", top=tmp_path).result(timeout=600)
    assert found.error is not None and found.error.startswith("bad.eval cannot be read") and not found.exchanges


def test_a_link_is_not_read(tmp_path: Path, reader: TranscriptReader) -> None:
    (tmp_path / "link.eval").symlink_to("/etc/passwd")
    found = reader.read(tmp_path / "link.eval", top=tmp_path).result(timeout=600)
    assert found.error is not None and "cannot be read" in found.error


def test_the_page_shows_and_finds(pages: TestClient, site: Site, experiments: Path) -> None:
    run = experiments / "nested" / "plain"
    site.transcripts.read(run / TASK / "0" / "logs" / "first.eval", top=run).result(timeout=600)
    text = pages.get(f"{RUN}/transcript").text
    assert "First I look at the data." in text and "<code>run_command</code>" in text and "3,000" in text
    assert "<script>document" not in text and "&lt;script&gt;document" in text
    assert text.count('class="message assistant"') == 3
    one = unescape(pages.get(f"{RUN}/transcript?find=LOOK data").text)
    assert re.findall("<mark>(.*?)</mark>", one) == ["look", "data"] and "1 of 3 model calls" in one
    assert "No matches" in pages.get(f"{RUN}/transcript?find=nowhere").text
    assert f"{RUN}/transcript" in pages.get(RUN).text
    assert pages.get(f"/runs/search/{TASK}/0/transcript").status_code == 404


def test_a_page_does_not_wait_for_a_long_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podium.viewer.pages.transcript_page.PATIENCE_S", 0.0)
    plan = make_experiment(tmp_path / "root" / "one", model="test/model")
    write_log(make_record(tmp_path / "root" / "one", plan), ["one"])
    site = Site(tmp_path / "root", file=tmp_path / "index.sqlite")
    with TestClient(make_app(site), base_url="http://localhost") as pages:
        page = pages.get(f"/runs/one/{TASK}/0/transcript").text
        assert "Loading the transcript" in page and 'data-live="/live/runs/one' in page
