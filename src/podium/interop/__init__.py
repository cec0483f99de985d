"""Adapters for other tools: environments and tasks in their formats. Each module requires its tool."""
