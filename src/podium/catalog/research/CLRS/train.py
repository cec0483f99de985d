"""Trains a graph network to imitate the Floyd-Warshall algorithm, and keeps the best weights in checkpoints/."""

import json
from pathlib import Path

import numpy as np
import torch
from model import Network, predict, save
from samplers import floyd_warshall, sample_graphs
from torch.nn import functional

SETTINGS = json.loads(Path("data/settings.json").read_text())
STEPS, BATCH, HIDDEN = SETTINGS["steps"], SETTINGS["batch"], SETTINGS["hidden"]
LEARNING_RATE, CLIP, EVERY, SEED = 1e-3, 1.0, max(STEPS // 10, 1), 42
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def batch_of(rng, size, count):
    graphs = sample_graphs(rng, count, size)
    pointer, steps = floyd_warshall(graphs)
    weight, linked = torch.tensor(graphs["weight"], device=DEVICE), torch.tensor(graphs["edge"], device=DEVICE)
    return (
        weight,
        linked,
        torch.tensor(pointer, device=DEVICE),
        {k: torch.tensor(v, device=DEVICE) for k, v in steps.items()},
    )


def loss_of(rounds, pointer, steps):
    """How far the guesses after each round are from what the algorithm knows then."""
    loss = functional.cross_entropy(rounds[-1][2].flatten(0, 2), pointer.flatten())
    for number, (distance, reached, towards) in enumerate(rounds[:-1], start=1):
        known = {name: values[number] for name, values in steps.items()}
        hints = functional.mse_loss(distance, known["distance"])
        hints += functional.binary_cross_entropy_with_logits(reached, known["reached"].float())
        hints += functional.cross_entropy(towards.flatten(0, 2), known["pointer"].flatten())
        loss = loss + hints / len(rounds)
    return loss


def accuracy(network, examples):
    weight, linked, pointer, _ = examples
    return (predict(network, weight, linked) == pointer).float().mean().item()


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    network = Network(HIDDEN).to(DEVICE)
    optimiser = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    validation = batch_of(np.random.default_rng(SEED + 1), SETTINGS["validation_size"], BATCH)
    best = -1.0
    for step in range(1, STEPS + 1):
        network.train()
        weight, linked, pointer, steps = batch_of(rng, int(rng.choice(SETTINGS["sizes"])), BATCH)
        loss = loss_of(network(weight, linked), pointer, steps)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), CLIP)
        optimiser.step()
        if step % EVERY == 0 or step == STEPS:
            score = accuracy(network, validation)
            print(f"step {step}: loss {loss.item():.4f}, validation accuracy {score:.4f}", flush=True)
            if score > best:
                best = score
                save(network, "checkpoints")
    print(f"best validation accuracy: {best:.4f}")


if __name__ == "__main__":
    main()
