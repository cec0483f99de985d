"""The Merkle tree against the vectors of Certificate Transparency, and against the definition in RFC 6962."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.board.ledger.merkle import MerkleTree, leaf_hash, verify_consistency, verify_inclusion

INPUTS = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
"""The test vectors that implementations of RFC 6962 share: inputs in hexadecimal, the root after each."""


def vectors() -> MerkleTree:
    return MerkleTree(leaf_hash(bytes.fromhex(text)) for text in INPUTS)


def root_by_definition(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1, word for word."""
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return hashlib.sha256(b"\1" + root_by_definition(leaves[:k]) + root_by_definition(leaves[k:])).digest()


def test_roots_are_those_of_the_shared_vectors() -> None:
    tree = vectors()
    assert [tree.root(size).hex() for size in range(1, 9)] == ROOTS
    assert tree.root(0).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize(
    ("number", "size", "proof"),
    [
        (0, 1, []),
        (
            *(0, 8),
            [
                "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
            ],
        ),
        (
            *(5, 8),
            [
                "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            ],
        ),
    ],
)
def test_inclusion_proofs_are_those_of_the_shared_vectors(number: int, size: int, proof: list[str]) -> None:
    assert [part.hex() for part in vectors().inclusion_proof(number, size)] == proof


@given(st.lists(st.binary(max_size=3), max_size=40))
def test_the_root_is_the_one_of_the_definition(leaves: list[bytes]) -> None:
    assert MerkleTree(map(leaf_hash, leaves)).root() == root_by_definition(leaves)


def test_an_inclusion_proof_is_valid_for_one_position_only() -> None:
    leaves = [leaf_hash(bytes([n])) for n in range(20)]
    tree = MerkleTree(leaves)
    for size in range(1, 21):
        for number in range(size):
            proof = tree.inclusion_proof(number, size)
            fits = [n for n in range(size) if verify_inclusion(leaves[number], n, size, proof, tree.root(size))]
            assert fits == [number]
            assert not verify_inclusion(leaves[number], number, size, [*proof, tree.root()], tree.root(size))


def test_consistency_proofs_are_valid_for_one_history_only() -> None:
    tree = MerkleTree(leaf_hash(bytes([n])) for n in range(20))
    other = MerkleTree(leaf_hash(bytes([n + (n == 3)])) for n in range(20))
    for new in range(1, 21):
        for old in range(1, new + 1):
            proof = tree.consistency_proof(old, new)
            assert verify_consistency(old, tree.root(old), new, tree.root(new), proof)
            if old > 3:
                assert not verify_consistency(old, other.root(old), new, tree.root(new), proof)
            if old < new:
                assert not verify_consistency(old, tree.root(old), new, tree.root(new), proof[:-1])


def test_proofs_outside_the_tree_are_refused() -> None:
    with pytest.raises(ValueError, match="entry 8 is not among"):
        vectors().inclusion_proof(8)
    with pytest.raises(ValueError, match="cannot grow"):
        vectors().consistency_proof(0)
    with pytest.raises(ValueError, match="not 9"):
        vectors().root(9)
