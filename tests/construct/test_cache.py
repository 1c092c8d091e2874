"""The cache of answers: committed before handed on, whoever else uses the file, whatever happens."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpact.construct.cache import Cache, cache_key
from interpact.errors import InterPactError

WRITER = """
import asyncio, sys
from interpact.construct.cache import Cache
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
async def main():
    with Cache(path) as cache:
        for i in range(count):
            kept = await cache.put(f"key {i}", name + "x" * 500)
            print(i, kept[0], flush=True)
asyncio.run(main())
"""


def start(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def rows(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
        return dict(database.execute("select key, value from answers").fetchall())


def test_a_value_is_committed_before_it_is_handed_on(tmp_path):
    async def scenario(cache: Cache) -> None:
        assert await cache.get("a") is None
        assert await cache.put("a", "1") == "1"
        assert rows(path) == {"a": "1"}  # seen by another connection at this moment

    path = tmp_path / "new folder" / "answers.sqlite"
    with Cache(path) as cache:
        asyncio.run(scenario(cache))


def test_the_first_value_wins_for_everybody(tmp_path):
    async def scenario(one: Cache, two: Cache) -> list[str | None]:
        return [await one.put("a", "1"), await two.put("a", "2"), await one.get("a")]

    path = tmp_path / "answers.sqlite"
    with Cache(path) as one, Cache(path) as two:
        assert asyncio.run(scenario(one, two)) == ["1", "1", "1"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
PARAMETERS = st.dictionaries(st.text(), JSON, max_size=4)
MESSAGES = st.lists(st.dictionaries(st.text(), st.text(), max_size=2), max_size=3)


@given(st.text(), PARAMETERS, MESSAGES, PARAMETERS)
def test_the_key_knows_every_part_and_no_order_of_names(model, parameters, messages, schema):
    def turned(mapping):
        return dict(reversed(mapping.items()))

    key = cache_key(model, parameters, messages, schema)
    assert cache_key(model, turned(parameters), messages, turned(schema)) == key
    others = [
        (model + "x", parameters, messages, schema),
        (model, {**parameters, "new": 1}, messages, schema),
        (model, parameters, [*messages, {"role": "user"}], schema),
        (model, parameters, messages, {**schema, "new": 1}),
    ]
    assert key not in [cache_key(*other) for other in others]


def test_concurrent_calls_for_a_key_are_one(tmp_path):
    calls = []

    async def make() -> int:
        calls.append(1)
        await asyncio.sleep(0.01)
        return len(calls)

    async def scenario(cache: Cache):
        both = [cache.share("a", make) for _ in range(5)] + [cache.share("b", make)]
        found = await asyncio.gather(*both)
        return found, await cache.share("a", make)

    with Cache(":memory:") as cache:
        found, later = asyncio.run(scenario(cache))
    assert [shared for _, shared in found] == [False, True, True, True, True, False]
    assert later == (3, False)


def test_an_error_reaches_all_who_share_and_is_not_remembered():
    async def fail() -> None:
        await asyncio.sleep(0)
        raise InterPactError("no")

    async def work() -> int:
        return 1

    async def scenario(cache: Cache) -> None:
        sharing = (cache.share("a", fail) for _ in range(3))
        found = await asyncio.gather(*sharing, return_exceptions=True)
        assert [str(error) for error in found] == ["no"] * 3
        assert await cache.share("a", work) == (1, False)

    with Cache(":memory:") as cache:
        asyncio.run(scenario(cache))


def test_a_call_outlives_a_caller_that_is_cancelled():
    async def scenario(cache: Cache) -> None:
        async def make() -> None:
            await asyncio.sleep(0.02)
            await cache.put("a", "1")

        caller = asyncio.create_task(cache.share("a", make))
        await asyncio.sleep(0.01)
        caller.cancel()
        await asyncio.wait([caller])
        assert await cache.get("a") is None
        await asyncio.sleep(0.05)
        assert await cache.get("a") == "1"

    with Cache(":memory:") as cache:
        asyncio.run(scenario(cache))


def test_processes_that_start_together_on_a_new_file_all_work(tmp_path):
    path = tmp_path / "answers.sqlite"
    writers = [start(path, name, 200) for name in "abcd"]
    told = [writer.communicate(timeout=60)[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * 4
    kept = rows(path)
    assert len(kept) == 200
    for words in told:  # everybody was told the value that is in the file
        assert {f"key {i}": first for i, first in zip(words[::2], words[1::2], strict=True)} == {
            key: value[0] for key, value in kept.items()
        }


@pytest.mark.parametrize("lines", [1, 40, 333])
def test_what_was_handed_on_survives_kill_9(tmp_path, lines):
    path = tmp_path / "answers.sqlite"
    writer = start(path, "a", 1_000_000)
    assert writer.stdout is not None
    for _ in range(lines):
        writer.stdout.readline()
    os.kill(writer.pid, signal.SIGKILL)
    told = lines + len(writer.stdout.read().splitlines())
    writer.wait()
    writer.stdout.close()
    assert rows(path).keys() >= {f"key {i}" for i in range(told)}
    with Cache(path) as cache:
        assert asyncio.run(cache.get(f"key {told - 1}"))


def test_the_log_is_brought_into_the_file_along_the_way(tmp_path):
    path = tmp_path / "answers.sqlite"

    async def scenario(cache: Cache) -> None:
        for i in range(1000):
            await cache.put(f"key {i}", "x" * 500)

    with Cache(path) as cache:
        asyncio.run(scenario(cache))
        assert path.stat().st_size > 500_000


def test_the_loop_goes_on_while_another_process_holds_the_file(tmp_path):
    path = tmp_path / "answers.sqlite"

    async def scenario(cache: Cache, other: sqlite3.Connection) -> None:
        other.execute("begin immediate")
        kept = asyncio.create_task(cache.put("a", "1"))
        for _ in range(10):  # each turn takes some milliseconds: nothing else holds up the loop
            began = time.monotonic()
            await asyncio.sleep(0.005)
            assert time.monotonic() - began < 0.15
        assert not kept.done()
        other.execute("rollback")
        assert await kept == "1"

    with Cache(path) as cache, closing(sqlite3.connect(path, isolation_level=None)) as other:
        asyncio.run(scenario(cache, other))


def test_a_file_held_for_too_long_is_an_error_that_says_so(tmp_path):
    path = tmp_path / "answers.sqlite"
    with (
        Cache(path, patience=0.05) as cache,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("begin immediate")
        with pytest.raises(InterPactError, match="another process holds it"):
            asyncio.run(cache.put("a", "1"))
        with pytest.raises(InterPactError, match="another process holds it"):
            Cache(path, patience=0.05).__enter__()
        other.execute("rollback")
        assert asyncio.run(cache.put("a", "2")) == "2"


def garbage(path: Path) -> None:
    path.write_bytes(b"This is no database at all. " * 200)


def another_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table answers (text)")


def damaged(path: Path) -> None:
    async def fill(cache: Cache) -> None:
        for i in range(300):
            await cache.put(f"key {i}", "x" * 500)

    with Cache(path) as cache:
        asyncio.run(fill(cache))
    content = bytearray(path.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    path.write_bytes(content)


@pytest.mark.parametrize("spoil", [garbage, another_database, damaged])
def test_a_file_that_is_no_cache_is_an_error_and_stays_as_it_is(tmp_path, spoil):
    path = tmp_path / "answers.sqlite"
    spoil(path)
    before = path.read_bytes()

    async def use() -> None:
        with Cache(path) as cache:
            await cache.get("key 7")

    with pytest.raises(InterPactError, match=r"answers\.sqlite: .*move it away"):
        asyncio.run(use())
    if spoil is not damaged:
        assert path.read_bytes() == before


@pytest.mark.parametrize("path", ["file/answers.sqlite", "folder"])
def test_a_place_that_cannot_be_written_is_an_error(tmp_path, path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InterPactError, match="name a file in a folder that can be written to"):
        Cache(tmp_path / path).__enter__()


def test_a_full_disk_is_an_error_that_loses_nothing(tmp_path):
    code = """
import asyncio, json, resource, sys
from interpact.construct.cache import Cache
from interpact.errors import InterPactError
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
async def main():
    kept = 0
    with Cache(sys.argv[1]) as cache:
        try:
            while True:
                await cache.put(f"key {kept}", "x" * 5000)
                kept += 1
        except InterPactError as error:
            print(json.dumps([kept, str(error)]))
asyncio.run(main())
"""
    path = tmp_path / "answers.sqlite"
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    kept, message = json.loads(done.stdout)
    assert "make room on the disk" in message and str(path) in message
    assert 0 < kept == len(rows(path))


def test_a_closed_cache_says_so(tmp_path):
    with pytest.raises(InterPactError, match="closed"):
        asyncio.run(Cache(tmp_path / "answers.sqlite").get("a"))
