"""How fast the case page is, and whether an answer is ever lost or doubled.

    python benchmarks/review.py [--readers 50] [--answers 10000] [--kills 10]

Pages are measured in this process, from request to last byte (medians): on the clock, and as time of
the processor, which other work on the machine does not lengthen. For the storm a server runs in
a process of its own; readers answer at the same time, each change as its own request, and the server
is killed (SIGKILL) again and again. A reader that gets no answer sends the same again. At the end every
acknowledged change must be in the file exactly once.
"""

from __future__ import annotations

import argparse
import hmac
import http.client
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from urllib.parse import urlencode, urlsplit

from interpact.case.case import Case
from interpact.case.files import case_from
from interpact.case.rules import Rule
from interpact.case.states import State
from interpact.corpus.sources.synthetic import write_synthetic
from interpact.corpus.store import Corpus
from interpact.review.audit import sample
from interpact.review.database import FILE, Database
from interpact.review.people import People, Role
from interpact.review.questions import FORMS, REVEALED, Kind
from interpact.review.store import Store

CHANGES = 5  # of a reading: four questions and the reveal


# ---- Pages -----------------------------------------------------------------------------------------


def long_case(aggregation: str, conditions: int, units: int = 200) -> Case:
    """A case of many units under a rule over many conditions."""
    states = {f"c{i}": list(State)[i % 7 % 3] for i in range(conditions)}
    evidence = [
        {
            "id": f"e{i}",
            "conditions": [f"c{i % conditions}"],
            "text": f"Paper {i}, handed in with the application, says what is known of point {i}. "
            * 2,
        }
        for i in range(units)
    ]
    return case_from(
        {
            "id": "long",
            "rule": "The rule of a long case.",
            "query": "Is it granted?",
            "aggregation": aggregation,
            "conditions": {
                c: f"Requirement {c} of the rule is met by the applicant." for c in states
            },
            "evidence": evidence,
            "labels": {"states": states, "decision": Rule.parse(aggregation).decide(states)},
        }
    )


def long_cases() -> dict[str, Case]:
    """The shapes that are measured."""
    half = ", ".join(f"c{i}" for i in range(100))
    rest = " or ".join(f"(c{i} and not c{i + 1})" for i in range(100, 199, 2))
    chain = " and ".join(f"(c{i} or not c{i + 1})" for i in range(199))
    return {
        "all of 200": long_case("all", 200),
        "any of 20, ten units each": long_case("any", 20),
        "40 of 100, and 50 clauses": long_case(f"at least 40 of ({half}) and ({rest})", 200),
        "199 clauses, each condition twice": long_case(chain, 200),
    }


@dataclass
class Times:
    """Times of one kind of request, in milliseconds: on the clock, and of the processor."""

    wall: list[float] = field(default_factory=list[float])
    processor: list[float] = field(default_factory=list[float])


def page_times(rounds: int = 15) -> Iterator[tuple[str, Times, Times]]:
    """For each shape, the times of the page and of a what-if."""
    from starlette.testclient import TestClient

    from interpact.review.web.app import create_app

    cases = long_cases()
    with TestClient(create_app(None, cases.values())) as client:
        client.get("/cases/1")  # templates are compiled once
        for number, (name, case) in enumerate(cases.items(), 1):
            rng = random.Random(number)
            full, part = Times(), Times()
            for _ in range(rounds):
                chosen = rng.sample(range(len(case.conditions)), 2)
                query = "&".join(f"c{n}={rng.choice('snu')}" for n in chosen)
                for times, headers in ((full, {}), (part, {"hx-request": "true"})):
                    began, busy = time.perf_counter(), time.process_time()
                    response = client.get(f"/cases/{number}?{query}", headers=headers)
                    times.processor.append(1000 * (time.process_time() - busy))
                    times.wall.append(1000 * (time.perf_counter() - began))
                    assert response.status_code == 200
            yield name, full, part


# ---- The storm -------------------------------------------------------------------------------------


@dataclass
class Server:
    """`interpact serve` in a process of its own, on one port for all its lives."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None
    kills: int = 0

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [
            sys.executable,
            "-m",
            "interpact",
            "serve",
            str(self.folder),
            "--port",
            str(self.port),
        ]
        self.process = subprocess.Popen(
            command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
        )
        for _ in range(600):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/login")
                connection.getresponse().read()
                connection.close()
                return
            except OSError:
                if self.process.poll() is not None:
                    raise RuntimeError("the server did not start") from None
                time.sleep(0.1)
        raise RuntimeError("the server does not answer")

    def kill(self) -> None:
        """Kill it without a warning."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills += 1

    def stop(self) -> None:
        """End it."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(20)


@dataclass
class Reader:
    """A simulated reviewer, who sends again whatever was not acknowledged."""

    id: int
    token: str
    csrf: str
    port: int
    readings: int
    progress: Counter[str]
    acknowledged: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])
    again: int = 0

    def work(self) -> None:
        """Read so many items."""
        rng = random.Random(self.id)
        connection: http.client.HTTPConnection | None = None

        def post(where: str, fields: dict[str, str]) -> http.client.HTTPResponse:
            nonlocal connection
            body = urlencode({"csrf": self.csrf, **fields})
            headers = {
                "Cookie": f"interpact={self.token}",
                "Content-Type": "application/x-www-form-urlencoded",
                "HX-Request": "true",
            }
            while True:
                try:
                    if connection is None:
                        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                    connection.request("POST", where, body, headers)
                    response = connection.getresponse()
                    response.read()
                    return response
                except (OSError, http.client.HTTPException):
                    if connection is not None:
                        connection.close()
                    connection = None
                    self.again += 1
                    time.sleep(0.05)

        for _ in range(self.readings):
            sent = post("/queues/audit/next", {})
            assert sent.status == 303, sent.status
            where = urlsplit(sent.headers["Location"]).path
            position = int(where.rsplit("/", 1)[1])
            base = 0
            for question in FORMS[Kind.AUDIT].questions:
                changes = [(question.name, rng.choice(question.choices).value)]
                if question.late:
                    changes.insert(0, (REVEALED, "yes"))
                for name, value in changes:
                    fields = {"base": str(base), "question": name, "value": value}
                    answer = post(where, fields)
                    assert answer.status == 200, (answer.status, where, fields)
                    self.acknowledged.append((position, name, value))
                    self.progress["changes"] += 1
                    base += 1
        if connection is not None:
            connection.close()


@dataclass(frozen=True)
class Outcome:
    """What came of a storm."""

    acknowledged: int
    lost: int
    doubled: int
    unasked: int
    again: int
    kills: int
    seconds: float


def storm(folder: Path, readers: int, answers: int, kills: int, cases: int = 130) -> Outcome:
    """Have readers answer while the server is killed; count what is lost and what is doubled."""
    readings = answers // CHANGES // readers
    write_synthetic(folder, cases, seed=1)
    with Database.open(folder / FILE, create=True) as database:
        store, people = Store(database), People(database)
        items = -(-readers * readings // 3) + readers  # enough for everybody at the end, too
        sample(store, Corpus.read(folder), items, seed=1)
        secret = database.fact("secret")
        tokens = {
            (person := people.add(f"reader {n}", Role.REVIEWER)).id: people.open_session(person.id)
            for n in range(readers)
        }
    server = Server(folder, _free_port())
    server.start()
    progress: Counter[str] = Counter()
    team = [
        Reader(
            *(id, token, hmac.new(secret.encode(), token.encode(), "sha256").hexdigest()),
            *(server.port, readings, progress),
        )
        for id, token in tokens.items()
    ]
    began = time.perf_counter()
    total = readers * readings * CHANGES
    try:
        with ThreadPoolExecutor(readers) as pool:
            running = [pool.submit(reader.work) for reader in team]
            watch = threading.Thread(target=_kill, args=(server, progress, total, kills, running))
            watch.start()
            for one in running:
                one.result()
            watch.join()
    finally:
        server.stop()
    seconds = time.perf_counter() - began
    lost = doubled = 0
    kept: Counter[tuple[int, int, str, str]] = Counter()
    with sqlite3.connect(folder / FILE) as sql:
        assert sql.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        for author, position, change in sql.execute(
            "SELECT a.author, i.position, a.change FROM answers a JOIN items i ON i.id = a.item"
        ):
            [(name, value)] = json.loads(change).items()
            kept[author, position, name, value] += 1
        most = sql.execute(
            "SELECT max(n) FROM (SELECT count(*) n FROM claims GROUP BY item)"
        ).fetchone()
        assert most[0] <= 3
    sql.close()
    acknowledged = {(r.id, *change) for r in team for change in r.acknowledged}
    lost = sum(change not in kept for change in acknowledged)
    doubled = sum(n - 1 for n in kept.values())
    unasked = len(kept.keys() - acknowledged)
    again = sum(reader.again for reader in team)
    return Outcome(progress["changes"], lost, doubled, unasked, again, server.kills, seconds)


def _kill(server: Server, progress: Counter[str], total: int, kills: int, running: list) -> None:  # type: ignore[type-arg]
    for n in range(1, kills + 1):
        while progress["changes"] < total * n / (kills + 1):
            if all(one.done() for one in running):
                return
            time.sleep(0.002)
        server.kill()
        server.start()


def _free_port() -> int:
    import socket

    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=10)
    options = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print("| 200 units, rule | page, ms | processor | what-if, ms | processor | slowest |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, page, part in page_times():
        cells = (page.wall, page.processor, part.wall, part.processor)
        told = " | ".join(f"{median(times):.0f}" for times in cells)
        print(f"| {name} | {told} | {max(part.processor):.0f} |")
    with tempfile.TemporaryDirectory() as folder:
        found = storm(Path(folder), options.readers, options.answers, options.kills)
    print(
        f"\n{options.readers} readers, {found.acknowledged:,} answers acknowledged in "
        f"{found.seconds:.0f} s ({found.acknowledged / found.seconds:.0f}/s), "
        f"{found.kills} times kill -9, {found.again:,} requests sent again: "
        f"{found.lost} lost, {found.doubled} doubled, {found.unasked} never acknowledged"
    )


if __name__ == "__main__":
    main()
