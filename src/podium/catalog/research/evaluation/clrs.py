"""Predicts with submitted weights, on graphs whose answers are not here."""

import numpy as np
import torch
from model import load, predict

graphs = np.load("graphs.npz")
network = load("checkpoints")
weight, linked = torch.tensor(graphs["weight"]), torch.tensor(graphs["edge"])
found = [predict(network, weight[i : i + 1], linked[i : i + 1]).numpy() for i in range(len(weight))]
np.save("pointers.npy", np.concatenate(found).astype(np.int16))
