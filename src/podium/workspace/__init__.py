"""The agent's workspace and its records: the journal of steps and the history of snapshots."""
