"""Sandboxes built from Linux namespaces, seccomp and cgroups, with bubblewrap as the launcher."""
