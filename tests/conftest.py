"""Shared settings: hypothesis runs the same examples every time, so a failure can be seen again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "interpact", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("interpact")


@pytest.fixture
def examples() -> Path:
    return Path(__file__).parents[1] / "examples"
