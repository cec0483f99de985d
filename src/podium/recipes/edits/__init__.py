"""Known edits of programs: the first things an engineer tries on existing code, without a model."""
