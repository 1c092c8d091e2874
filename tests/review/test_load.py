"""A small storm: readers at work while the server is killed, and pages of long cases.

`benchmarks/review.py` does the same at full size.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from benchmarks.review import long_cases, storm
from starlette.testclient import TestClient

from interpact.review.web.app import create_app


def test_no_acknowledged_answer_is_lost_or_doubled_by_kill_9(tmp_path: Path):
    found = storm(tmp_path, readers=8, answers=200, kills=2, cases=20)
    assert found.acknowledged == 200 and found.kills == 2
    assert (found.lost, found.doubled, found.unasked) == (0, 0, 0)
    assert found.again > 0


@pytest.mark.parametrize(("part", "most"), [(False, 0.200), (True, 0.050)])
def test_a_long_case_is_shown_in_time(part: bool, most: float):
    """In time of the processor, which other work on the machine does not lengthen."""
    shapes = list(long_cases().values())[:2]  # the benchmark measures entangled rules too
    headers = {"hx-request": "true"} if part else {}
    with TestClient(create_app(None, shapes)) as client:
        for number in range(1, len(shapes) + 1):
            times: list[float] = []
            for n in range(6):
                began = time.process_time()
                response = client.get(f"/cases/{number}?c{n}=s&c{n + 1}=n", headers=headers)
                times.append(time.process_time() - began)
                assert response.text.count('class="head"') == 200
            assert min(times) < most
