"""Known edits of programs: what an engineer tries first on somebody's code, without a model."""
