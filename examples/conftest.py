"""Fixtures of the examples' tests: ``see_attention`` as a notebook kernel imports it."""

import os

import pytest

from hatch_build import PACKAGE, write_package
from tests.conftest import pytest_xdist_make_scheduler  # noqa: F401  (the tests of a file stay together)


@pytest.fixture(scope="session", autouse=True)
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site-packages")
    write_package(folder / PACKAGE)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
