"""Git's object formats, read and written without trusting a stranger's repository."""
