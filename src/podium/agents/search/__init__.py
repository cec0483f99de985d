"""Tree search over scripts: policies choose the next node, proposers write scripts, and the sandbox runs them."""
