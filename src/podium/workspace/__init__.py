"""What the agent works in and what is kept of it: the journal of steps, snapshots as git objects."""
