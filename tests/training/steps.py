"""How training steps run in tests."""

from contextlib import contextmanager


@contextmanager
def eagerly():
    """Without graphs."""
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(False)
