"""Sealed execution of untrusted programs: bubblewrap, limits, and the provider that gives it to Inspect."""
