"""Trains a segmentation model on satellite pictures in false colours and writes the masks of the test records."""

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn.functional import cross_entropy, pad
from torch.utils.data import DataLoader, Dataset

EPOCHS = 1
BATCH_SIZE = 8
LEARNING_RATE = 1e-5
CLASS_WEIGHTS = (0.57, 4.17)  # contrails are rare
LABELLED = 4  # of the eight times
PADDING = 2
BEST = "best_model.pth"

device = "cuda" if torch.cuda.is_available() else "cpu"


def false_colour(folder: Path) -> np.ndarray:
    """Three channels from 0 to 1 in which ice clouds stand out: two differences of bands, and one band."""

    def band(number: int) -> np.ndarray:
        return np.load(folder / f"band_{number}.npy", mmap_mode="r")[..., LABELLED]

    def scaled(values: np.ndarray, low: float, high: float) -> np.ndarray:
        return np.clip((values - low) / (high - low), 0, 1)

    red, green = scaled(band(15) - band(14), -4, 2), scaled(band(14) - band(11), -4, 5)
    return np.stack([red, green, scaled(band(14), 243, 303)]).astype(np.float32)


class Records(Dataset):
    """Pictures, with a margin that mirrors their edge, and masks where there are any."""

    def __init__(self, folders: list[Path]) -> None:
        self.folders = folders

    def __len__(self) -> int:
        return len(self.folders)

    def __getitem__(self, place: int) -> tuple[torch.Tensor, torch.Tensor]:
        folder = self.folders[place]
        picture = pad(torch.from_numpy(false_colour(folder)), [PADDING] * 4, mode="reflect")
        path = folder / "human_pixel_masks.npy"
        mask = np.load(path)[..., 0] if path.exists() else np.zeros(0)
        return picture, torch.from_numpy(mask).long()


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)[..., PADDING:-PADDING, PADDING:-PADDING]


@torch.no_grad()
def dice(model: nn.Module, loader: DataLoader) -> float:
    """The Dice coefficient of all pixels together."""
    model.eval()
    common = total = 0
    for pictures, masks in loader:
        found = model(pictures.to(device)).argmax(1).cpu()
        common += int((found * masks).sum())
        total += int(found.sum() + masks.sum())
    return 2 * common / total if total else 1.0


def encode(mask: np.ndarray) -> str:
    """Runs of start and length, down the columns, the first pixel numbered 1."""
    edges = np.flatnonzero(np.diff(mask.T.ravel().astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    return " ".join(f"{start + 1} {stop - start}" for start, stop in edges) or "-"


def main() -> None:
    known = sorted(path for path in Path("data/train").iterdir() if path.is_dir())
    train, valid = train_test_split(known, test_size=0.1, random_state=42)
    train_loader = DataLoader(Records(train), BATCH_SIZE, shuffle=True)
    valid_loader = DataLoader(Records(valid), BATCH_SIZE)

    model = Model().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    weights = torch.tensor(CLASS_WEIGHTS, device=device)
    best = -1.0
    for epoch in range(1, EPOCHS + 1):
        model.train()
        losses = []
        for pictures, masks in train_loader:
            optimizer.zero_grad()
            loss = cross_entropy(model(pictures.to(device)), masks.to(device), weights)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        score = dice(model, valid_loader)
        print(f"epoch {epoch}: loss {np.mean(losses):.4f}, validation Dice {score:.4f}")
        if score > best:
            best = score
            torch.save(model.state_dict(), BEST)

    model.load_state_dict(torch.load(BEST, weights_only=True))
    model.eval()
    test = sorted(path for path in Path("data/test").iterdir() if path.is_dir())
    rows = []
    with torch.no_grad():
        for pictures, _ in DataLoader(Records(test), BATCH_SIZE):
            rows += [encode(mask) for mask in model(pictures.to(device)).argmax(1).cpu().numpy()]
    Path("submission").mkdir(exist_ok=True)
    table = pd.DataFrame({"record_id": [folder.name for folder in test], "encoded_pixels": rows})
    table.to_csv("submission/submission.csv", index=False)


if __name__ == "__main__":
    main()
