"""Fixtures of several rooms: tiny networks with seeded or planted weights, the shipped one."""

import gc
import os
from importlib.util import find_spec
from shutil import which

import numpy as np
import pytest

from model.text.tokenizer import END_ID
from tests.random_weights import fill_at_random

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# JAX and LibreOffice are no requirements: where one is missing, its tests are not collected, so that
# a skipped test means that something is wrong.
collect_ignore = [] if find_spec("jax") else ["training/run/test_compiled.py"]
if which("soffice") is None:
    collect_ignore.append("model/tables/test_documents_in_libreoffice.py")
if "PYTEST_XDIST_WORKER" in os.environ:  # several processes share the cores already
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")

# 씂, 깄 and 겍 are left out on purpose: they are read through their jamo.
WRITABLE = " .,!?ㅋㅠ전오래쓸수있는게필요해요손님이왔방없으면어떡가나다라마바"
TINY_CHARACTERS = sorted({*"0123456789abcok", *WRITABLE})
SEED, END_BIAS = 2, 4.0


# The parts of tests/browser that take longest, and why the tests of each stay together.
LONGEST = (
    ("answer_views", "lesson_plans", "lecture", "pages_for_everyone"),  # the attribution of one sentence
    ("site_answers", "site_extension", "site_firefox", "site_page", "site_views"),  # the built site
)


def part_of(nodeid: str) -> int:
    """Which of LONGEST a test belongs to; their number for any other."""
    file = nodeid.partition("::")[0].removeprefix("tests/browser/test_").removesuffix(".py")
    return next((place for place, files in enumerate(LONGEST) if file in files), len(LONGEST))


def pytest_collection_modifyitems(items):
    """The longest first, so that the processes of ``pytest -n 2`` end at the same time."""
    items.sort(key=lambda item: part_of(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """In several processes (``pytest -n 2``) the tests of a file stay together and make its fixtures once; so
    do those of each of LONGEST. Tests that need a browser take longest, so they begin first, in each process
    with its own server: all in one, they would go on alone for minutes after the others have ended.
    """
    # `--dist loadgroup` cannot say this: xdist 3.8 writes the group into item._nodeid, which pytest 9.2 does
    # not read.
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            part = part_of(nodeid)
            return str(part) if part < len(LONGEST) else super()._split_scope(nodeid)

    return Scheduling(config, log)


@pytest.fixture(autouse=True, scope="module")
def little_garbage_to_look_for():
    """Keep the objects of earlier test files out of garbage collections.

    Streamlit collects after each run of a script, Keras with each new network. TensorFlow alone is half a
    million objects, and this saves a seventh of the time of tests/model and tests/ui.
    """
    gc.freeze()


@pytest.fixture(scope="session")
def tiny_tokenizer():
    from model.text.tokenizer import Tokenizer

    return Tokenizer(TINY_CHARACTERS)


@pytest.fixture(scope="session")
def tiny_network(tiny_tokenizer):
    """A built Transformer with 2 layers, 2 heads, d_model 16, dff 32, and float32 weights of one seed."""
    from model.network.networks import Transformer
    from model.stored.config import TransformerConfig

    config = TransformerConfig(
        vocab_size=tiny_tokenizer.vocab_size,
        d_model=16,
        num_layers=2,
        num_heads=2,
        dff=32,
        dropout_rate=0.0,
        norm_first=True,
        max_length=40,
    )
    network = Transformer(config, tiny_tokenizer.features())
    network.build()
    fill_with_noise(network, tiny_tokenizer, SEED, END_BIAS)
    return network


def fill_with_noise(network, tokenizer, seed: int, end_bias: float) -> None:
    """Weights with which an untrained network writes a few Hangul characters and then ends."""
    rng = np.random.default_rng(seed)
    fill_at_random(network, rng)
    # The tied output resembles the input: of an even norm the start mark would follow the start mark.
    network.decoder_norm.gamma.assign(rng.normal(0, 1, network.config.d_model).astype(np.float32))
    bias = np.full(tokenizer.vocab_size, -100, np.float32)
    bias[tokenizer.encode_target(WRITABLE)] = 0
    bias[END_ID] = end_bias
    network.embedding.output_bias.assign(bias)


@pytest.fixture(scope="session")
def planted():
    """The network of ``tests/planted.py``. It answers questions as a worker does, but in this process."""
    from tests.planted import planted_corrector

    return asked_here(planted_corrector())


@pytest.fixture(scope="session")
def planted_writer():
    """The planted network with a feed-forward network that writes."""
    from tests.planted import planted_corrector

    return asked_here(planted_corrector(feed_forward=True))


@pytest.fixture(scope="session")
def planted_circuit():
    """The planted network with a circuit of three parts."""
    from tests.planted import planted_corrector

    return asked_here(planted_corrector(circuit=True))


def asked_here(corrector):
    from engine.question import AnswerCache

    def forget():
        corrector.answers = AnswerCache(entries=64, room=64)

    forget()
    corrector.ask = lambda question, *asked: corrector.answers.get(
        (question.name, *asked), lambda: (question(corrector, *asked), 1)
    )
    corrector.known = lambda question, *asked: corrector.answers.known((question.name, *asked))
    corrector.forget = forget
    return corrector


@pytest.fixture(scope="session")
def tiny_folder(tiny_network, tiny_tokenizer, tmp_path_factory):
    """The model folder of ``tiny_network``, with its graph; tests copy it before they damage it."""
    from model.export.graphs import write_graph
    from model.stored.folder import save_model_folder

    folder = tmp_path_factory.mktemp("models") / "tiny"
    save_model_folder(folder, tiny_network, tiny_tokenizer)
    write_graph(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_corrector(tiny_folder):
    """``Corrector.load`` of the tiny folder: its corrections are nonsense, its shapes and sums are not."""
    from model import Corrector

    return Corrector.load(tiny_folder)


@pytest.fixture(scope="session")
def shipped():
    """The shipped network."""
    from model import Corrector

    return Corrector.load()


@pytest.fixture(scope="session")
def load_tiny(tiny_corrector):
    """``Corrector.load`` of a folder with the weights of ``tiny_folder``.

    The graphs are those of ``tiny_corrector``: making them takes seconds each time.
    """
    from model import Corrector

    def load(folder, **options):
        corrector = Corrector.load(folder, **options)
        corrector._network = tiny_corrector._network
        return corrector

    return load
