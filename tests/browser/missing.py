"""A test whose browser is missing is skipped, or fails on CI."""

import os
from typing import NoReturn

import pytest


def missing(message: str) -> NoReturn:
    """Fails on CI, where nothing may be left out; elsewhere the test is skipped, and says why."""
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)
