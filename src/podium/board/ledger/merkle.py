"""Merkle tree of RFC 6962 with inclusion and consistency proofs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

EMPTY = hashlib.sha256().digest()


def leaf_hash(data: bytes) -> bytes:
    return hashlib.sha256(b"\0" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


class MerkleTree:
    """Merkle tree of a growing list: appending takes amortised constant time, a proof logarithmic time."""

    def __init__(self, leaves: Iterable[bytes] = ()) -> None:
        """
        Args:
            leaves: Hashes made by `leaf_hash`.
        """
        self._levels: list[list[bytes]] = [[]]
        """Hashes of all complete subtrees by height."""
        for leaf in leaves:
            self.append(leaf)

    def __len__(self) -> int:
        return len(self._levels[0])

    def append(self, leaf: bytes) -> None:
        self._levels[0].append(leaf)
        height = 0
        while len(self._levels[height]) % 2 == 0:
            if height + 1 == len(self._levels):
                self._levels.append([])
            self._levels[height + 1].append(node_hash(*self._levels[height][-2:]))
            height += 1

    def root(self, size: int | None = None) -> bytes:
        """Return the root hash of the first `size` entries, by default of all."""
        size = self._checked(len(self) if size is None else size)
        return self._hash(0, size) if size else EMPTY

    def inclusion_proof(self, number: int, size: int | None = None) -> list[bytes]:
        """Return a proof that an entry, counted from 0, is among the first `size`."""
        size = self._checked(len(self) if size is None else size)
        if not 0 <= number < size:
            raise ValueError(f"entry {number} is not among the first {size} entries")
        return list(self._path(number, 0, size))

    def consistency_proof(self, old: int, new: int | None = None) -> list[bytes]:
        """Return a proof that the first `new` entries begin with the first `old`."""
        new = self._checked(len(self) if new is None else new)
        if not 0 < old <= new:
            raise ValueError(f"a ledger of {old} entries cannot grow to {new}")
        return list(self._subproof(old, 0, new, whole=True))

    def _checked(self, size: int) -> int:
        if not 0 <= size <= len(self):
            raise ValueError(f"the tree has {len(self)} entries, not {size}")
        return size

    def _hash(self, start: int, end: int) -> bytes:
        """Return the hash of a range that is a subtree as defined by RFC 6962."""
        count = end - start
        if count & (count - 1) == 0:
            return self._levels[count.bit_length() - 1][start // count]
        split = start + _split(count)
        return node_hash(self._hash(start, split), self._hash(split, end))

    def _path(self, number: int, start: int, end: int) -> Iterator[bytes]:
        if end - start == 1:
            return
        split = start + _split(end - start)
        if number < split:
            yield from self._path(number, start, split)
            yield self._hash(split, end)
        else:
            yield from self._path(number, split, end)
            yield self._hash(start, split)

    def _subproof(self, old: int, start: int, end: int, *, whole: bool) -> Iterator[bytes]:
        if old == end:
            if not whole:
                yield self._hash(start, end)
            return
        split = start + _split(end - start)
        if old <= split:
            yield from self._subproof(old, start, split, whole=whole)
            yield self._hash(split, end)
        else:
            yield from self._subproof(old, split, end, whole=False)
            yield self._hash(start, split)


def _split(count: int) -> int:
    """Return the largest power of two below a number of entries."""
    return 1 << (count - 1).bit_length() - 1


def verify_inclusion(leaf: bytes, number: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Return whether an inclusion proof for leaf `number` is valid for a root (RFC 9162, 2.1.3.2)."""
    if not 0 <= number < size:
        return False
    place, last, found = number, size - 1, leaf
    for other in proof:
        if last == 0:
            return False
        if place & 1 or place == last:
            found = node_hash(other, found)
            while place & 1 == 0 and place:
                place, last = place >> 1, last >> 1
        else:
            found = node_hash(found, other)
        place, last = place >> 1, last >> 1
    return last == 0 and found == root


def verify_consistency(old: int, old_root: bytes, new: int, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Return whether a consistency proof between two roots is valid (RFC 9162, 2.1.4.2)."""
    if old == new:
        return not proof and old_root == new_root
    if not 0 < old < new or not proof:
        return False
    path = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    place, last = old - 1, new - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    before = after = path[0]
    for other in path[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            before, after = node_hash(other, before), node_hash(other, after)
            while place & 1 == 0 and place:
                place, last = place >> 1, last >> 1
        else:
            after = node_hash(after, other)
        place, last = place >> 1, last >> 1
    return last == 0 and before == old_root and after == new_root
