"""The network around the processor: encoders, decoders, and weights in a folder. This file cannot be changed."""

import json
from pathlib import Path

import torch
from processors import make_processor
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional


class Network(nn.Module):
    """Imitates Floyd-Warshall: one call of the processor per round, fed with its own guesses of what is known."""

    def __init__(self, hidden):
        super().__init__()
        self.hidden = hidden
        self.encode_node = nn.Linear(2, hidden)
        self.encode_edge = nn.Linear(5, hidden)
        self.processor = make_processor(hidden)
        self.guess = nn.Linear(3 * hidden, 2)
        self.query, self.key = nn.Linear(3 * hidden, hidden), nn.Linear(2 * hidden, hidden)
        self.via = nn.Linear(2 * hidden, 2)

    def forward(self, weight, linked):
        """For each round, and for the end, (distance, reached, pointer): two scores and one score per node and pair."""
        count, size, _ = weight.shape
        position = torch.arange(size, device=weight.device) / size
        state = weight.new_zeros(count, size, self.hidden)
        distance, reached, pointer = weight, linked.float(), position[:, None].expand(count, size, size)
        rounds = []
        for k in range(size):
            now = functional.one_hot(torch.tensor(k, device=weight.device), size).float()
            node = self.encode_node(torch.stack([position, now], dim=-1)).expand(count, size, self.hidden)
            edge = self.encode_edge(torch.stack([weight, linked.float(), distance, reached, pointer], dim=-1))
            state, pairs = self.processor(node, edge, linked, state)
            rounds.append(self._decode(node, edge, state, pairs))
            distance, reached = rounds[-1][0], torch.sigmoid(rounds[-1][1])
            pointer = torch.softmax(rounds[-1][2], dim=-1) @ position
        return rounds

    def _decode(self, node, edge, state, pairs):
        size = state.shape[1]
        ends = state[:, :, None].expand(-1, -1, size, -1)
        about = torch.cat([ends, edge, pairs], dim=-1)
        distance, reached = self.guess(about).unbind(-1)
        match = self.query(about) @ self.key(torch.cat([node, state], dim=-1))[:, None].transpose(-1, -2)
        to, on = self.via(torch.cat([edge, pairs], dim=-1)).unbind(-1)
        # The node p before j on the way from i: how well i reaches p, and how well p leads on to j.
        return distance, reached, match / self.hidden**0.5 + to[:, :, None, :] + on.transpose(1, 2)[:, None]


@torch.no_grad()
def predict(network, weight, linked):
    """For each pair of nodes the number of the node before the second on the way from the first."""
    network.eval()
    return network(weight, linked)[-1][2].argmax(dim=-1)


def save(network, folder):
    """Keeps the weights, and nothing that could be executed."""
    Path(folder).mkdir(exist_ok=True)
    save_file(network.state_dict(), Path(folder, "best.safetensors"))
    Path(folder, "settings.json").write_text(json.dumps({"hidden": network.hidden}))


def load(folder):
    """The network that was saved."""
    network = Network(int(json.loads(Path(folder, "settings.json").read_text())["hidden"]))
    network.load_state_dict(load_file(Path(folder, "best.safetensors")))
    return network
