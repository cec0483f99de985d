"""Trains a small convolutional network on CIFAR-10 and writes the class probabilities of the test pictures."""

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn.functional import cross_entropy, max_pool2d, relu, softmax
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 5
BATCH_SIZE = 128
LEARNING_RATE = 0.1
HELD_OUT = 0.1  # of the known pictures: the labels of the test pictures are not here

device = "cuda" if torch.cuda.is_available() else "cpu"


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = max_pool2d(relu(self.conv1(x)), 2)
        x = max_pool2d(relu(self.conv2(x)), 2)
        x = relu(self.fc1(x.flatten(1)))
        return self.fc3(relu(self.fc2(x)))


def as_tensor(images: np.ndarray) -> torch.Tensor:
    """Channels first, values from -1 to 1."""
    return (torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255 - 0.5) / 0.5


@torch.no_grad()
def accuracy(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    right = total = 0
    for images, labels in loader:
        found = model(images.to(device)).argmax(1).cpu()
        right += int((found == labels).sum())
        total += len(labels)
    return 100 * right / total


@torch.no_grad()
def probabilities(model: nn.Module, images: torch.Tensor) -> np.ndarray:
    model.eval()
    parts = [softmax(model(part.to(device)), dim=1).cpu() for part in images.split(1000)]
    return torch.cat(parts).numpy()


def main() -> None:
    images = as_tensor(np.load("data/train_images.npy"))
    labels = torch.from_numpy(np.load("data/train_labels.npy"))
    known = len(images) - int(HELD_OUT * len(images))
    # The last, smaller batch is dropped, so the accuracies printed below leave a few pictures out.
    options = {"batch_size": BATCH_SIZE, "drop_last": True}
    train_loader = DataLoader(TensorDataset(images[:known], labels[:known]), shuffle=True, **options)
    valid_loader = DataLoader(TensorDataset(images[known:], labels[known:]), **options)

    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=0.9)
    for epoch in range(1, EPOCHS + 1):
        model.train()
        running_loss = 0.0
        for number, (inputs, targets) in enumerate(train_loader, 1):
            optimizer.zero_grad()
            loss = cross_entropy(model(inputs.to(device)), targets.to(device))
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
            if number % 100 == 0:
                print(f"epoch {epoch}, batch {number}: loss {running_loss / 100:.3f}")
                running_loss = 0.0
        train_accuracy, valid_accuracy = accuracy(model, train_loader), accuracy(model, valid_loader)
        print(f"epoch {epoch}: train accuracy {train_accuracy:.2f} %, validation accuracy {valid_accuracy:.2f} %")

    print(f"in the end: train accuracy {accuracy(model, train_loader):.2f} %")
    print(f"in the end: validation accuracy {accuracy(model, valid_loader):.2f} %")

    test = as_tensor(np.load("data/test_images.npy"))
    table = pd.DataFrame(probabilities(model, test))
    Path("submission").mkdir(exist_ok=True)
    table.to_csv("submission/submission.csv", index_label="id")


if __name__ == "__main__":
    main()
