"""Mutated case files: whatever is in them, they are judged or refused in plain words, and soon."""

from __future__ import annotations

import copy
import io
import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from interpact.case.case import LabelledCase
from interpact.case.files import case_data, entries, read_case, write_cases
from interpact.errors import InterPactError
from interpact.judging.judge import judge, known_states
from interpact.judging.output import judgment_rows, set_rows, write_csv, write_json_lines
from interpact.judging.page import write_page
from interpact.judging.view import View

VALUES: list[Any] = [
    None, True, False, 0, -1, 10**30, 1.5, "", " ", "\n", "\x00", "\ud800", "\u202e", "é" * 999,
    [], [[]], {}, {"id": "e1"}, ["c1", "c1"], [None], "all", "any", "not", "c1 and (", '"', "yes",
    "satisfied", "maybe", "at least 99 of (c1)", "=1+1", "<script>alert(1)</script>", "{{7*7}}",
    "[bold]x[/bold]", "\x1b[31mred", "a" * 400, "../../etc/passwd", "unknown", "insufficient",
]  # fmt: skip
BYTES = [b"", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b"\t", b'"', b"{", b"}", b"[", b"]",
         b":", b",", b"- ", b"&a ", b"*a", b"!!python/object:os.system ", b"<<: ", b"%", b"---\n",
         b"#", b"|", b">", b"\\u0000", b"\\ud800", b"\xf0\x9f\x92\xa9", b"1e999", b"NaN"]  # fmt: skip


def paths_in(data: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    found = [] if not prefix else [prefix]
    for key, value in items:
        found += paths_in(value, (*prefix, key))
    return found


def mutate_structure(rng: random.Random, data: Any) -> Any:
    data = copy.deepcopy(data)
    for _ in range(rng.randint(1, 3)):
        places = paths_in(data)
        if not places:
            break
        *above, last = rng.choice(places)
        parent = data
        for step in above:
            parent = parent[step]
        choice = rng.randrange(6)
        if choice == 0:
            del parent[last]
        elif choice == 1:
            parent[last] = copy.deepcopy(rng.choice(VALUES))
        elif choice == 2 and isinstance(parent, dict):
            parent[rng.choice(["x", "conditons", "", "id", "c9", "\u2028"])] = parent.pop(last)
        elif choice == 3 and isinstance(parent, list):
            parent.append(copy.deepcopy(parent[last]))
        elif choice == 4:
            for _ in range(rng.choice([3, 70])):
                parent[last] = [parent[last]]
        else:
            *elsewhere, other = rng.choice(places)
            source = data
            for step in elsewhere:
                source = source[step] if isinstance(source, (dict, list)) else None
                if source is None:
                    break
            if isinstance(source, dict) and other in source:
                parent[last] = copy.deepcopy(source[other])
    return data


def mutate_bytes(rng: random.Random, content: bytes) -> bytes:
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(content) + 1)
        choice = rng.randrange(5)
        if choice == 0:
            content = content[:at] + rng.choice(BYTES) + content[at:]
        elif choice == 1:
            content = content[:at] + content[at + rng.randint(1, 40) :]
        elif choice == 2:
            content = content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
        elif choice == 3:
            content = content[:at]
        else:
            content += content[at : at + 200]
    return content


def use(path: Path) -> str:
    """Do all that a user may do with the file; the fate of it, never an unexpected error."""
    fate = "empty"
    for entry in entries(path):
        if entry.case is None:
            assert entry.problems and all(
                str(p).isprintable() or "\n" in str(p) for p in entry.problems
            )
            fate = "refused"
            continue
        fate = "sound"
        again = path.with_name("again.jsonl")
        write_cases(again, [entry.case])
        assert read_case(again) == entry.case
        if not isinstance(entry.case, LabelledCase):
            with pytest.raises(InterPactError, match="needs the state of every condition"):
                judge(entry.case, mode="exact")
            continue
        view = View(entry.case, known_states(entry.case), judge(entry.case))
        out = io.StringIO()
        for rows in (judgment_rows, set_rows):
            write_json_lines([view], rows, out)
            write_csv([view], rows, out)
        write_page([view], out)
        out.getvalue().encode()
    return fate


@pytest.mark.parametrize("kind", ["bytes of yaml", "bytes of json", "structure"])
def test_no_mutated_file_ends_in_a_traceback(examples, tmp_path, kind):
    rng = random.Random(kind)
    originals = [read_case(path) for path in sorted(examples.glob("*.yaml"))]
    fates: Counter[str] = Counter()
    for number in range(1_750):
        original = rng.choice(originals)
        data = case_data(original)
        if kind == "structure":
            mutated = mutate_structure(rng, data)
            if number % 3:
                path = tmp_path / ("case.jsonl" if number % 2 else "case.json")
                path.write_text(json.dumps(mutated))
            else:
                path = tmp_path / "case.yaml"
                try:
                    path.write_text(yaml.safe_dump(mutated, allow_unicode=False))
                except UnicodeEncodeError:
                    continue
        else:
            ending = ".yaml" if kind.endswith("yaml") else ".json"
            path = tmp_path / f"case{ending}"
            write_cases(path, [original])
            path.write_bytes(mutate_bytes(rng, path.read_bytes()))
        started = time.perf_counter()
        fates[use(path)] += 1
        assert time.perf_counter() - started < 5, path.read_bytes()[:500]
    assert fates["refused"] > 300, fates
    assert fates["sound"] > 20, fates
