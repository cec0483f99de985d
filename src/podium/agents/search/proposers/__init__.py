"""Proposers, which write the scripts that a tree search tries."""
