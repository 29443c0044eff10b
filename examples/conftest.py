"""Fixtures of the examples' tests: ``see_attention`` as a notebook kernel imports it."""

import os

import pytest

from hatch_build import PACKAGE, write_package


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """In two processes (``pytest -n 2 examples``) the tests of a file stay together and make its networks
    once.
    """
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False  # files with few tests take longest, so none waits for the end
    return LoadFileScheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site-packages")
    write_package(folder / PACKAGE)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
