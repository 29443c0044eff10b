"""Training and evaluation of correction models: ``python -m training --help``.

``corpus`` reads sentences, ``noise`` makes them wrong, and ``run`` trains on the pairs. ``measure`` says how
well a model corrects, and ``intact`` whether it keeps figures, names and addresses. Pool ``i`` of sentences
is a pure function of (corpus, settings, i), and a checkpoint holds the place in the stream and the
optimiser's moments. So a run that was killed continues on the same numbers.

It runs on TensorFlow, and on a GPU under JAX (``KERAS_BACKEND=jax``; docs/training-on-a-gpu.md).
"""
