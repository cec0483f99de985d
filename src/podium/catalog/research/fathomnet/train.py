"""Trains a convolutional network to name the animals in pictures of the sea floor, and writes a submission."""

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from metric import map_at_20
from PIL import Image
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn.functional import binary_cross_entropy, binary_cross_entropy_with_logits

SIZE = 256
CATEGORIES = 290
EPOCHS = 1
BATCH_SIZE = 64
THRESHOLD = 0.5

device = "cuda" if torch.cuda.is_available() else "cpu"


def load_images(ids: pd.Series) -> torch.Tensor:
    """All pictures as bytes, channels first."""
    images = torch.empty(len(ids), 3, SIZE, SIZE, dtype=torch.uint8)
    for place, name in enumerate(ids):
        with Image.open(f"data/images/{name}.png") as image:
            pixels = np.array(image.convert("RGB").resize((SIZE, SIZE)))
        images[place] = torch.from_numpy(pixels).permute(2, 0, 1)
    return images


def block(inputs: int, outputs: int) -> nn.Sequential:
    convolution = nn.Conv2d(inputs, outputs, 5, padding=2)
    return nn.Sequential(convolution, nn.ReLU(), nn.BatchNorm2d(outputs), nn.MaxPool2d(2), nn.Dropout(0.2))


def make_model() -> nn.Module:
    return nn.Sequential(
        *(block(inputs, outputs) for inputs, outputs in ((3, 16), (16, 32), (32, 64), (64, 64))),
        nn.Flatten(),
        *(nn.Linear(64 * (SIZE // 16) ** 2, 128), nn.ReLU(), nn.Dropout(0.5)),
        *(nn.Linear(128, 64), nn.ReLU(), nn.Dropout(0.5)),
        nn.Linear(64, CATEGORIES),
    )


@torch.no_grad()
def probabilities(model: nn.Module, images: torch.Tensor) -> torch.Tensor:
    """How probable each category is, a row for each picture."""
    model.eval()
    return torch.cat([torch.sigmoid(model(part.to(device) / 255)).cpu() for part in images.split(BATCH_SIZE)])


def main() -> None:
    table = pd.read_csv("data/multilabel_classification/train.csv")
    actual = [[int(category) for category in ast.literal_eval(cell)] for cell in table["categories"]]
    labels = torch.zeros(len(table), CATEGORIES)
    for row, categories in enumerate(actual):
        labels[row, [category - 1 for category in categories]] = 1
    images = load_images(table["id"])
    train, valid = train_test_split(np.arange(len(table)), test_size=0.3, random_state=20)

    model = make_model().to(device)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(1, EPOCHS + 1):
        model.train()
        total = 0.0
        for batch in torch.from_numpy(np.random.permutation(train)).split(BATCH_SIZE):
            optimizer.zero_grad()
            outputs = model(images[batch].to(device) / 255)
            loss = binary_cross_entropy_with_logits(outputs, labels[batch].to(device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        found = probabilities(model, images[valid])
        loss = binary_cross_entropy(found, labels[valid]).item()
        ranked = (found.argsort(1, descending=True)[:, :20] + 1).tolist()
        score = map_at_20([actual[row] for row in valid], ranked)
        print(f"epoch {epoch}: loss {total / len(train):.4f}, validation loss {loss:.4f}, MAP@20 {score:.4f}")

    test = pd.read_csv("data/sample_submission.csv")[["id"]]
    test_images = load_images(test["id"])
    rows = []
    for name in test["id"]:
        found = probabilities(model, test_images[:1])[0]
        categories = [category for category in found.argsort(descending=True) if found[category] > THRESHOLD]
        rows.append({"id": name, "categories": " ".join(str(int(category) + 1) for category in categories), "osd": 1})
    Path("submission").mkdir(exist_ok=True)
    pd.DataFrame(rows).to_csv("submission/submission.csv", index=False)


if __name__ == "__main__":
    main()
