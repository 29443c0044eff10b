"""``laboratory_of``: a network of yours, ready to be asked by ``model.analysis``."""

from typing import Any

from model.adapters.own_network import OwnNetwork


def laboratory_of(model: Any, tokenizer: Any, **options: Any) -> OwnNetwork:
    """A network that rewrites or translates, asked with something changed: heads off, weights replaced, tokens left out; its
    gradients. What it returns answers as ``Corrector`` does, so that every question of ``model.analysis`` takes it.

    >>> from model.analysis import contrast_of_row, contribution, head_effects
    >>> lab = laboratory_of(marian, tokenizer)  # doctest: +SKIP
    >>> lab.correct("the cat sat").text  # doctest: +SKIP
    >>> contribution(lab, source, target, contrast_of_row(lab, source, target, row=2), "gradient")  # doctest: +SKIP

    Args:
        model: of transformers an encoder-decoder (MarianMT, T5, BART and their like) or a decoder alone (GPT-2, Llama: the source is the
            prompt, the target what is written behind it), or a Keras Transformer such as ``trace_keras``
            takes, with both sides or a decoder alone (its prompt begins with the start mark).
        tokenizer: of transformers its own one; for Keras a ``Vocabulary``.
        options: for Keras ``inputs``, as in ``trace_keras``, and ``longest``, how many tokens it writes at most. A model of transformers
            writes as many as its ``generation_config`` says.

    While a pass runs, functions of the library are replaced; passes wait for each other, and afterwards all is as it was.
    Raises ValueError for a model that is none of these.
    """
    libraries = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    if "transformers" in libraries and not options:
        _check_texts(model, tokenizer)
        from model.adapters.transformers_laboratory import laboratory_of_transformers

        return laboratory_of_transformers(model, tokenizer)
    if "keras" in libraries:
        if not hasattr(tokenizer, "encode_target"):
            raise ValueError(f"the tokenizer should be a Vocabulary, received {type(tokenizer).__name__}")
        from model.adapters.keras_laboratory import laboratory_of_keras

        return laboratory_of_keras(model, tokenizer, **options)
    raise ValueError(f"the model should be of transformers or Keras, received {type(model).__name__}")


def _check_texts(model: Any, tokenizer: Any) -> None:
    """Raises ValueError for a model that reads no text, and for a tokenizer that does not say which id is the end mark."""
    if model.main_input_name != "input_ids":
        reads = "an image" if "pixel" in model.main_input_name else "a sound"
        raise ValueError(f"the model should read a text, but {type(model).__name__} reads {reads}")
    if not hasattr(tokenizer, "eos_token_id"):
        raise ValueError(f"the tokenizer should be the model's own one, received {type(tokenizer).__name__}")
    if tokenizer.eos_token_id is None:
        raise ValueError("the tokenizer should have an end mark: tokenizer.eos_token = …")
