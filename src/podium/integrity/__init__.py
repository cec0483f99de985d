"""Integrity checks: cheating agents, copied scripts, faulty tasks, contamination, and failure modes."""
