"""The part of the network that passes messages along edges, once per round of the algorithm. Change it as you like.

`make_processor(hidden)` must return a module whose `forward` takes and returns what is said below: training and
evaluation both use this file.
"""

import torch
from torch import nn


def make_processor(hidden):
    return TripletGMPNN(hidden)


class TripletGMPNN(nn.Module):
    """Gated message passing with messages over triplets of nodes."""

    def __init__(self, hidden, triplet=8):
        super().__init__()
        self.to_source, self.to_target = nn.Linear(2 * hidden, hidden), nn.Linear(2 * hidden, hidden)
        self.to_edge = nn.Linear(hidden, hidden)
        self.nodes = nn.ModuleList(nn.Linear(2 * hidden, triplet) for _ in range(3))
        self.edges = nn.ModuleList(nn.Linear(hidden, triplet) for _ in range(3))
        self.from_triplet = nn.Linear(triplet, hidden)
        self.message = nn.Sequential(nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, hidden))
        self.from_node, self.from_message = nn.Linear(2 * hidden, hidden), nn.Linear(hidden, hidden)
        self.gate = nn.Sequential(nn.Linear(3 * hidden, hidden), nn.ReLU(), nn.Linear(hidden, hidden))
        self.normal = nn.LayerNorm(hidden)
        nn.init.constant_(self.gate[-1].bias, -3.0)

    def forward(self, node, edge, linked, state):
        """
        Args:
            node: what is known of the nodes, (batch, size, hidden).
            edge: what is known of pairs of nodes, (batch, size, size, hidden).
            linked: which pairs have an edge, (batch, size, size).
            state: what this module returned for the nodes in the round before, (batch, size, hidden).

        Returns:
            The new state of the nodes, and features of pairs of nodes, shaped as `state` and `edge`.
        """
        both = torch.cat([node, state], dim=-1)
        first, second, third = (layer(both) for layer in self.nodes)
        direct, out, back = (layer(edge) for layer in self.edges)
        # Over all nodes k between i and j: (batch, i, k, j, triplet).
        triplets = (
            first[:, :, None, None]
            + second[:, None, None]
            + third[:, None, :, None]
            + direct[:, :, None]
            + out[:, :, :, None]
            + back[:, None]
        )
        pairs = torch.relu(self.from_triplet(triplets.amax(dim=2)))
        messages = self.message(self.to_source(both)[:, :, None] + self.to_target(both)[:, None] + self.to_edge(edge))
        messages = messages.masked_fill(~linked[..., None], -1e9).amax(dim=1)
        new = self.normal(torch.relu(self.from_node(both) + self.from_message(messages)))
        gate = torch.sigmoid(self.gate(torch.cat([both, messages], dim=-1)))
        return gate * new + (1 - gate) * state, pairs
