"""Python installations that programs use inside a sandbox."""
