"""Task authoring: tasks from your own data or code."""
