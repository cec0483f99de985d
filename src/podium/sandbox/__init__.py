"""Sealed execution of untrusted programs: bubblewrap, limits, leases, and the provider that gives it to Inspect."""
