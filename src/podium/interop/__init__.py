"""Adapters: environments and tasks in the forms of other tools. Each needs its tool, and nothing else does."""
