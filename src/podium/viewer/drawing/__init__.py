"""What pages draw: charts, search trees, highlighted code, observations and task cards."""
