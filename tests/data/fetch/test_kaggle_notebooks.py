"""Notebooks are fetched through Kaggle's own client from a local server that speaks its protocol."""

from __future__ import annotations

from pathlib import Path

import pytest
from kaggle_server import Kaggle

from podium.data.fetch.kaggle_notebooks import PAGE_SIZE, fetch_notebooks
from podium.errors import DownloadError

TASK = "spaceship-titanic"


def offer(kaggle: Kaggle, count: int) -> None:
    kaggle.notebooks = {
        f"ada/best-{number}": {"source": f"a = {number}", "kernelType": "script", "language": "python"}
        for number in range(count)
    }


def test_the_most_voted_notebooks_are_fetched_once(kaggle: Kaggle, tmp_path: Path) -> None:
    offer(kaggle, 3)
    kaggle.notebooks["ada/best-1"] |= {"source": '{"cells": []}', "kernelType": "notebook"}
    found = fetch_notebooks(TASK, tmp_path, 2)
    assert [path.name for path in found] == ["ada.best-0.py", "ada.best-1.ipynb"]
    assert found[0].read_text() == "a = 0"
    first = kaggle.asked[0]
    assert (first["competition"], first["sortBy"], first["language"]) == (TASK, "VOTE_COUNT", "python")
    before = len(kaggle.asked)
    assert fetch_notebooks(TASK, tmp_path, 2) == found
    assert len(kaggle.asked) == before + 1


def test_more_than_a_page_is_fetched_page_by_page(kaggle: Kaggle, tmp_path: Path) -> None:
    offer(kaggle, PAGE_SIZE + 10)
    assert len(fetch_notebooks(TASK, tmp_path, PAGE_SIZE + 5)) == PAGE_SIZE + 5


@pytest.mark.parametrize("name", ["../../evil", "ada/../../evil", "ada/a/b", "", "ada/x\n"])
def test_a_name_that_is_a_path_is_not_fetched(kaggle: Kaggle, tmp_path: Path, name: str) -> None:
    kaggle.notebooks = {name: {"source": "a = 1", "kernelType": "script"}}
    assert fetch_notebooks(TASK, tmp_path / "deep" / "deeper", 2) == []
    assert not list(tmp_path.rglob("*evil*"))


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "Create a new token"), (404, "--against DIR"), (500, "Try again later")]
)
def test_a_refused_list_is_explained(kaggle: Kaggle, tmp_path: Path, status: int, advice: str) -> None:
    kaggle.refusal = status
    with pytest.raises(DownloadError, match=advice):
        fetch_notebooks(TASK, tmp_path, 2)
