"""A folder with a suite and no task files of its own."""
