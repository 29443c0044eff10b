"""The correcting Transformer as a module of PyTorch, with its weights as safetensors.

``python -m examples.pytorch_port FOLDER`` writes the shipped network there. ``Port.load(FOLDER)`` needs this
file, PyTorch and safetensors alone, so other tools work on the network: hooks, gradients, fine-tuning.

B sentences, S source and T target tokens, D d_model, F feed-forward width, H heads, V vocabulary.
"""

import json
import math
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

PAD, START, EPSILON = 0, 2, 1e-6
WEIGHTS, CONFIG = "model.safetensors", "config.json"
PARTS = "token", "initial", "medial", "final"


class Embedding(nn.Module):
    """A token's vector is that of itself, and for a syllable those of its jamo; the output reads the same."""

    def __init__(self, config: dict):
        super().__init__()
        tables = zip(PARTS, config["tables"], strict=True)
        self.tables = nn.ModuleDict({part: nn.Embedding(size, config["d_model"]) for part, size in tables})
        self.output_bias = nn.Parameter(torch.zeros(config["vocab_size"]))
        self.register_buffer("features", torch.zeros(config["ids"], 4, dtype=torch.long))

    def vectors(self) -> Tensor:
        """(ids, D)."""
        token, *jamo = (self.tables[part](self.features[:, i]) for i, part in enumerate(PARTS))
        return token + (self.features[:, 1:2] > 0) * sum(jamo)

    def forward(self, ids: Tensor) -> Tensor:
        """(B, N) -> (B, N, D), times sqrt(D), with sinusoidal positions."""
        vectors = self.vectors()[ids]
        width = vectors.shape[-1]
        pair = torch.arange(width, device=ids.device) // 2 * 2
        places = torch.arange(ids.shape[1], device=ids.device, dtype=torch.float64)
        angles = places[:, None] / 10000.0 ** (pair / width)
        even = torch.arange(width, device=ids.device) % 2 == 0
        return vectors * math.sqrt(width) + torch.where(even, angles.sin(), angles.cos()).to(vectors)

    def logits(self, states: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, V)."""
        return states @ self.vectors()[: len(self.output_bias)].T + self.output_bias


class Attention(nn.Module):
    """Multi-head attention. ``weights`` is a place for hooks: its output is (B, H, Q, K)."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads, self.weights = heads, nn.Softmax(dim=-1)
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))

    def forward(self, asking: Tensor, read: Tensor, seen: Tensor) -> Tensor:
        query, key, value = (
            part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part, x in ((self.query, asking), (self.key, read), (self.value, read))
        )
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        heads = self.weights(scores.masked_fill(~seen, -1e9)) @ value
        return self.output(heads.transpose(1, 2).flatten(-2))


class Block(nn.Module):
    """Attentions and a feed-forward network, each with a residual connection and a normalisation."""

    def __init__(self, config: dict, attentions: list[str]):
        super().__init__()
        width, self.norm_first = config["d_model"], config["norm_first"]
        self.attentions = nn.ModuleDict({name: Attention(width, config["num_heads"]) for name in attentions})
        hidden, output = nn.Linear(width, config["dff"]), nn.Linear(config["dff"], width)
        self.feed_forward = nn.Sequential(OrderedDict(hidden=hidden, relu=nn.ReLU(), output=output))
        names = *attentions, "feed_forward"
        self.norms = nn.ModuleDict({name: nn.LayerNorm(width, EPSILON) for name in names})

    def forward(self, x: Tensor, own: Tensor, memory: Any = None, seen: Any = None) -> Tensor:
        for name, attention in self.attentions.items():
            if name == "cross_attention":
                x = self.around(name, x, lambda x, attend=attention: attend(x, memory, seen))
            else:
                x = self.around(name, x, lambda x, attend=attention: attend(x, x, own))
        return self.around("feed_forward", x, self.feed_forward)

    def around(self, name: str, x: Tensor, sublayer) -> Tensor:
        return x + sublayer(self.norms[name](x)) if self.norm_first else self.norms[name](x + sublayer(x))


class Port(nn.Module):
    """The whole network: ids of sources (B, S) and of read targets (B, T) -> logits (B, T, V)."""

    def __init__(self, config: dict):
        super().__init__()
        width, layers = config["d_model"], range(config["num_layers"])
        self.embedding = Embedding(config)
        self.encoder = nn.ModuleList([Block(config, ["self_attention"]) for _ in layers])
        self.decoder = nn.ModuleList([Block(config, ["self_attention", "cross_attention"]) for _ in layers])
        closing = (nn.LayerNorm(width, EPSILON) if config["norm_first"] else nn.Identity() for _ in range(2))
        self.encoder_norm, self.decoder_norm = closing

    def forward(self, source: Tensor, read: Tensor) -> Tensor:
        """``read``: the start mark, then the target without its last token. Ids of padding are 0."""
        padding, length = (source != PAD)[:, None, None], read.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool, device=read.device).tril()
        memory, x = self.embedding(source), self.embedding(read)
        for block in self.encoder:
            memory = block(memory, padding)
        memory = self.encoder_norm(memory)
        for block in self.decoder:
            x = block(x, causal, memory, padding)
        return self.embedding.logits(self.decoder_norm(x))

    @classmethod
    def load(cls, folder: str | Path) -> "Port":
        """The network of a folder that ``write`` made, in evaluation mode."""
        port = cls(json.loads((Path(folder) / CONFIG).read_text("utf-8")))
        port.load_state_dict(load_file(Path(folder) / WEIGHTS))
        return port.eval()


def name_of(path: str) -> str:
    """The name in the module of a weight by its path in the network: kernels become weights."""
    *layers, last = path.split("/")
    last = {"kernel": "weight", "gamma": "weight", "beta": "bias"}.get(last, last)
    if last == "output_bias":
        return "embedding.output_bias"
    if layers[0] == "embedding":
        return f"embedding.tables.{last.removesuffix('_embedding')}.weight"
    side, _, number = layers[0].partition("_")
    if number == "norm":
        return f"{layers[0]}.{last}"
    around = "self_attention" if layers[1] == "around_attention" else layers[1].removeprefix("around_")
    part = f"norms.{around}" if layers[-1] == "norm" else ".".join(layers[1:])
    part = part if part.startswith(("norms", "feed")) else f"attentions.{part}"
    return f"{side}.{int(number) - 1}.{part}.{last}"


def parts_of(config, tokenizer, arrays) -> tuple[dict, dict[str, Tensor]]:
    """The config and the tensors of a ``Port``, from weights by path without the network's name."""
    features = tokenizer.features()
    turned = {path: each.T if path.endswith("kernel") else each for path, each in arrays.items()}
    tensors = {name_of(path): torch.tensor(each).contiguous() for path, each in turned.items()}
    tensors["embedding.features"] = torch.tensor(np.asarray(features, np.int64))
    names = "vocab_size", "d_model", "num_layers", "num_heads", "dff", "norm_first"
    about = {name: getattr(config, name) for name in names}
    about["tables"] = [len(arrays[f"embedding/{part}_embedding"]) for part in PARTS]
    return about | {"ids": len(features), "tokens": list(tokenizer.labels(range(config.vocab_size)))}, tensors


def write(corrector, folder: str | Path) -> None:
    """Write the weights, the tokens' features and the config of a ``Corrector``."""
    from model.stored.folder import read_weights, weights_path

    stored = read_weights(weights_path(corrector.folder)).items()
    arrays = {path.partition("/")[2]: np.asarray(each, np.float32) for path, each in stored}
    about, tensors = parts_of(corrector.config, corrector.tokenizer, arrays)
    about["fingerprint"] = corrector.fingerprint
    Path(folder).mkdir(parents=True, exist_ok=True)
    save_file(tensors, Path(folder) / WEIGHTS)
    (Path(folder) / CONFIG).write_text(json.dumps(about, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    from model import Corrector

    write(Corrector.load(), sys.argv[1])
