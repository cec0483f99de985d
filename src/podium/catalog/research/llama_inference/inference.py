"""Times how long a LLaMA model takes for the next token after a text.

python inference.py                          with texts of data/, prints the time per batch
python inference.py PROMPTS.npz TOKENS.npy   reads `prompts` (texts x 128), writes an array: the next token of each text
"""

import sys
import time
from pathlib import Path

# What is here may be changed, and so may everything below it, as long as the two ways to call it stay.
import numpy as np
import torch
from transformers import AutoModelForCausalLM

BATCH, BATCHES = 4, 100
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def load_model():
    kind = torch.float16 if DEVICE == "cuda" else torch.float32
    return AutoModelForCausalLM.from_pretrained("data/model", dtype=kind, local_files_only=True).to(DEVICE).eval()


@torch.no_grad()
def next_tokens(model, prompts):
    """The most likely next token of each text of a batch."""
    made = model.generate(
        prompts.to(DEVICE), attention_mask=torch.ones_like(prompts).to(DEVICE), max_new_tokens=1, do_sample=False
    )
    return made[:, -1].cpu()


def read_prompts(path):
    return torch.tensor(np.load(path)["prompts"].astype(np.int64))


def main():
    model = load_model()
    if len(sys.argv) == 3:
        tokens = [next_tokens(model, batch) for batch in read_prompts(sys.argv[1]).split(BATCH) if len(batch)]
        np.save(sys.argv[2], torch.cat(tokens).numpy() if tokens else np.zeros(0, np.int64))
        return
    times = []
    for batch in read_prompts(Path("data", "prompts.npz"))[: BATCH * BATCHES].split(BATCH):
        started = time.perf_counter()
        next_tokens(model, batch)
        times.append(time.perf_counter() - started)
    print(f"Average time per token: {sum(times) / len(times):.6f} s over {len(times)} batches")


if __name__ == "__main__":
    main()
