"""A small trace of MarianMT: ``python -m examples.marian_trace tests/marian.npz`` (needs
requirements-examples.txt).

The weights are random, so what the model would write means nothing; it is given a target instead. Encoder and
decoder have other numbers of layers and heads.
"""

import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from examples.test_hugging_face import ENCODER_DECODERS, END, MARKS
from model import AttentionTrace, from_transformers

SOURCE, TARGET = "teh cat sat 손니미 왔는데", "the cat sat 손님이 왔는데"
PIECES = ["▁te", "h", "▁the", "▁ca", "t", "▁sat", "▁손", "니", "미", "님", "이", "▁왔", "는데"]


def tokenizer() -> PreTrainedTokenizerFast:
    """Of pieces of words, as SentencePiece has them."""
    made = Tokenizer(
        models.Unigram([(piece, -1.0) for piece in (*MARKS, *PIECES)], unk_id=MARKS.index("<unk>"))
    )
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", END)])
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )


def marian_trace() -> AttentionTrace:
    torch.manual_seed(0)
    pieces = tokenizer()
    model = ENCODER_DECODERS["marian"](len(pieces))
    for weights in model.parameters():
        weights.data *= 4  # as they are made, every row would look at all tokens alike
    return from_transformers(model, pieces, SOURCE, TARGET)


if __name__ == "__main__":
    marian_trace().save(sys.argv[1])
