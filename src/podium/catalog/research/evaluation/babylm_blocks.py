"""The test text as blocks of tokens, by the tokenizer that agents were given."""

import json
from pathlib import Path

import numpy as np
from transformers import AutoTokenizer

block = json.loads(Path("data/settings.json").read_text())["block"]
tokenizer = AutoTokenizer.from_pretrained("data/gpt2", local_files_only=True)
tokens = []
for path in sorted(Path("babylm_test").iterdir()):
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            tokens += tokenizer(line + "\n")["input_ids"]
usable = len(tokens) // block * block
np.save("blocks.npy", np.array(tokens[:usable], dtype=np.int32).reshape(-1, block))
