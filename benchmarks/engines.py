"""Engines compared in ``peers.py``: ours, CTranslate2 with our weights, transformers.

Every engine runs in a separate process and imports its library there. Text goes in and comes out, so all pay
for their tokens. All cut a long text where our network has to, unless ``whole`` is set. Seconds
are wall time.
"""

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from model.stored.folder import ASSETS, CONFIG_FILE, DEFAULT_MODEL, VOCABULARY_FILE, load_vocabulary
from model.text.tokenizer import pad, split_sentences

FOLDER = ASSETS / DEFAULT_MODEL
SHAPE: dict[str, Any] = json.loads((FOLDER / CONFIG_FILE).read_text("utf-8"))
LONGEST = 128  # characters our network reads at once


def parts_of(text: str, whole: bool = False) -> list[str]:
    return [text] if whole else [text[start:end] for start, end in split_sentences(text, LONGEST)]


class Ours:
    """``Corrector``: the correction and its confidence, and for single texts every attention map as NumPy."""

    def __init__(self) -> None:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        from model import Corrector

        self.corrector = Corrector.load()

    def warm_up(self) -> None:
        self.corrector.warm_up()

    def correct(self, text: str) -> tuple[float, str]:
        """The seconds until the correction and all traces are there, and the network's text."""
        started = time.perf_counter()
        correction = self.corrector.correct(text)
        maps = [sentence.trace for sentence in correction.sentences]
        seconds = time.perf_counter() - started
        assert all(trace.attention("encoder_attention").size for trace in maps)
        return seconds, correction.with_minimum_confidence(0).text

    def correct_file(self, texts: list[str]) -> tuple[float, list[str]]:
        """The seconds of all ``texts`` together, without traces, and the network's texts."""
        started = time.perf_counter()
        corrections = self.corrector.correct_batch(texts)
        seconds = time.perf_counter() - started
        return seconds, [correction.with_minimum_confidence(0).text for correction in corrections]


class CTranslate:
    """CTranslate2 in float32 with our weights, greedy, without attention."""

    def __init__(self) -> None:
        import ctranslate2

        from benchmarks.ctranslate_model import convert, token_names

        self.tokenizer = load_vocabulary(FOLDER / VOCABULARY_FILE)
        self.names = token_names(self.tokenizer)
        self.ids = {name: i for i, name in enumerate(self.names)}
        with tempfile.TemporaryDirectory() as place:
            convert(FOLDER, Path(place), SHAPE["num_layers"], SHAPE["num_heads"])
            cores = os.cpu_count() or 1
            self.translators = {
                threads: ctranslate2.Translator(
                    place, compute_type="float32", inter_threads=threads[0], intra_threads=threads[1]
                )
                for threads in {(1, cores), (cores, 1)}
            }
        self.for_one, self.for_files = (1, cores), ((1, cores), 0)

    def _translate(self, threads: tuple[int, int], texts: list[str], **options: Any) -> list[str]:
        sources = [[self.names[i] for i in self.tokenizer.encode_source(text)] for text in texts]
        options = {"max_decoding_length": max(map(len, sources)) * 4 // 3 + 16, **options}
        results = self.translators[threads].translate_batch(
            sources, beam_size=1, max_input_length=0, **options
        )
        produced = ([self.ids[name] for name in result.hypotheses[0]] for result in results)
        return [self.tokenizer.decode(ids, text) for ids, text in zip(produced, texts, strict=True)]

    def correct(self, text: str, whole: bool = False) -> tuple[float, str]:
        """The seconds and the text.

        A ``whole`` text may be longer than the weights were trained for: as many tokens are produced as were
        read, of any meaning.
        """
        length = len(text) + 1
        forced = {"min_decoding_length": length, "max_decoding_length": length} if whole else {}
        started = time.perf_counter()
        corrected = self._translate(self.for_one, parts_of(text, whole), **forced)
        return time.perf_counter() - started, " ".join(corrected)

    def correct_file(self, texts: list[str]) -> tuple[float, list[str]]:
        """The seconds of all ``texts`` together, with the settings that ``tune`` chose, and the texts."""
        threads, tokens = self.for_files
        started = time.perf_counter()
        corrected = self._translate(threads, texts, max_batch_size=tokens, batch_type="tokens")
        return time.perf_counter() - started, corrected

    def tune(self, texts: list[str]) -> str:
        """Choose for files the fastest of some settings, by correcting ``texts``; says which."""
        choices = [(threads, tokens) for threads in self.translators for tokens in (1024, 2048, 4096, 8192)]

        def seconds(choice: tuple[tuple[int, int], int]) -> float:
            self.for_files = choice
            return min(self.correct_file(texts)[0] for _ in range(2))

        (inter, intra), tokens = self.for_files = min(choices, key=seconds)
        return f"inter_threads={inter}, intra_threads={intra}, max_batch_size={tokens} tokens"


class Marian:
    """transformers' MarianMT class at our shape: random weights, as many tokens produced as were read,
    greedy.

    Its blocks normalise afterwards, ours before: the same work, but for two closing normalisations.
    """

    def __init__(self, attention: bool):
        self.attention = attention
        self.model = marian(SHAPE, "eager" if attention else "sdpa").eval()

    def correct(self, text: str, whole: bool = False) -> tuple[float, str]:
        """The seconds, and an empty text: random weights know no Korean."""
        import torch

        started = time.perf_counter()
        # Any ids will do, as long as none of them is padding or an end.
        ids = pad([[10 + ord(c) % 2000 for c in part] + [3] for part in parts_of(text, whole)])
        ids = torch.from_numpy(ids).long()
        with torch.inference_mode():
            seen = self.model.generate(
                input_ids=ids,
                attention_mask=(ids != 0).long(),
                min_new_tokens=ids.shape[1],
                max_new_tokens=ids.shape[1],
                num_beams=1,
                do_sample=False,
                use_cache=True,
                output_attentions=self.attention,
                return_dict_in_generate=True,
            )
        seconds = time.perf_counter() - started
        assert seen.sequences.shape[1] == ids.shape[1] + 1  # the start mark comes first
        assert not self.attention or len(seen.decoder_attentions) == ids.shape[1]
        return seconds, ""


def marian(shape: dict[str, Any], attention: str) -> Any:
    """A MarianMTModel of ``shape`` (as in ``config.json``) with random weights, on all cores."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    torch.set_num_threads(os.cpu_count())
    torch.manual_seed(0)
    names = {"layers": "num_layers", "attention_heads": "num_heads", "ffn_dim": "dff"}
    sides = ("encoder", "decoder")
    sizes = {f"{side}_{name}": shape[own] for side in sides for name, own in names.items()}
    config = transformers.MarianConfig(
        vocab_size=shape["vocab_size"],
        d_model=shape["d_model"],
        max_position_embeddings=1024,
        activation_function="relu",
        dropout=0.0,
        scale_embedding=True,
        tie_word_embeddings=True,
        pad_token_id=0,
        decoder_start_token_id=2,
        eos_token_id=3,
        forced_eos_token_id=None,
        **sizes,
    )
    config._attn_implementation = attention
    return transformers.MarianMTModel(config)
