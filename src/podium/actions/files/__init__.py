"""Actions that read and change files in the workspace."""
