"""Trace files (NPZ): saving and loading; harmful and damaged ones are refused."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from model.trace import strict_npz
from model.trace.strict_npz import TraceError
from model.trace.trace import AttentionTrace
from tests.equality import same
from tests.ui.fake_corrector import attention

SOURCE, TARGET, LAYERS, HEADS = 4, 5, 3, 2


def whole() -> AttentionTrace:
    """Every field filled, with awkward characters in the texts."""
    rng = np.random.default_rng(0)
    return AttentionTrace(
        source_tokens=("가\x00", "나\ud800", "다", "</s>"),
        target_tokens=("a", "b", "'", "\\", "</s>"),
        decoder_input_tokens=("<s>", "a", "b", "'", "\\"),
        encoder_attention=attention(rng, 6, 8, SOURCE, SOURCE),
        decoder_attention=attention(rng, LAYERS, HEADS, TARGET, TARGET, causal=True),
        cross_attention=attention(rng, LAYERS, HEADS, TARGET, SOURCE),
        source_positional_encoding=rng.normal(size=(SOURCE, 6)).astype(np.float32),
        target_positional_encoding=rng.normal(size=(TARGET, 6)).astype(np.float32),
        log_probabilities=np.log(rng.random(TARGET)).astype(np.float32),
        alternatives=(("x", "y"),) * TARGET,
        alternative_probabilities=np.full((TARGET, 2), 0.5, np.float32),
        source_text="가 나다",
        target_text="ab'\\",
        source_spans=((0, 1), (2, 3), (3, 4), (4, 4)),
        target_spans=((0, 1), (1, 2), (2, 3), (3, 4), (4, 4)),
        source_words=((0, 1), (1, 4)),
        target_words=((0, 5),),
        source_padding=(False, False, False, True),
        target_padding=(False,) * 5,
        encoder_masked=np.zeros((6, SOURCE, SOURCE), bool),
        decoder_masked=np.zeros((LAYERS, TARGET, TARGET), bool),
        cross_masked=np.zeros((LAYERS, TARGET, SOURCE), bool),
        sinks=("cross_attention",),
        prefix=2,
        prompt=1,
        windows=(-1, 4, 4, 4, 4, 4),
    )


def encoder_alone() -> AttentionTrace:
    trace = whole()
    return AttentionTrace(source_tokens=trace.source_tokens, encoder_attention=trace.encoder_attention)


def content(**changed) -> bytes:
    """A file of ``encoder_alone`` in which some arrays, or some of the ``words``, are others or are gone
    (None).
    """
    trace = encoder_alone()
    words = {"format": "attention-trace", "version": 1, "source_tokens": list(trace.source_tokens)}
    words |= changed.pop("words", {})
    data = np.frombuffer(json.dumps(words).encode(), np.uint8)
    arrays = {"encoder_attention": trace.encoder_attention, "words": data} | changed
    file = io.BytesIO()
    np.savez_compressed(file, **{name: value for name, value in arrays.items() if value is not None})
    return file.getvalue()


def archive(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return file.getvalue()


def npy(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + data


def load(data: bytes) -> AttentionTrace:
    return AttentionTrace.load(io.BytesIO(data), limited=True)


@pytest.mark.parametrize("make", [whole, encoder_alone])
def test_what_is_saved_is_loaded(tmp_path, make):
    trace, path = make(), tmp_path / "시선.npz"
    trace.save(path)
    assert same(AttentionTrace.load(path), trace)


def test_half_precision_and_another_order_in_memory_are_read():
    weights = np.full((1, 1, SOURCE, SOURCE), 0.25)
    for stored in (weights.astype(np.float16), np.asfortranarray(weights), weights.astype(">f4")):
        found = load(content(encoder_attention=stored)).encoder_attention
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, weights)


UNEVEN = np.full((1, 1, SOURCE, SOURCE), 0.25, np.float32)
UNEVEN[0, 0, 0] = (0.5, 0.5, 0.5, 0.5)
WITH_NAN = np.where(UNEVEN == 0.5, np.nan, UNEVEN)
NEGATIVE = np.full((1, 1, SOURCE, SOURCE), 0.25, np.float32)
NEGATIVE[0, 0, 0] = (1.5, -0.5, 0, 0)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"encoder_attention": UNEVEN},
            "rows that sum to 1, received 2.0, layer 0, head 0, row 0, and so in 1 of 4 rows. Dropout",
        ),
        ({"encoder_attention": WITH_NAN}, "finite and lie in 0..1, received nan, .* or this row may look at"),
        ({"encoder_attention": NEGATIVE}, "0..1, received 1.5, layer 0, head 0, row 0, column 0"),
        ({"encoder_attention": UNEVEN[..., :3]}, r"shape \(L, H, 4, 4\), received \(1, 1, 4, 3\)"),
        ({"encoder_attention": UNEVEN[0]}, r"encoder_attention should have 4 dimensions, .* \(1, 4, 4\)"),
        ({"encoder_attention": UNEVEN[:0]}, r"encoder_attention should have the shape .* received \(0, 1"),
        ({"encoder_attention": UNEVEN.astype(int)}, "attention should be of floats, received dtype int64"),
        ({"encoder_attention": UNEVEN.astype(str)}, "encoder_attention should be of floats"),
        ({"encoder_attention": np.array([None])}, "should be of floats, received dtype object"),
        ({"encoder_attention": None}, "kinds should be at least one of"),
        ({"strange": UNEVEN}, "strange should be a field of a trace"),
        ({"log_probabilities": np.zeros(3)}, r"log_probabilities .* shape \(0,\), received \(3,\)"),
        ({"words": {"version": 2}}, "version should be 1"),
        ({"words": {"format": "model"}}, "format should be 'attention-trace'"),
        ({"words": {"strange": 1}}, "strange should be a field of a trace"),
        ({"words": {"encoder_attention": []}}, "encoder_attention should be a field of a trace"),
        ({"words": {"source_tokens": "abcd"}}, "source_tokens should be a list of texts, received str"),
        (
            {"words": {"source_text": "a", "source_spans": [[0, 1]] * 3}},
            r"source_spans should have the shape \(4,\)",
        ),
        ({"words": {"alternatives": {"a": 1}}}, "alternatives should be a list of lists .* received dict"),
    ],
)
def test_a_file_with_something_wrong_in_it_is_refused_by_its_name(changed, told):
    with pytest.raises(TraceError, match=told):
        load(content(**changed))


WORDS = npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}", b"{}")
HUGE = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000, 1000000, 1000000)}"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "the file should be an .npz archive"),
        (b"not a zip", "the file should be an .npz archive"),
        (content()[:-30], "the file should be an .npz archive"),
        (content().replace(b"encoder", b"encodes"), "encodes_attention should be a field of a trace"),
        (archive({"x/../../y.npy": b""}), "y should be a field of a trace"),
        (archive({"words.npy": WORDS}, zipfile.ZIP_LZMA), "the file should be stored or deflated"),
        (archive({"encoder_attention.npy": b""}), "words should be there"),
        (archive({"words.npy": WORDS, "cross_attention.npy": npy(HUGE)}), "hold the 4,000,0.* received 0"),
        (archive({"words.npy": WORDS, "cross_attention.npy": npy(HUGE, version=b"\x02\x00")}), "version 1.0"),
        (archive({"words.npy": WORDS, "cross_attention.npy": npy("[" * 900)}), "should be an .npz archive"),
        (archive({"words.npy": WORDS, "cross_attention.npy": npy(HUGE + " " * 2000)}), "an .npz archive"),
        (archive({"words.npy": npy(HUGE.replace("<f4", "|u1"), b"")}), "words should have 1 dimensions"),
        (archive({"words.npy": WORDS.replace(b"{}", b"[]")}), "words should be a JSON object, received list"),
        (archive({"words.npy": WORDS.replace(b"{}", b"{]")}), "words should be JSON"),
        (archive({"words.npy": bytes(9 * 2**20)}), "words should have at most 8,388,608 bytes"),
        (
            archive({"words.npy": WORDS, "cross_attention.npy": bytes(300 * 2**20)}),
            "should unpack to at most",
        ),
        (bytes(20 * 2**20 + 1), "the file should have at most 20,971,520 bytes"),
    ],
)
def test_a_file_that_is_no_trace_is_refused(data, told):
    with pytest.raises(TraceError, match=told):
        load(data)


def test_more_packed_bytes_than_the_file_tells_of_are_not_unpacked():
    # A bomb's directory tells of few bytes, and the stream goes on.
    bomb = archive({"words.npy": WORDS + bytes(2**20)})
    directory = bomb.rindex(b"PK\x01\x02")
    told = len(WORDS).to_bytes(4, "little")
    with pytest.raises(TraceError, match="the file should be an .npz archive, .* CRC"):
        load(bomb[: directory + 24] + told + bomb[directory + 28 :])


def test_one_name_twice_is_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("words.npy", WORDS)
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("words.npy", WORDS)
    with pytest.raises(TraceError, match="hold every array once"):
        load(file.getvalue())


def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    path = tmp_path / "trace.npz"
    with pytest.raises(TraceError, match="rows that sum to 1"):
        AttentionTrace(source_tokens=("a",) * SOURCE, encoder_attention=UNEVEN).save(path)
    assert not path.exists()


def test_only_a_server_limits_the_size(tmp_path, monkeypatch):
    path = tmp_path / "trace.npz"
    whole().save(path)
    for limit, told in (("MOST_BYTES", "have at most 100 bytes"), ("MOST_UNPACKED", "unpack to at most 100")):
        with monkeypatch.context() as patched:
            patched.setattr(strict_npz, limit, 100)
            whole().save(path)
            assert AttentionTrace.load(path).source_tokens == whole().source_tokens
            with pytest.raises(TraceError, match=f"the file should {told}.* Save fewer layers or heads"):
                AttentionTrace.load(path, limited=True)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("source_tokens", (1, 2, 3, 4), r"source_tokens\[0\] should be a text, received int 1"),
        ("source_tokens", "abcd", "source_tokens should be a list of texts, received str$"),
        ("source_tokens", np.eye(4), "source_tokens should be a list of texts, received ndarray"),
        ("source_padding", (0, 0, 0, 1), "source_padding should be True where .* source_padding=mask == 0"),
        ("source_padding", (True,), r"source_padding should have the shape \(4,\), received \(1,\)"),
        ("source_tokens", None, "source_tokens should be a list of texts, received NoneType"),
        ("source_text", 5, "source_text should be a text, received int 5"),
        ("source_spans", ((0.0, 1.0),) * 4, r"source_spans\[0\] should be a pair .* received float 0.0"),
        ("source_spans", ((0, True),) * 4, r"source_spans\[0\] should be a pair .* received bool True"),
        ("source_spans", (0, 1, 2, 3), r"source_spans\[0\] should be a pair .* received int 0"),
        ("source_words", ((0, 4, 5),), r"source_words\[0\] should be a pair .* received tuple"),
        ("alternatives", ("xy",) * 5, r"alternatives\[0\] should be a list of texts, received str"),
    ],
)
def test_what_could_not_be_loaded_is_no_trace(field, value, told):
    with pytest.raises(TraceError, match=told) as refused:
        replace(whole(), **{field: value})
    assert refused.value.field.partition("[")[0] == field
