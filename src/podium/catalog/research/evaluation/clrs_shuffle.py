"""Weights with their numbers in another order: as large as before, but nothing that was learned is left."""

import torch
from safetensors.torch import load_file, save_file

shuffled = {
    name: values.flatten()[torch.randperm(values.numel())].view(values.shape)
    for name, values in load_file("best.safetensors").items()
}
save_file(shuffled, "shuffled.safetensors")
