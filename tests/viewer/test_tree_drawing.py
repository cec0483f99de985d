"""Search trees of any shape find their place on the page."""

from __future__ import annotations

from podium.agents.search.search_tree import Node, Tree
from podium.viewer.drawing.tree_drawing import SHADES, Search, draw
from podium.workspace.journal.observations import ScriptResult


def search(parents: list[tuple[int, ...]], metrics: list[float | None] | None = None) -> Search:
    nodes = [
        Node(
            number=number,
            operator="improve" if above else "draft",
            parents=above,
            plan="",
            script="",
            metric=metrics[number] if metrics else None,
            is_buggy=not metrics or metrics[number] is None,
            result=ScriptResult(exit_code=0, valid=True),
        )
        for number, above in enumerate(parents)
    ]
    return Search(Tree(nodes=nodes, higher_is_better=False), None, frozenset())


def test_no_two_nodes_overlap() -> None:
    picture = draw(search([(), (), (0,), (0,), (2,), (1,), (2, 5), (0,)]))
    places = [(spot.x, spot.y) for spot in picture.spots]
    assert len(set(places)) == len(places)
    for edge in picture.edges:
        assert edge.y2 > edge.y1 or edge.is_second
    assert all(0 < spot.x < picture.width and 0 < spot.y < picture.height for spot in picture.spots)


def test_colours_follow_the_rank_and_lower_may_be_better() -> None:
    spots = draw(search([(), (0,), (0,), (1,)], [0.5, 0.1, None, 9e9])).spots
    assert [spot.shade for spot in spots] == [SHADES // 2, SHADES - 1, 0, 0]
    assert [spot.kind for spot in spots] == ["good", "good", "buggy", "good"] and spots[1].is_best


def test_lists_are_nested_as_the_tree_is() -> None:
    items = draw(search([(), (0,), (1,), (0,), ()])).items
    assert [item.spot.node.number for item in items] == [0, 1, 2, 3, 4]
    assert [item.opens for item in items] == [True, True, False, False, False]
    assert [item.closes for item in items] == [0, 0, 1, 1, 0]
    assert sum(item.opens for item in items) == sum(item.closes for item in items)


def test_a_chain_of_thousands_of_nodes_is_drawn() -> None:
    picture = draw(search([(), *((number,) for number in range(3_000))]))
    assert len(picture.items) == 3_001 and picture.items[-1].closes == 3_000


def test_parents_that_cannot_be_are_ignored() -> None:
    picture = draw(search([(5,), (1,), (0, 7)]))
    assert len(picture.spots) == 3 and len(picture.edges) == 1
