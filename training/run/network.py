"""A network that is ready to be trained: built, with its loss and its optimiser."""

import ctypes
import platform

OPTIMIZERS = ("adam", "muon")
PRECISIONS = ("float32", "bfloat16")


def keep_freed_memory() -> None:
    """Tell glibc to keep the large arrays that a step frees, for the next step.

    Otherwise each step maps and zeroes them anew: that took a quarter of the processor time of a
    step (1.93 s against 1.45 s at d_model 128, 4+4 layers, 128 pairs of 32 tokens). The numbers
    are M_MMAP_MAX and M_TRIM_THRESHOLD of malloc.h; other C libraries are left as they are.
    """
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        libc.mallopt(-4, 0)
        libc.mallopt(-1, 2**31 - 1)


def make_optimizer(name: str):
    """``adam`` with the betas of Vaswani et al. (2017, section 5.3), or ``muon``: orthogonal updates for
    the matrices (Jordan 2024), scaled so that Adam's learning rates fit (Liu et al. 2025), and Adam for
    embeddings and vectors. Both clip the gradient's global norm to 1. Raises ValueError for other names.
    """
    import keras

    if name == "adam":
        return keras.optimizers.Adam(1.0, beta_1=0.9, beta_2=0.98, epsilon=1e-9, global_clipnorm=1.0)
    if name == "muon":
        muon = keras.optimizers.Muon
        if keras.backend.backend() == "jax":
            from training.run.muon import GroupedMuon as muon
        return muon(1.0, adam_beta_1=0.9, adam_beta_2=0.98, epsilon=1e-9, global_clipnorm=1.0)
    raise ValueError(f"optimizer should be one of {OPTIMIZERS}, received {name!r}")


def compile_network(network, optimizer: str, label_smoothing: float, precision: str = "float32"):
    """Give a built network its loss and its optimiser, with the learning rate still at 1.

    In ``bfloat16`` matrices are multiplied in that format, and so are the operations between them that TensorFlow finds safe.
    Weights, their updates and the loss stay in float32 (Kalamkar et al. 2019). A step takes two thirds of the time on a processor
    that multiplies bfloat16 itself (AVX512_BF16, AMX). The choice holds for all graphs that the process makes from then on.
    Under JAX it is part of the compiled step (``compiled.CompiledSteps``).

    Raises ValueError for other names, and for bfloat16 on other backends.
    """
    import keras

    from training.run.loss import MaskedCrossEntropy

    if precision not in PRECISIONS:
        raise ValueError(f"precision should be one of {PRECISIONS}, received {precision!r}")
    if (backend := keras.backend.backend()) == "tensorflow":
        import tensorflow as tf

        tf.config.optimizer.set_experimental_options(
            {"auto_mixed_precision_onednn_bfloat16": precision == "bfloat16"}
        )
    elif precision != "float32" and backend != "jax":
        raise ValueError(f"precision {precision!r} needs TensorFlow or JAX as backend, received {backend!r}")
    # XLA gained nothing here on CPU cores and compiles for seconds per shape; on a GPU it does gain.
    jit = backend == "jax"
    network.compile(make_optimizer(optimizer), MaskedCrossEntropy(label_smoothing), jit_compile=jit)
    network.optimizer.build(network.trainable_variables)
    return network
