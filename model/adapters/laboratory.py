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
        options: for Keras ``inputs``, as in ``trace_keras``.

    While a pass runs, functions of the library are replaced; passes wait for each other, and afterwards all is as it was.
    Raises ValueError for a model that is none of these.
    """
    libraries = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    if "transformers" in libraries and not options:
        from model.adapters.transformers_laboratory import laboratory_of_transformers

        return laboratory_of_transformers(model, tokenizer)
    if "keras" in libraries:
        from model.adapters.keras_laboratory import laboratory_of_keras

        return laboratory_of_keras(model, tokenizer, **options)
    raise ValueError(f"the model should be of transformers or Keras, received {type(model).__name__}")
