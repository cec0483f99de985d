"""Sealed execution of untrusted programs: backends, limits, and a sandbox provider for Inspect."""
