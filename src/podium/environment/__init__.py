"""The training interface: tasks as environments with `reset` and `step`, and adapters for other people's tools."""
