"""Random weighted graphs, and what the Floyd-Warshall algorithm does on them, step by step."""

import numpy as np

DENSITIES = (0.1, 0.3, 0.5, 0.7, 0.9)


def sample_graphs(rng, count, size):
    """Undirected graphs with weights between 0 and 1: arrays `weight` and `edge` of shape (count, size, size)."""
    density = rng.choice(DENSITIES, size=(count, 1, 1))
    upper = np.triu(rng.random((count, size, size)) < density, 1)
    weight = np.triu(rng.random((count, size, size)), 1) * upper
    edge = upper | upper.transpose(0, 2, 1) | np.eye(size, dtype=bool)
    return {"weight": (weight + weight.transpose(0, 2, 1)).astype(np.float32), "edge": edge}


def floyd_warshall(graphs):
    """Shortest paths from all nodes to all nodes.

    Returns:
        pointer: for each pair (i, j) the node before j on the shortest path from i; j itself where there is none.
        steps: what is known before each round k, arrays with a first axis of rounds: `distance`, `reached`, `pointer`.
    """
    weight, edge = graphs["weight"], graphs["edge"]
    count, size, _ = weight.shape
    nodes = np.arange(size)
    distance, reached = np.where(edge, weight, 0.0).astype(np.float32), edge.copy()
    pointer = np.where(edge, nodes[:, None], nodes[None, :])
    pointer = np.broadcast_to(pointer, (count, size, size)).copy()
    steps = {"distance": [], "reached": [], "pointer": []}
    for k in range(size):
        for name, value in (("distance", distance), ("reached", reached), ("pointer", pointer)):
            steps[name].append(value.copy())
        possible = reached[:, :, k, None] & reached[:, None, k, :]
        through = distance[:, :, k, None] + distance[:, None, k, :]
        better = possible & (~reached | (through < distance))
        distance = np.where(better, through, distance)
        pointer = np.where(better, pointer[:, None, k, :], pointer)
        reached |= possible
    return pointer, {name: np.stack(values) for name, values in steps.items()}
