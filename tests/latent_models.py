"""Untrained checkpoints with syntactic distances, whose heads and positions differ."""

from pathlib import Path

import torch
from small_models import build, save_checkpoint


def latent_checkpoint(data: Path, path: Path, *more: str) -> Path:
    """Writes one with two gated layers on each side."""
    model, _, cfg = build(data, "latent_phrase_transformer", *more)
    torch.manual_seed(11)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(2)
            else:
                weight.add_(torch.randn_like(weight) / 10)
    return save_checkpoint(path, model, cfg)
