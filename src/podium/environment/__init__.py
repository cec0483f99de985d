"""Training interface: tasks as environments with `reset` and `step`."""
