"""Files that a hostile process may be changing: open, read, write, walk, remove and lock them safely."""
