"""Trains a GPT-2 from scratch on the BabyLM corpus and keeps it in output/."""

import json
import math
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, get_linear_schedule_with_warmup

SETTINGS = json.loads(Path("data/settings.json").read_text())
EPOCHS, BATCH, LEARNING_RATE, SEED = 1, 16, 5e-5, 42
BLOCK = SETTINGS["block"]
EVALUATIONS, LARGEST_EVALUATION = 5, 200
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def blocks_of(tokenizer, folder):
    """All text of a folder as one row of tokens, cut into blocks of the same length."""
    tokens = []
    for path in sorted(Path(folder).iterdir()):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                tokens += tokenizer(line + "\n")["input_ids"]
    usable = len(tokens) // BLOCK * BLOCK
    return torch.tensor(tokens[:usable]).view(-1, BLOCK)


@torch.no_grad()
def perplexity(model, blocks):
    model.eval()
    losses = [model(part.to(DEVICE), labels=part.to(DEVICE)).loss.item() for part in blocks.split(4)]
    model.train()
    return math.exp(sum(losses) / len(losses))


def main():
    torch.manual_seed(SEED)
    tokenizer = AutoTokenizer.from_pretrained("data/gpt2")
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained("data/gpt2")).to(DEVICE)
    train, validation = blocks_of(tokenizer, "data/babylm_10M"), blocks_of(tokenizer, "data/babylm_dev")
    validation = validation[:LARGEST_EVALUATION]
    print(f"{len(train)} blocks to train on, {sum(p.numel() for p in model.parameters()):,} parameters")
    optimiser = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    steps = EPOCHS * math.ceil(len(train) / BATCH)
    schedule = get_linear_schedule_with_warmup(optimiser, 0, steps)
    step = 0
    for _ in range(EPOCHS):
        for part in train[torch.randperm(len(train))].split(BATCH):
            loss = model(part.to(DEVICE), labels=part.to(DEVICE)).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
            step += 1
            if step % max(steps // EVALUATIONS, 1) == 0:
                print(
                    f"step {step} of {steps}: loss {loss.item():.4f}, "
                    f"validation perplexity {perplexity(model, validation):.2f}",
                    flush=True,
                )
    model.save_pretrained("output", safe_serialization=True)
    print(f"perplexity: {perplexity(model, validation):.2f}")


if __name__ == "__main__":
    main()
