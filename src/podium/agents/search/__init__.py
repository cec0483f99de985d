"""Tree search over scripts: policies choose where to go on, proposers write scripts, the sandbox says how they do."""
