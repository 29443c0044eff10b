"""Small networks of PyTorch, untrained, and what their tests give them."""

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, WIDTH, HEADS = 12, 8, 2
SOURCE, READ = torch.tensor([[5, 3, 9, 4, 0]]), torch.tensor([[1, 7, 8]])
KINDS = ("encoder_attention", "decoder_attention", "cross_attention")


class OfTransformer(nn.Module):
    """``nn.Transformer`` between an embedding and a linear layer; it makes its masks itself."""

    def __init__(self):
        super().__init__()
        self.embedding, self.out = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)
        self.transformer = nn.Transformer(WIDTH, HEADS, 2, 3, 16, dropout=0.5, batch_first=True)

    def forward(self, source, read):
        later = nn.Transformer.generate_square_subsequent_mask(read.shape[1])
        hidden = {"src_key_padding_mask": source == 0, "memory_key_padding_mask": source == 0}
        state = self.transformer(self.embedding(source), self.embedding(read), tgt_mask=later, **hidden)
        return self.out(state)


class Fused(nn.Module):
    """A decoder alone with the fused function."""

    def __init__(self):
        super().__init__()
        self.embedding, self.out = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        heads = self.embedding(ids).reshape(1, -1, HEADS, WIDTH // HEADS).transpose(1, 2)
        mixed = functional.scaled_dot_product_attention(heads, heads, heads, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(1, -1, WIDTH))


def seeded(make):
    torch.manual_seed(0)
    return make()
