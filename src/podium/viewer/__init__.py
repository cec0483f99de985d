"""The web page over a folder of experiments: `podium view`."""
