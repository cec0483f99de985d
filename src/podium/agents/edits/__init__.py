"""Agent `edits`, which improves starter code without a model."""
