"""How well the constructor's endpoint keeps a model server busy, and what `kill -9` costs.

    python benchmarks/construct.py [--requests 2000] [--roots 300] [--kills 10]

The server is a stub in a process of its own: 200 ms for each request, 64 requests at once, further
ones wait their turn. The comparison, in the same run: a sequential loop over the official client
(extrapolated from a few requests), and bare sockets without any library, which is what this machine
can do at best. Then the whole constructor on synthetic roots, journal and all.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interpact.construct.ask import Request
from interpact.construct.cache import Cache, cache_key
from interpact.construct.completion import body, messages
from interpact.construct.config import ConstructConfig, makers
from interpact.construct.endpoint import Endpoint
from interpact.construct.run import construct
from interpact.corpus.sources.synthetic import write_synthetic
from interpact.corpus.store import Corpus

STUB = Path(__file__).parents[1] / "tests" / "construct" / "stub_server.py"
LATENCY, SLOTS = 0.2, 64
# A few more than the server works on: the next request is at its door when a slot falls free.
AHEAD = SLOTS + SLOTS // 4
SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


def request(number: int) -> Request:
    text = f"Unit {number}. " + "The tenant shall keep the garden in order. " * 12
    return Request("edit", "Edit the evidence. " * 20, text, "edit", SCHEMA)


@contextlib.contextmanager
def serving(*options: str) -> Iterator[str]:
    """The base URL of a stub in a process of its own."""
    command = [sys.executable, str(STUB), "--latency", str(LATENCY), *options]
    stub = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert stub.stdout is not None
    try:
        yield stub.stdout.readline().strip()
    finally:
        stub.kill()
        stub.wait()


def counts(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{url}/counts") as response:
        return json.load(response)


# ---- Throughput --------------------------------------------------------------------------------


async def by_endpoint(url: str, path: Path, slots: int, number: int) -> float:
    """Requests a second, from the first request to the last answer."""
    with Cache(path) as cache:
        async with Endpoint("stub", cache, base_url=url, slots=slots) as ask:
            numbers = iter(range(number))

            async def worker() -> None:  # as the constructor does it
                for i in numbers:
                    assert (await ask(request(i))).data

            began = time.perf_counter()
            await asyncio.gather(*(worker() for _ in range(2 * slots)))
            return number / (time.perf_counter() - began)


async def by_sockets(url: str, number: int) -> float:
    host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
    numbers = iter(range(number))

    async def worker() -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        for i in numbers:
            sent = json.dumps({"model": "stub", **body(request(i), plain=False)}).encode()
            head = f"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {len(sent)}\r\n\r\n"
            writer.write(head.encode() + sent)
            answer = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(answer.split(b"content-length:")[1].split(b"\r")[0])
            json.loads(await reader.readexactly(length))
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(SLOTS)))
    return number / (time.perf_counter() - began)


def one_by_one(url: str, number: int) -> float:
    import openai

    client = openai.OpenAI(base_url=url, api_key="none")
    began = time.perf_counter()
    for i in range(number):
        sent: Any = body(request(i), plain=False)
        answer = client.chat.completions.create(model="stub", **sent)
        json.loads(answer.choices[0].message.content or "")
    return number / (time.perf_counter() - began)


def throughput(folder: Path, number: int, tries: int) -> None:
    ideal = SLOTS / LATENCY
    print(
        f"{number:,} requests, server of {LATENCY * 1e3:.0f} ms and {SLOTS} slots: ideal {ideal:.0f}/s"
    )
    best: dict[str, float] = {}

    def tell(name: str, rate: float) -> None:
        best[name] = max(rate, best.get(name, 0))
        print(f"  {name:<58} {rate:8.1f}/s {rate / ideal:7.1%}")

    with serving("--slots", str(SLOTS)) as url:
        few = 15
        rate = one_by_one(url, few)
        tell(f"sequential loop, official client ({few} requests)", rate)
        print(f"  {'':<58} {number / rate:8.0f} s for all {number:,} (extrapolated)")
        for attempt in range(tries):  # other work on this machine can only make one slower
            tell("bare sockets, 64 in flight", asyncio.run(by_sockets(url, number)))
            for slots in (SLOTS, AHEAD):
                path = folder / f"{slots}-{attempt}.sqlite"
                tell(
                    f"Endpoint, {slots} in flight",
                    asyncio.run(by_endpoint(url, path, slots, number)),
                )
        again = asyncio.run(by_endpoint(url, folder / f"{SLOTS}-0.sqlite", SLOTS, number))
        print(f"  {'the same once more, out of the cache':<58} {again:8.0f}/s")
        # Bare sockets leave no counts apart: every prompt came once from each of the runs above.
        asked = counts(url)["requests"]
        assert set(asked.values()) <= {3 * tries, 3 * tries + 1}, "the cache was not used"
    reached = best[f"Endpoint, {AHEAD} in flight"] / ideal
    ratio = best[f"Endpoint, {AHEAD} in flight"] / rate
    print(f"  best: {reached:.1%} of the ideal, {ratio:.0f} x the sequential loop")
    assert reached >= 0.95, "less than 95 % of the ideal throughput"


async def by_constructor(url: str, folder: Path, roots: int) -> tuple[int, float, float]:
    """Requests, seconds from the first to the last, and seconds of CPU of the whole constructor."""
    write_synthetic(folder, roots, seed=1)
    for name in ("pairs.jsonl", "criticality.jsonl"):
        (folder / name).unlink()
    config = ConstructConfig(model="stub", base_url=url, slots=AHEAD)
    with Cache(folder / "answers.sqlite") as cache:
        async with Endpoint("stub", cache, base_url=url, slots=AHEAD) as ask:
            made = makers(config, Corpus.read(folder), ask)
            began, cpu = time.perf_counter(), time.process_time()
            await construct(folder, made, limit=roots, at_once=3 * AHEAD)
            took = time.perf_counter() - began
            return ask.usage.asked, took, time.process_time() - cpu


def whole(folder: Path, roots: int, tries: int) -> None:
    """Edits, checks, two readings and a third: as an end-to-end run, with its start and its end."""
    ideal = SLOTS / LATENCY
    print(f"the whole constructor on {roots:,} roots, {AHEAD} in flight: ideal {ideal:.0f}/s")
    for attempt in range(tries):
        with serving("--slots", str(SLOTS)) as url:
            corpus = folder / f"corpus-{attempt}"
            asked, took, cpu = asyncio.run(by_constructor(url, corpus, roots))
        rate = asked / took
        name = f"{asked:,} requests, {cpu:.1f} s of CPU"
        print(f"  {name:<58} {rate:8.1f}/s {rate / ideal:7.1%}")


# ---- kill -9 -----------------------------------------------------------------------------------


async def work(url: str, path: str, number: int) -> None:
    """What the killed process does: ask everything, and tell each answer it was handed."""
    with Cache(path) as cache:
        async with Endpoint("stub", cache, base_url=url, slots=SLOTS) as ask:

            async def one(i: int) -> None:
                answer = await ask(request(i))
                assert answer.data is not None
                os.write(1, f"{i} {int(answer.cached)} {answer.data['text']}\n".encode())

            await asyncio.gather(*map(one, range(number)))


def kills(folder: Path, number: int, times: int, seed: int) -> None:
    dice = random.Random(seed)
    path = folder / "killed.sqlite"
    prompts = {
        cache_key("stub", {}, messages(request(i)), SCHEMA): request(i).user for i in range(number)
    }
    handed: dict[int, str] = {}
    settled: dict[str, int] = {}
    print(f"{number:,} requests with {times} kill -9, {SLOTS} in flight")
    with serving() as url:
        command = [sys.executable, __file__, "--work", url, str(path), "--requests", str(number)]
        for kill in range(times + 1):
            child = subprocess.Popen(command, stdout=subprocess.PIPE)
            assert child.stdout is not None
            lines: list[bytes] = []
            if kill < times:
                for line in child.stdout:  # until it has new answers, then some moment later
                    lines.append(line)
                    if line.split()[1] == b"0":
                        break
                time.sleep(dice.uniform(0, number / 2600))
                os.kill(child.pid, signal.SIGKILL)
            lines += child.stdout.read().splitlines()
            child.wait()
            for i, _, text in (line.decode().split(maxsplit=2) for line in lines):
                assert handed.setdefault(int(i), text.strip()) == text.strip(), "an answer changed"
            time.sleep(1.5 * LATENCY)  # the stub notices who has gone
            asked = counts(url)
            again = [p for p, times_asked in settled.items() if asked["requests"][p] != times_asked]
            assert not again, f"{len(again)} requests were asked again although the answer was kept"
            with contextlib.closing(sqlite3.connect(path)) as database:
                kept = {prompts[key] for (key,) in database.execute("select key from answers")}
            lost = [i for i in handed if request(i).user not in kept]
            assert not lost, f"{len(lost)} answers that had been handed on are not in the cache"
            settled = {prompt: asked["requests"][prompt] for prompt in kept}
            name = f"kill {kill + 1}" if kill < times else "last run"
            print(f"  {name:<9} {len(kept):5,} kept, {asked['total']:5,} asked in all")
        unanswered = sum(asked["abandoned"].values())
    assert len(handed) == len(kept) == number, "not everything was answered"
    extra = asked["total"] - number
    print(
        "  lost: 0; asked again although the answer was kept: 0 (every kept prompt, after every kill)"
    )
    print(
        f"  on the way when killed, and so asked again: {extra} "
        f"({unanswered} without answer, {extra - unanswered} whose answer was not yet read or kept); "
        f"at most {SLOTS} a kill: {SLOTS * times}"
    )
    assert extra <= SLOTS * times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--roots", type=int, default=300)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--tries", type=int, default=2)
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.pop("OPENAI_API_KEY", None)
    if options.work:
        asyncio.run(work(*options.work, options.requests))
        return
    with tempfile.TemporaryDirectory() as folder:
        throughput(Path(folder), options.requests, options.tries)
        whole(Path(folder), options.roots, options.tries)
        print(f"seed {options.seed}")
        kills(Path(folder), options.requests, options.kills, options.seed)


if __name__ == "__main__":
    main()
