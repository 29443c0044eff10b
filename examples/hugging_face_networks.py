"""Small models of transformers with own tokenizers, for documents and tests of the adapters.

All but those of ``copying`` are untrained.
"""

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import transformers as hf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from tokenizers.implementations import BertWordPieceTokenizer, ByteLevelBPETokenizer

CORPUS = [
    "the cat sat on the mat",
    "손님이 왔는데 방이 없으면 어떡해요?",
    "a dog and a cat",
    "방이 없어요",
] * 20
PAD, START, END, UNKNOWN = range(4)
MARKS = ["<pad>", "<s>", "</s>", "<unk>"]
MARK_IDS = {
    "pad_token_id": PAD,
    "bos_token_id": START,
    "eos_token_id": END,
    "decoder_start_token_id": PAD,
    "forced_eos_token_id": END,
}
PIECES = [f"▁{word}" for word in "the cat sat on a dog 손님 방 왔는데".split()] + ["▁", "이", "t", "에"]


def trained(kind: str) -> hf.PreTrainedTokenizerFast:
    """A tokenizer of "bytes" (as GPT-2 and BART), "pieces" (as MarianMT and T5), or "words" (as BERT)."""
    if kind == "pieces":
        tokenizer = of_pieces(PIECES)
    else:
        words = partial(BertWordPieceTokenizer, unk_token="<unk>", strip_accents=False, lowercase=False)
        ready = ByteLevelBPETokenizer() if kind == "bytes" else words()
        ready.train_from_iterator(CORPUS, vocab_size=300, special_tokens=MARKS, show_progress=False)
        tokenizer = Tokenizer.from_str(ready.to_str())
    if kind != "bytes":
        ends = [("<s>", START), ("</s>", END)]
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    return fast(tokenizer)


def of_pieces(pieces: list[str]) -> Tokenizer:
    """Pieces of words, as SentencePiece has them."""
    tokenizer = Tokenizer(models.Unigram([(piece, -1.0) for piece in (*MARKS, *pieces)], unk_id=UNKNOWN))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    return tokenizer


def fast(tokenizer: Tokenizer) -> hf.PreTrainedTokenizerFast:
    """The tokenizer as transformers takes it."""
    names = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    return hf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


SIDES: dict[str, float] = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 3}
SIDES |= {"encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "dropout": 0.5, "attention_dropout": 0.5}
SIDES |= {"encoder_attention_heads": 4, "decoder_attention_heads": 2}
NARROW = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
GROUPED = NARROW | {"num_key_value_heads": 2, "max_position_embeddings": 64}
WIDE = NARROW | {"head_dim": 8, "num_key_value_heads": 2}


def built(name: str, size: int, **sizes: Any) -> hf.PreTrainedModel:
    """A model of transformers by the name of its class; ``size``: the number of its tokens."""
    family = getattr(hf, name)
    return family(family.config_class(vocab_size=size, **sizes))


def marian(size: int) -> hf.PreTrainedModel:
    return built("MarianMTModel", size, **SIDES, **MARK_IDS)


def bart(size: int, **more: float) -> hf.PreTrainedModel:
    return built("BartForConditionalGeneration", size, **SIDES | more, **MARK_IDS)


def t5(size: int) -> hf.PreTrainedModel:
    sizes = {"d_model": 16, "d_kv": 4, "d_ff": 32, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 4}
    # transformers 5.23 gives the decoder's cache as many layers as the encoder has.
    return built("T5ForConditionalGeneration", size, use_cache=False, **sizes, **MARK_IDS)


def bert(size: int) -> hf.PreTrainedModel:
    return built("BertModel", size, **NARROW | {"num_hidden_layers": 3})


def bert2bert(size: int) -> hf.PreTrainedModel:
    sides = (hf.BertConfig(vocab_size=size, **NARROW) for _ in range(2))
    model = hf.EncoderDecoderModel(hf.EncoderDecoderConfig.from_encoder_decoder_configs(*sides))
    for config in (model.config, model.generation_config):
        config.decoder_start_token_id, config.pad_token_id = START, PAD
    return model


def gpt2(size: int, **more: float) -> hf.PreTrainedModel:
    return built(
        "GPT2LMHeadModel", size, **{"n_embd": 16, "n_layer": 3, "n_head": 4, "n_positions": 64} | more
    )


def llama(size: int) -> hf.PreTrainedModel:
    return built("LlamaForCausalLM", size, **GROUPED)


def mistral(size: int, sliding_window: int = 4) -> hf.PreTrainedModel:
    return built("MistralForCausalLM", size, **GROUPED, sliding_window=sliding_window)


def gpt_oss(size: int) -> hf.PreTrainedModel:
    """Its softmax has a sink; every other layer sees a window."""
    experts = {"num_local_experts": 2, "num_experts_per_tok": 1, "num_key_value_heads": 1, "head_dim": 8}
    return built("GptOssForCausalLM", size, **NARROW, **experts, sliding_window=4)


def arguments(model: hf.PreTrainedModel, source: list[int], read: list[int]) -> dict[str, Any]:
    """Arguments of the model whose decoder, or which itself if it has no encoder, reads the ids ``read``."""
    given: dict[str, Any] = {"input_ids": torch.tensor([read]), "use_cache": False}
    if model.config.is_encoder_decoder:
        given |= {"input_ids": torch.tensor([source]), "decoder_input_ids": given["input_ids"]}
    return given


ENCODER_DECODERS: dict[str, Callable[[int], hf.PreTrainedModel]] = {"marian": marian, "bart": bart, "t5": t5}


def copying(kind: str, steps: int = 200) -> tuple[hf.PreTrainedModel, hf.PreTrainedTokenizerFast]:
    """A "gpt2" or a "bart" that writes three letters again, trained for some seconds (seed 0).

    The text that it reads ends with "=": "cab=" becomes "cab".
    """
    torch.manual_seed(0)
    tokenizer, rng = trained("bytes"), random.Random(0)
    if kind == "gpt2":
        model = gpt2(len(tokenizer), n_embd=32, n_layer=2, initializer_range=0.15)
    else:
        model = bart(len(tokenizer), d_model=32, decoder_layers=2, decoder_attention_heads=4, init_std=0.15)
    optimizer = torch.optim.Adam(model.eval().parameters(), 4e-3)
    for _ in range(steps):
        texts = ["".join(rng.choices("abcdef", k=3)) for _ in range(48)]
        source = torch.tensor(tokenizer([f"{text}=" for text in texts])["input_ids"])
        target = torch.tensor([[*ids, END] for ids in tokenizer(texts)["input_ids"]])
        read, wanted = source, target
        if kind == "gpt2":  # one sequence, of which the second text is learnt
            read = torch.cat([source, target], dim=1)
            wanted = torch.cat([torch.full_like(source, -100), target], dim=1)
        optimizer.zero_grad()
        loss = model(input_ids=read, labels=wanted).loss
        loss.backward()
        optimizer.step()
        if loss < 0.01:
            break
    return model, tokenizer
