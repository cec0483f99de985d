"""The board's append-only ledger: signed statements, a Merkle tree over them, and an audit of both."""
