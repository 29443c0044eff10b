"""Model folder on disk: saving, fingerprint, refused files, snapshots, list of models."""

import json
import random
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from model.network.networks import load_model_folder
from model.stored.folder import (
    ASSETS,
    CONFIG_FILE,
    VOCABULARY_FILE,
    WEIGHTS_FILE,
    ModelEntry,
    ModelFolderError,
    find_model_folder,
    list_models,
    model_name,
    of_weights,
    save_model_folder,
    save_snapshot,
    snapshot_steps,
    write_atomically,
)

NAME = "transformer/embedding/token_embedding"


@pytest.fixture
def folder(tiny_folder, tmp_path):
    """Copy of the tiny model folder, which a test may damage."""
    return shutil.copytree(tiny_folder, tmp_path / "copy")


def read_weights(folder) -> dict[str, np.ndarray]:
    with np.load(folder / WEIGHTS_FILE) as archive:
        return dict(archive)


def replace_embedding(folder, array: np.ndarray):
    np.savez(folder / WEIGHTS_FILE, **{**read_weights(folder), NAME: array})


def refuses(folder, message: str):
    with pytest.raises(ModelFolderError, match=message):
        load_model_folder(folder)


class FakeNetwork:
    """Has the weights of the tiny network and builds in no time."""

    def __init__(self, shapes):
        self.weights = [FakeVariable(path, shape) for path, shape in shapes.items()]

    def build(self):
        pass


class FakeVariable:
    def __init__(self, path, shape):
        self.path, self.shape, self.value = path, shape, None

    def assign(self, value):
        self.value = value


@pytest.fixture
def fake_network(monkeypatch, tiny_folder):
    shapes = {name: array.shape for name, array in read_weights(tiny_folder).items()}
    monkeypatch.setattr("model.network.networks.Transformer", lambda *_: FakeNetwork(shapes))


def test_saving_leaves_three_files_and_replaces_them(tiny_network, tiny_tokenizer, tmp_path, tiny_folder):
    for _ in range(2):
        save_model_folder(tmp_path / "deep" / "model", tiny_network, tiny_tokenizer)
    names = sorted(path.name for path in (tmp_path / "deep" / "model").iterdir())
    assert names == sorted([CONFIG_FILE, VOCABULARY_FILE, WEIGHTS_FILE])


@pytest.mark.usefixtures("fake_network")
def test_the_fingerprint_follows_the_content(tiny_folder, folder):
    first = load_model_folder(tiny_folder)[2]
    assert load_model_folder(folder)[2] == first
    replace_embedding(folder, read_weights(folder)[NAME] * np.float16(1.01))
    assert of_weights(load_model_folder(folder)[2]) != of_weights(first)


def test_a_file_is_replaced_whole_and_keeps_its_permissions_and_its_links(tmp_path):
    file, link = tmp_path / "글.md", tmp_path / "link.md"
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to(file)

    def broken(opened):
        opened.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(link, broken)
    assert file.read_bytes() == b"old" and {*tmp_path.iterdir()} == {file, link}
    write_atomically(link, lambda opened: opened.write(b"new"))
    assert file.read_bytes() == b"new" and link.is_symlink() and {*tmp_path.iterdir()} == {file, link}
    assert file.stat().st_mode & 0o777 == 0o640
    write_atomically(Path("/dev/null"), lambda opened: opened.write(b"new"))
    assert Path("/dev/null").is_char_device()


def test_a_missing_folder_and_a_missing_file(folder, tmp_path):
    refuses(tmp_path / "nowhere", "nowhere.*cannot be read: No such file")
    (folder / WEIGHTS_FILE).unlink()
    refuses(folder, f"{WEIGHTS_FILE} cannot be read")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a model's config"),
        ('{"architecture": "transformer", "d_mod', "is not a model's config"),
        ("[1, 2]", "is not a model's config"),
        ("null", "is not a model's config"),
        ('{"d_model": 16}', "architecture"),
        ('{"architecture": "oracle"}', r"'oracle' is none of \('transformer', 'seq2seq'\)"),
        ('{"architecture": ["transformer"]}', "is not a model's config"),
        ('{"architecture": "seq2seq", "vocab_size": 70, "d_model": 15}', "even, received 15"),
        ('{"architecture": "transformer", "vocab_size": 70, "d_model": 15, "num_heads": 2}', "15 and 2"),
        ('{"architecture": "transformer", "vocab_size": 70, "experts": 2}', "experts"),
        ("\x00\xff", "is not a model's config"),
    ],
)
def test_a_config_that_is_none(folder, text, message):
    (folder / CONFIG_FILE).write_bytes(text.encode("latin-1"))
    refuses(folder, message)


def test_a_vocabulary_that_is_none(folder):
    path = folder / VOCABULARY_FILE
    whole = path.read_bytes()
    path.write_bytes(whole + "AC00 가\n".encode())  # a second 가
    refuses(folder, "is not a vocabulary: .*'가'")
    path.write_bytes(b"this is prose\n")
    refuses(folder, "is not a vocabulary")
    path.write_bytes(b"\xff\xfe")
    refuses(folder, "is not a vocabulary")
    path.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
    refuses(folder, "the vocabulary has [0-9]+ entries, the config says [0-9]+")


@pytest.mark.usefixtures("fake_network")
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_truncated_weights(folder, share):
    path = folder / WEIGHTS_FILE
    raw = path.read_bytes()
    path.write_bytes(raw[: int(len(raw) * share)])
    refuses(folder, "is damaged or not a weights file")


@pytest.mark.usefixtures("fake_network")
def test_a_wrong_byte_is_refused_or_does_no_harm(folder):
    path = folder / WEIGHTS_FILE
    whole, expected = path.read_bytes(), read_weights(folder)
    rng = random.Random(0)
    refused = 0
    for _ in range(400):
        raw = bytearray(whole)
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        path.write_bytes(raw)
        try:
            network, _, _ = load_model_folder(folder)
        except ModelFolderError:
            refused += 1
        else:
            for variable in network.weights:
                np.testing.assert_array_equal(variable.value, expected[variable.path])
    assert refused > 200


@pytest.mark.usefixtures("fake_network")
def test_one_name_too_many_and_one_too_few(folder):
    weights = read_weights(folder)
    np.savez(folder / WEIGHTS_FILE, extra=np.zeros(1, np.float16), **weights)
    refuses(folder, "1 names differ, first 'extra'")
    del weights[NAME]
    np.savez(folder / WEIGHTS_FILE, **weights)
    refuses(folder, f"1 names differ, first '{NAME}'")


@pytest.mark.usefixtures("fake_network")
def test_arrays_that_are_no_weights(folder):
    right = read_weights(folder)[NAME]
    not_a_number = right.copy()
    not_a_number[1, 1] = np.nan
    for array in (right.T, right[:-1], not_a_number, right * np.float16(np.inf), right.astype(np.int32)):
        replace_embedding(folder, array)
        refuses(folder, f"{NAME} should be finite floats")


@pytest.mark.usefixtures("fake_network")
def test_pickled_objects_are_never_loaded(folder):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("code from a weights file was run",))

    replace_embedding(folder, np.array([Bomb()], dtype=object))
    refuses(folder, "is damaged or not a weights file")


@pytest.mark.usefixtures("fake_network")
def test_a_text_in_place_of_an_array(folder):
    path = folder / WEIGHTS_FILE
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    del members[f"{NAME}.npy"]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**members, NAME: b"text"}.items():
            archive.writestr(name, content)
    refuses(folder, "is damaged or not a weights file")


@pytest.mark.usefixtures("fake_network")
def test_snapshots_lie_beside_the_weights_and_are_loaded_by_step(folder):
    assert snapshot_steps(folder) == ()
    own = load_model_folder(folder)
    for step in (0, 1200, 50):
        save_snapshot(folder, FilledNetwork(folder, step / 100), step)
    assert snapshot_steps(folder) == (0, 50, 1200)
    fingerprints = {own[2]}
    for step in snapshot_steps(folder):
        network, _, fingerprint = load_model_folder(folder, step)
        assert {float(v.value.max()) for v in network.weights} == {step / 100}
        fingerprints.add(fingerprint)
    assert len(fingerprints) == 4
    assert load_model_folder(folder)[2] == own[2]


class FilledNetwork:
    """The weights of a folder's network, all of them one number."""

    def __init__(self, folder, number: float):
        self.weights = [FakeVariable(name, array.shape) for name, array in read_weights(folder).items()]
        for variable in self.weights:
            variable.assign(np.full(variable.shape, number, np.float32))


@pytest.mark.usefixtures("fake_network")
def test_a_missing_snapshot_names_those_there_are(folder):
    with pytest.raises(ModelFolderError, match=r"of the steps \[\], not of 7"):
        load_model_folder(folder, 7)
    for step in (0, 300):
        save_snapshot(folder, FilledNetwork(folder, 1.0), step)
    with pytest.raises(ModelFolderError, match=r"of the steps \[0, 300\], not of 7"):
        load_model_folder(folder, snapshot=7)
    next(folder.glob("snapshots/*300.npz")).write_bytes(b"hello")
    with pytest.raises(ModelFolderError, match="is damaged or not a weights file"):
        load_model_folder(folder, 300)


def test_a_model_is_found_by_name_by_path_and_in_the_run_that_trained_it(folder, tmp_path):
    assert find_model_folder("transformer") == ASSETS / "transformer"
    assert find_model_folder(folder) == find_model_folder(str(folder)) == folder
    run = tmp_path / "mine"
    shutil.copytree(folder, run / "model")
    assert find_model_folder(run) == run / "model"
    assert find_model_folder(tmp_path / "nowhere") == tmp_path / "nowhere"  # loading it names the problem
    assert model_name(folder) == "copy"
    assert model_name(run / "model") == "mine"
    assert model_name(ASSETS / "transformer") == "transformer"


@pytest.fixture
def root(folder, tmp_path):
    """One good model, one run, and one of each thing that can be wrong."""
    root = tmp_path / "root"
    for name in ("good", "run/model", "no weights", "no vocabulary", "odd", "foreign", "short"):
        shutil.copytree(folder, root / name)
    (root / "no weights" / WEIGHTS_FILE).unlink()
    (root / "no vocabulary" / VOCABULARY_FILE).unlink()
    (root / "odd" / CONFIG_FILE).write_text("{")
    config = json.loads((folder / CONFIG_FILE).read_text())
    (root / "foreign" / CONFIG_FILE).write_text(json.dumps({**config, "architecture": "oracle"}))
    (root / "short" / CONFIG_FILE).write_text(json.dumps({**config, "vocab_size": 9}))
    (root / "notes").mkdir()
    (root / "read me.txt").write_text("models")
    return root


def test_models_are_listed_with_what_is_wrong_with_them(root, folder, tmp_path):
    entries = list_models(root, tmp_path / "nowhere")
    names = [entry.name for entry in entries]
    assert names == ["foreign", "good", "no vocabulary", "no weights", "odd", "run", "short"]
    by_name = {entry.name: entry for entry in entries}
    assert by_name["good"] == ModelEntry("good", root / "good", "transformer", None)
    assert by_name["run"] == ModelEntry("run", root / "run" / "model", "transformer", None)
    assert by_name["no weights"].problem == f"{WEIGHTS_FILE} is missing"
    assert by_name["no vocabulary"].problem.startswith(f"{VOCABULARY_FILE} cannot be read")
    assert by_name["odd"].problem.startswith(f"{CONFIG_FILE} is not a model's config")
    assert "'oracle' is none of" in by_name["foreign"].problem
    assert by_name["short"].problem.startswith("the vocabulary has")
    assert by_name["odd"].architecture is by_name["foreign"].architecture is None
    assert by_name["short"].architecture == "transformer"
    assert not any(str(tmp_path) in (entry.problem or "") for entry in entries)
    # Roots keep their order; their names do not count.
    assert [entry.name for entry in list_models(tmp_path, root)] == ["copy", *names]
    assert list_models() == ()
