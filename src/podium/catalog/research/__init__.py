"""Research tasks with starter code and a baseline, one file each."""
