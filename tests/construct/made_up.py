"""A small made-up corpus, and a scripted model that edits, assesses and judges."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from interpact.case.case import Evidence, LabelledCase, Labels
from interpact.case.files import write_cases
from interpact.case.rules import Rule
from interpact.case.states import State
from interpact.construct.ask import Answer, Ask, Request, Unkept
from interpact.construct.checks import ModelAssessor
from interpact.construct.editors import ModelEditor
from interpact.construct.judges import Panel
from interpact.construct.run import Makers
from interpact.corpus.pairs import LabelledRoot, RootRecord, Split
from interpact.corpus.store import Corpus, write_records
from interpact.errors import InterPactError

S, N, U = State


def case(
    name: str,
    texts: list[str],
    states: list[State],
    aggregation: str = "all",
    source: str | None = None,
    conditions: list[str] | None = None,
) -> LabelledCase:
    """A case with one unit for each condition."""
    ids = [f"c{i}" for i in range(1, len(states) + 1)]
    said = conditions or [f"Requirement {i} of {name} is met." for i in range(1, len(ids) + 1)]
    draft = {
        "id": name,
        "source": source,
        "document": f"file-{name}",
        "rule": f"The desk approves {name} under its own rule.",
        "query": f"Is {name} approved?",
        "aggregation": aggregation,
        "conditions": dict(zip(ids, said, strict=True)),
        "evidence": tuple(
            Evidence(id=f"e{i}", conditions=(ids[i - 1],), text=text)
            for i, text in enumerate(texts, 1)
        ),
    }
    by_id = dict(zip(ids, states, strict=True))
    decision = Rule.parse(aggregation).decide(by_id)
    return LabelledCase(**draft, labels=Labels(states=by_id, decision=decision))


CASES = [
    case(
        "ferry",
        ["The ferry licence is valid.", "Life vests are carried for forty passengers."],
        [S, S],
        source="contractnli",
    ),
    case(
        "bakery",
        ["Does the oven have a flue? Yes.", "I bake at night."],
        [S, N],
        "any",
        source="sharc",
    ),
    case("kiosk", ["The kiosk shall close at nine.", "Awnings may be striped."], [N, S]),
    case(
        "mill", ["The mill wheel was repaired in spring.", "Flour sacks are weighed twice."], [S, U]
    ),
]


def write_corpus(
    folder: Path, cases: list[LabelledCase] = CASES, splits: Mapping[str, Split] | None = None
) -> Path:
    """A corpus folder whose roots are the first units of all cases, and every unit of the first."""
    write_cases(folder / "cases.jsonl", cases)
    in_turn = [Split.TRAIN, Split.TRAIN, Split.DEV, Split.TEST]
    splits = splits or {c.id: in_turn[i % 4] for i, c in enumerate(cases)}
    roots = [
        RootRecord(
            id=f"{c.id}/{unit.id}",
            case=c.id,
            evidence=unit.id,
            condition=unit.conditions[0],
            split=splits[c.id],
        )
        for c in cases
        for unit in c.evidence
        if unit.id == "e1" or c is cases[0]
    ]
    write_records(folder / "roots.jsonl", roots)
    return folder


def roots(folder: Path, cases: list[LabelledCase] = CASES) -> dict[str, LabelledRoot]:
    """The labelled roots of such a corpus."""
    return Corpus.read(write_corpus(folder, cases)).roots


def number(text: str) -> int:
    """A number that is the same for the same text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def varied(request: Request) -> dict[str, Any]:
    """Answers of all kinds: edits and abstentions, passes and failures, agreement and none."""
    n = number(request.system + request.user)
    properties = request.schema["properties"]
    if request.purpose == "edit":
        abstains = n % 6 == 0
        text = "" if abstains else f"The keeper wrote down {n} and went home."
        return {"abstain": abstains, "reason": "made up", "text": text}
    if request.purpose == "assess":
        verdicts = ["pass"] * 8 + ["unsure", "fail"]
        return {
            name: verdicts[(n // (i + 1)) % 10] if "enum" in part else "made up"
            for i, (name, part) in enumerate(properties.items())
        }
    # The direct reader and the one who compares agree two times out of three.
    shared = number(request.user.split("Evidence:")[-1].split("Second version:")[-1])
    state = list(State)[shared % 3 if n % 3 else n % 7 % 3]
    return {name: state if "enum" in part else "made up" for name, part in properties.items()}


def agreeable(request: Request) -> dict[str, Any]:
    """Every edit made and passed, every state satisfied."""
    if request.purpose == "edit":
        text = f"The keeper wrote down {number(request.user)}."
        return {"abstain": False, "reason": "made up", "text": text}
    answers = {"fidelity": "pass", "non_target": "pass", "naturalness": "pass"}
    return {
        name: answers.get(name, "satisfied") if "enum" in part else "made up"
        for name, part in request.schema["properties"].items()
    }


class Script:
    """An `Ask` that answers by a function and keeps what it answered, as the cache does."""

    def __init__(
        self, answer: Callable[[Request], dict[str, Any] | Answer], stop_at: int | None = None
    ) -> None:
        self.answer, self.stop_at = answer, stop_at
        self.kept: dict[tuple[str, str], Answer] = {}
        self.answered: Counter[tuple[str, str]] = Counter()
        self.requests: list[Request] = []

    async def __call__(self, request: Request) -> Answer:
        """The answer, sooner or later; from memory if it was given before."""
        self.requests.append(request)
        key = (request.system, request.user)
        if key not in self.kept:
            await asyncio.sleep(number(request.user) % 3 / 2000)
            if self.answered.total() + 1 == self.stop_at:
                raise InterPactError("the plug was pulled")
            self.answered[key] += 1
            answer = self.answer(request)
            self.kept[key] = answer if isinstance(answer, Answer) else Answer(answer)
        return self.kept[key]

    async def from_memory(self, request: Request) -> Answer:
        """As above, but nothing is answered that was not answered before."""
        key = (request.system, request.user)
        if key not in self.kept:
            raise Unkept(request)
        return self.kept[key]

    def of(self, purpose: str) -> list[Request]:
        """The requests of one purpose."""
        return [request for request in self.requests if request.purpose.startswith(purpose)]


def makers(ask: Ask, third: bool = True, name: str = "scripted-model") -> Makers:
    """One scripted model in all roles."""
    return Makers(
        ModelEditor(ask, name), Panel.of_model(ask, name, third), ModelAssessor(ask, name)
    )
