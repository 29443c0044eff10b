"""Adapters for Keras, PyTorch and Hugging Face networks: traces and interventions.

There is one file for each library.

A library is imported when a network of it is opened, so importing this package takes no time.
"""

from typing import Any

from model.adapters.own_network import OwnNetwork, Vocabulary


def laboratory_of(model: Any, tokenizer: Any, **options: Any) -> "OwnNetwork":
    """Open a network that rewrites or translates to interventions and gradients.

    Interventions are heads off, weights replaced, and tokens left out.

    The result answers as ``Corrector`` does, so that every question of ``model.analysis`` takes it. While a
    pass runs, functions of the library are replaced; passes wait for each other, and afterwards all is as it
    was.

    >>> from model.analysis import Edit, contrast_of_row, contribution
    >>> lab = laboratory_of(marian, tokenizer)  # doctest: +SKIP
    >>> lab.correct("the cat sat").text  # doctest: +SKIP
    >>> contrast = contrast_of_row(lab, source, target, row=2)  # doctest: +SKIP
    >>> contribution(lab, Edit(source, target, contrast), "gradient")  # doctest: +SKIP

    Args:
        model: of transformers an encoder-decoder (MarianMT, T5, BART and their like) or a decoder-only model
            (GPT-2, Llama: the source is the prompt, the target its continuation), or a Keras Transformer such
            as ``trace_keras`` takes, with both sides or decoder-only (its prompt begins with the start mark).
        tokenizer: of transformers the model's own one; for Keras a ``Vocabulary``.
        options: for Keras ``inputs``, as in ``trace_keras``; ``longest``, how many tokens it writes at most;
            and ``attention``, a list of (query, key, value, output) with the four Dense layers of each
            attention, where they have other names than usual. A model of transformers writes as many tokens
            as its ``generation_config`` says.

    Raises:
        ValueError: for a model that is none of these, and for a tokenizer of another kind.
    """
    libraries = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    if "transformers" in libraries and not options:
        from model.adapters.transformers_laboratory import laboratory_of_transformers

        return laboratory_of_transformers(model, tokenizer)
    if "keras" in libraries:
        if not isinstance(tokenizer, Vocabulary):
            raise ValueError(f"the tokenizer should be a Vocabulary, received {type(tokenizer).__name__}")
        from model.adapters.keras_laboratory import laboratory_of_keras

        return laboratory_of_keras(model, tokenizer, **options)
    raise ValueError(f"the model should be of transformers or Keras, received {type(model).__name__}")
