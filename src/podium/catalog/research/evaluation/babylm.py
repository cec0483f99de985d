"""The loss of a submitted language model on hidden text, with a look at whether it peeks at what comes next."""

import json
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForCausalLM

ROUNDING = 1e-3  # how far scores may move by rounding when later tokens change

blocks = torch.tensor(np.load("blocks.npz")["blocks"].astype(np.int64))
device = "cuda" if torch.cuda.is_available() else "cpu"
# Weights and a description of a known architecture; no code of the folder's own is run.
model = AutoModelForCausalLM.from_pretrained(
    "output", trust_remote_code=False, use_safetensors=True, local_files_only=True
)
model = model.to(device, torch.float32).eval()

with torch.no_grad():
    first = blocks[:1].to(device)
    half = first.shape[1] // 2
    other = first.clone()
    other[:, half:] = (other[:, half:] + 1) % model.config.vocab_size
    moved = (model(first).logits[:, :half] - model(other).logits[:, :half]).abs().max().item()
    if not moved <= ROUNDING:
        raise SystemExit("the model looks at tokens that come later")
    losses = []
    for block in blocks.split(4):
        logits = model(block.to(device)).logits[:, :-1].float()
        if logits.shape[-1] <= int(blocks.max()):
            raise SystemExit("the model does not know all tokens")
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), block[:, 1:].flatten().to(device), reduction="none"
        )
        losses += loss.view(len(block), -1).double().mean(dim=1).tolist()
Path("losses.json").write_text(json.dumps(losses))
