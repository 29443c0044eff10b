"""Small MarianMT trace with random weights, written as a file for the tests.

``python -m examples.marian_trace tests/marian.npz`` (needs requirements-examples.txt).

The weights are random, so the model's output would mean nothing; it is given a target instead. Encoder and
decoder have other numbers of layers and heads.
"""

import sys

import torch
from tokenizers import processors

from examples.hugging_face_networks import END, fast, marian, of_pieces
from model import AttentionTrace, from_transformers

SOURCE, TARGET = "teh cat sat 손니미 왔는데", "the cat sat 손님이 왔는데"
PIECES = ["▁te", "h", "▁the", "▁ca", "t", "▁sat", "▁손", "니", "미", "님", "이", "▁왔", "는데"]


def marian_trace() -> AttentionTrace:
    torch.manual_seed(0)
    tokenizer = of_pieces(PIECES)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", END)])
    model = marian(tokenizer.get_vocab_size())
    for weights in model.parameters():
        weights.data *= 4  # as they are made, every row would look at all tokens alike
    return from_transformers(model, fast(tokenizer), SOURCE, TARGET)


if __name__ == "__main__":
    marian_trace().save(sys.argv[1])
