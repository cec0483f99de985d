"""The Python session: a process in the sandbox that keeps its variables between actions."""
