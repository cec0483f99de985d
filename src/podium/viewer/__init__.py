"""Web viewer for a folder of experiments: `podium view`."""
