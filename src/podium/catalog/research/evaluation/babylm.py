"""The loss of a submitted language model on hidden text, with a look at whether it peeks at what comes next."""

import json
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForCausalLM

ROUNDING = 1e-5  # how far scores may move by rounding when later tokens change, as a share of the largest

blocks = torch.tensor(np.load("blocks.npy").astype(np.int64))
device = "cuda" if torch.cuda.is_available() else "cpu"
# Weights and a description of a known architecture; no code of the folder's own is run.
model = AutoModelForCausalLM.from_pretrained(
    "output", trust_remote_code=False, use_safetensors=True, local_files_only=True
)
model = model.to(device, torch.float32).eval()
known = model.get_input_embeddings().num_embeddings
if known <= int(blocks.max()):
    raise SystemExit(f"the model knows {known} tokens, the tokenizer in data/gpt2 makes more")


def scores(rows):
    """For each token of each row, how likely every token is to come next."""
    logits = model(rows.to(device)).logits.float()
    if logits.shape[-1] <= int(blocks.max()):
        raise SystemExit("the model has no score for some of the tokens")
    return logits


def peeks(row):
    """Whether scores depend on tokens further on, looked for at several places: models may look ahead within parts."""
    length = len(row)
    expected = scores(row[None])
    for cut in sorted({1, 2, length // 2, length // 2 + 1, length - 1}):
        other = row.clone()
        other[cut:] = (other[cut:] + 1) % known
        moved = (scores(other[None])[:, :cut] - expected[:, :cut]).abs().max().item()
        if not moved <= ROUNDING * max(1.0, expected.abs().max().item()):  # NaN is no answer either
            return True
    return False


with torch.no_grad():
    if peeks(blocks[0]):
        raise SystemExit("the model looks at tokens that come later")
    losses = []
    for part in blocks.split(4):
        wanted = part[:, 1:].flatten().to(device)
        loss = torch.nn.functional.cross_entropy(scores(part)[:, :-1].flatten(0, 1), wanted, reduction="none")
        losses += loss.view(len(part), -1).double().mean(dim=1).tolist()
Path("losses.json").write_text(json.dumps(losses))
