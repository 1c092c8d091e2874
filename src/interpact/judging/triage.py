"""Which condition to have checked first: by how many decision errors the check is expected to avert.

With the states of a case independent, the likeliest decision is wrong with probability 1 - max P(d).
A check tells the state s of one condition; afterwards it is wrong with probability
1 - sum over s of q(s) max P(d | s). The difference is exact under any rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush, nsmallest

from interpact.case.states import Decision, State
from interpact.judging.engines.protocol import Chances, Engine, StateQuestion
from interpact.judging.propagate import Reading
from interpact.judging.settings import likeliest


@dataclass(frozen=True, slots=True)
class Check:
    """A condition that could be checked, and what speaks for it."""

    reading: int  # place of its case
    condition: str
    averted: float  # expected decision errors
    sharpened: float  # the same for a decision that is drawn by its chances: tells ties apart
    pivotal: float
    uncertain: float  # P(the likeliest state is wrong)


Order = Callable[[Check], tuple[float, ...]]
"""What is checked first has the largest value."""

ORDERS: dict[str, Order] = {
    "errors averted": lambda check: (round(check.averted, 9), check.sharpened),
    "uncertainty": lambda check: (check.uncertain,),
    "criticality": lambda check: (check.pivotal,),
}
AVERTED = ORDERS["errors averted"]


def checks(reading: Reading, number: int = 0) -> list[Check]:
    """The conditions of a case that some unit names, with what a check of each is worth."""
    rule, chances = reading.case.rule_of_decision, reading.chances
    named = {condition for unit in reading.case.evidence for condition in unit.conditions}
    found: list[Check] = []
    for condition in reading.case.conditions:
        if condition not in named or reading.missing:
            continue
        mappings = rule.mapping_chances(chances, condition)
        given = [dict.fromkeys(Decision, 0.0) for _ in State]
        for mapping, chance in mappings.items():
            for of_state, decision in zip(given, mapping, strict=True):
                of_state[decision] += chance
        q = chances[condition]
        now = [sum(p * of[d] for p, of in zip(q, given, strict=True)) for d in Decision]
        right = sum(p * max(of.values()) for p, of in zip(q, given, strict=True))
        drawn = sum(p * sum(x * x for x in of.values()) for p, of in zip(q, given, strict=True))
        found.append(
            Check(
                number,
                condition,
                max(0.0, right - max(now)),
                drawn - sum(x * x for x in now),
                sum(p for mapping, p in mappings.items() if len(set(mapping)) > 1),
                1.0 - max(q),
            )
        )
    return found


def plan(readings: Sequence[Reading], budget: int, order: Order = AVERTED) -> list[Check]:
    """The checks to make first, each valued by itself."""
    every = (check for i, reading in enumerate(readings) for check in checks(reading, i))
    return nsmallest(budget, every, key=lambda check: tuple(-x for x in order(check)))


@dataclass
class Queue:
    """Checks in order, valued anew when a state of their case becomes known."""

    readings: list[Reading]
    order: Order = AVERTED
    done: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])

    def __post_init__(self) -> None:
        self._version = [0] * len(self.readings)
        self._heap = [entry for i in range(len(self.readings)) for entry in self._entries(i)]
        heapify(self._heap)

    def _entries(self, i: int) -> Iterator[tuple[tuple[float, ...], int, str, int, Check]]:
        for check in checks(self.readings[i], i):
            if (i, check.condition) not in self.done:
                key = tuple(-value for value in self.order(check))
                yield key, i, check.condition, self._version[i], check

    def take(self, most: int = 1) -> list[Check]:
        """The next checks, at most one of each case."""
        found: list[Check] = []
        later: list[tuple[tuple[float, ...], int, str, int, Check]] = []
        cases: set[int] = set()
        while self._heap and len(found) < most:
            entry = heappop(self._heap)
            _, i, condition, version, check = entry
            if version != self._version[i] or (i, condition) in self.done:
                continue
            if i in cases:
                later.append(entry)
                continue
            cases.add(i)
            found.append(check)
        for check in found:
            self.done.add((check.reading, check.condition))
        for entry in later:
            heappush(self._heap, entry)
        return found

    def learn(self, check: Check, chances: Chances) -> None:
        """Take in what a check said."""
        i = check.reading
        before = self.readings[i]
        known = {**before.chances, check.condition: chances}
        self.readings[i] = Reading(before.case, known, before.without)
        self._version[i] += 1
        for entry in self._entries(i):
            heappush(self._heap, entry)


@dataclass(frozen=True, slots=True)
class Checked:
    """A check that was made: states and decisions before and after; None without a usable answer."""

    check: Check
    before: Chances
    after: Chances | None
    decision_before: Decision
    decision_after: Decision


def have_checked(
    readings: Sequence[Reading], checker: Engine, budget: int, at_once: int = 16
) -> tuple[list[Checked], list[Reading]]:
    """Spend a budget on a stronger checker, the most valuable checks first, valued anew as it answers."""
    queue = Queue(list(readings))
    found: list[Checked] = []
    while len(found) < budget and (some := queue.take(min(at_once, budget - len(found)))):
        asked = [
            StateQuestion(queue.readings[c.reading].case.text_only(), c.condition) for c in some
        ]
        for check, answer in zip(some, checker.states(asked), strict=True):
            reading = queue.readings[check.reading]
            before, decision = reading.chances[check.condition], decided(reading)
            if answer is not None:
                queue.learn(check, answer)
            after = decided(queue.readings[check.reading])
            found.append(Checked(check, before, answer, decision, after))
    return found, queue.readings


def decided(reading: Reading) -> Decision:
    """The likeliest decision."""
    chances = reading.case.rule_of_decision.decision_chances(reading.chances)
    return max(chances, key=lambda decision: chances[decision])


def row(readings: Sequence[Reading], check: Check, rank: int) -> dict[str, object]:
    """A check as a flat JSON object."""
    reading = readings[check.reading]
    chances = reading.chances[check.condition]
    return {
        "rank": rank,
        "case": reading.case.id,
        "condition": check.condition,
        "evidence": [u.id for u in reading.case.evidence if check.condition in u.conditions],
        "errors_averted": check.averted,
        "pivotal": check.pivotal,
        "state": likeliest(chances),
        "probability": max(chances),
    }
