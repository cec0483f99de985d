"""Order in which claims are granted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podium.leases.queue import Claim, grant

SIZES = st.tuples(st.integers(0, 4), st.integers(0, 2)).filter(any)


def claims_for(sizes: list[tuple[int, int]]) -> list[Claim]:
    return [Claim(str(number), 1, "", wants, (0, 1, 2, 3), (0, 1)) for number, wants in enumerate(sizes)]


@given(st.lists(SIZES, max_size=8), st.data())
def test_a_later_claim_never_delays_an_older_one(sizes: list[tuple[int, int]], data: st.DataObject) -> None:
    """For releases in any order, the claims before the last are granted as if there were no last."""
    claims = grant(claims_for(sizes))
    without = grant(claims_for(sizes[:-1]))
    while claims:
        counted = [claim.is_waiting for claim in claims if int(claim.id) < len(sizes) - 1]
        assert counted == [claim.is_waiting for claim in without]
        taken = [core for claim in claims for core in claim.cores]
        assert len(taken) == len(set(taken))
        done = data.draw(st.sampled_from([claim.id for claim in claims if not claim.is_waiting]))
        claims = grant(claim for claim in claims if claim.id != done)
        without = grant(claim for claim in without if claim.id != done)


@given(st.lists(SIZES, max_size=8))
def test_every_claim_is_granted_eventually(sizes: list[tuple[int, int]]) -> None:
    claims = grant(claims_for(sizes))
    while claims:
        held = [claim for claim in claims if not claim.is_waiting]
        assert held[0] == claims[0]
        claims = grant(claims[1:])
