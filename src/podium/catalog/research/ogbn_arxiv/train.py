"""Trains a small network on the features of papers and writes the classes of the test papers."""

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn.functional import dropout, log_softmax, nll_loss, relu

EPOCHS = 4
BATCH_SIZE = 1024
FULL_BATCH_SIZE = 4096
LEARNING_RATE = 1.0
HIDDEN = 16
OUTPUTS = 172
DROPOUT = 0.0

device = "cuda" if torch.cuda.is_available() else "cpu"


class MLP(nn.Module):
    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, HIDDEN)
        self.norm = nn.BatchNorm1d(HIDDEN)
        self.second = nn.Linear(HIDDEN, OUTPUTS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = relu(self.norm(self.first(x)))
        x = dropout(x, DROPOUT, self.training)
        return log_softmax(self.second(x), dim=1)


@torch.no_grad()
def predict(model: nn.Module, features: torch.Tensor) -> torch.Tensor:
    model.eval()
    return torch.cat([model(part.to(device)).argmax(1).cpu() for part in features.split(FULL_BATCH_SIZE)])


def main() -> None:
    features = torch.from_numpy(np.load("data/node_feat.npy"))
    labels = torch.from_numpy(np.load("data/labels.npy"))
    train, valid, test = (torch.from_numpy(np.load(f"data/{part}.npy")) for part in ("train", "valid", "test"))

    model = MLP(features.shape[1]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max")  # noqa: F841
    for epoch in range(1, EPOCHS + 1):
        model.train()
        # The network does not look at citations, so batches are plain: there is no need to load neighbours.
        for batch in train[torch.randperm(len(train))].split(BATCH_SIZE):
            optimizer.zero_grad()
            loss = nll_loss(model(features[batch].to(device)), labels[batch].to(device))
            loss.backward()
            optimizer.step()
        right = predict(model, features) == labels
        shares = [float(right[part].float().mean()) for part in (train, valid)]
        print(f"epoch {epoch}: train accuracy {shares[0]:.4f}, validation accuracy {shares[1]:.4f}")

    classes = predict(model, features)[test]
    Path("submission").mkdir(exist_ok=True)
    pd.DataFrame({"node": test, "class": classes}).to_csv("submission/submission.csv", index=False)


if __name__ == "__main__":
    main()
