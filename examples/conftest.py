"""Kernels of notebooks import ``see_attention`` as an installed wheel has it."""

import os

import pytest

from hatch_build import PACKAGE, write_package


@pytest.fixture(scope="session", autouse=True)
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site-packages")
    write_package(folder / PACKAGE)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
