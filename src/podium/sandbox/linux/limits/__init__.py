"""Limits on memory, disk, processes and time, enforced by cgroups or by measuring."""
