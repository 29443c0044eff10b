"""Every array of a file as NumPy reads it."""

import zipfile

import numpy as np
import pytest

from model.stored.folder import read_npz

ARRAYS = {
    "a/b": np.arange(6, dtype=np.float16).reshape(2, 3),
    "turned": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "scalar": np.array(7, np.uint8),
    "empty": np.zeros((0, 4), np.uint64),
}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_it_reads_what_numpy_wrote(tmp_path, save):
    save(tmp_path / "arrays.npz", **ARRAYS)
    found = read_npz(tmp_path / "arrays.npz")
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array, strict=True)


def test_an_array_that_is_cut_off_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "arrays.npz", "w") as archive:
        np.save(tmp_path / "a.npy", np.zeros(3))
        archive.writestr("a.npy", (tmp_path / "a.npy").read_bytes()[:-8])
    with pytest.raises(ValueError, match="cannot reshape"):
        read_npz(tmp_path / "arrays.npz")
