"""Proposers: they write the scripts that a tree search tries."""
