"""Exact chances of decisions and of pivotality, beside 3^n enumeration and ProbLog.

    python benchmarks/rules.py

(a) flat rules of 17, 200 and 2,000 conditions; (b) nested rules of 20 conditions in which each
occurs once; (c) nested rules of 20 conditions over 28 places, so that some occur again. Every answer
is compared with the others' where they finish.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.problog_rules import rule_clauses, solve, state_facts
from tests.strategies import assignments, decide

from interpact.case.expressions import And, AtLeast, Condition, Expression, Not, Or
from interpact.case.rules import Rule

Chances = dict[str, list[float]]


def timed(work: Callable[[], object], least: float = 0.2) -> tuple[float, object]:
    """Median seconds of repeated runs, and the result."""
    times: list[float] = []
    result: object = None
    while not times or (sum(times) < least and len(times) < 50):
        started = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - started)
    return statistics.median(times), result


def random_chances(names: list[str]) -> Chances:
    found: Chances = {}
    for name in names:
        weights = [random.random() + 0.05 for _ in range(3)]
        found[name] = [w / sum(weights) for w in weights]
    return found


def nested(leaves: list[str]) -> Expression:
    """A random nested rule over these leaves, in order."""
    if len(leaves) == 1:
        found: Expression = Condition(leaves[0])
        return Not(found) if random.random() < 0.2 else found
    parts = min(len(leaves), random.choice([2, 2, 3, 4]))
    cuts = sorted(random.sample(range(1, len(leaves)), parts - 1))
    pieces = [leaves[a:b] for a, b in zip([0, *cuts], [*cuts, len(leaves)], strict=True)]
    items = tuple(nested(piece) for piece in pieces)
    kind = random.choice(["and", "or", "least"])
    if kind == "least" and len(items) > 2:
        return AtLeast(random.randint(2, len(items) - 1), items)
    return And(items) if kind == "and" else Or(items)


def with_problog(
    expression: Expression, chances: Chances, target: str
) -> tuple[float, float, float]:
    """The same three numbers by ProbLog: the rule as it is, and for each state of the target."""
    lines = state_facts(chances)
    for world in ("free", "s", "n", "u"):
        for name in chances:
            if name == target and world != "free":
                lines.append(f"at({world},{name},{world}).")
            else:
                lines += [f"at({world},{name},{v}) :- state({name},{v})." for v in "sn"]
        clauses, holds, fails = rule_clauses(
            expression, world, lambda name, state, w=world: f"at({w},{name},{state})"
        )
        lines += [*clauses, f"yes({world}) :- {holds}.", f"no({world}) :- {fails}."]
    lines += [
        f"pivotal :- {what}({a}), \\+{what}({b})."
        for what in ("yes", "no")
        for a, b in permutations("snu", 2)
    ]
    found = solve([*lines, "query(yes(free)).", "query(no(free)).", "query(pivotal)."])
    return found.get("yes(free)", 0.0), found.get("no(free)", 0.0), found.get("pivotal", 0.0)


def by_enumeration(expression: Expression, chances: Chances) -> tuple[float, float]:
    yes = no = 0.0
    for states in assignments(list(chances)):
        weight = 1.0
        for name, state in states.items():
            weight *= chances[name][("satisfied", "not_satisfied", "unknown").index(state)]
        decision = decide(expression, states)
        yes, no = yes + weight * (decision == "yes"), no + weight * (decision == "no")
    return yes, no


def ours(rule: Rule, chances: Chances, target: str) -> tuple[float, float, float]:
    decisions = list(rule.decision_chances(chances).values())
    return decisions[0], decisions[1], rule.pivotal_chances(chances, [target])[target]


def fresh(text: str, chances: Chances, target: str) -> tuple[float, float, float]:
    """From the rule's text on, with nothing kept from an earlier call."""
    from interpact.case import probability, rules

    rules._parsed.cache_clear()
    rules._kept.cache_clear()
    probability._plan.cache_clear()
    return ours(Rule.parse(text), chances, target)


def close(a: tuple[float, ...], b: tuple[float, ...]) -> None:
    assert all(abs(x - y) < 1e-8 for x, y in zip(a, b, strict=True)), (a, b)


def flat() -> None:
    print("(a) flat rules: decision distribution, and P(pivotal) of one and of every condition")
    slow = 0.0
    print(
        f"{'rule':>18} {'n':>6} {'decisions':>11} {'one':>11} {'all n':>11} {'3^n enumeration':>22}"
    )
    first: dict[str, tuple[float, int]] = {}
    for shape in ("all", "any", "at least 3"):
        for n in (8, 17, 200, 2000):
            names = [f"c{i}" for i in range(n)]
            chances = random_chances(names)
            text = shape if shape != "at least 3" else f"at least 3 of ({', '.join(names)})"
            rule = Rule.parse(text)
            decisions, found = timed(lambda r=rule, c=chances: list(r.decision_chances(c).values()))
            one, _ = timed(lambda r=rule, c=chances: r.pivotal_chances(c, ["c0"]))
            every, _ = timed(lambda r=rule, c=chances: r.pivotal_chances(c))
            if n == 8:
                slow, expected = timed(
                    lambda r=rule, c=chances, m=names: by_enumeration(r.over(m), c), 0
                )
                close(tuple(found[:2]), expected)  # type: ignore[index]
                note = f"{slow * 1e3:9.1f} ms ({slow / decisions:,.0f} x)"
            else:
                minutes = slow * 3.0 ** min(n - 8, 9) / 60
                note = f"not run, {minutes:,.0f} min" if n == 17 else "not run, for ever"
            print(
                f"{shape:>18} {n:>6} {decisions * 1e3:8.3f} ms {one * 1e3:8.3f} ms {every * 1e3:8.3f} ms {note:>22}"
            )
            if n == 200:
                first[shape] = (every, n)
            elif n == 2000:
                growth = every / first[shape][0]
                print(f"{'':>18} 10 x the conditions take {growth:.1f} x the time")
                assert growth < 40, "not linear"  # quadratic growth would be 100 x


def trees(title: str, places: int, rounds: int, limit: float) -> None:
    print(f"({title}) nested rules of 20 conditions over {places} places, ProbLog on the same")
    ratios: list[float] = []
    for number in range(rounds):
        names = [f"c{i}" for i in range(20)]
        leaves = names + random.choices(names, k=places - 20)
        random.shuffle(leaves)
        expression = nested(leaves)
        chances, target = random_chances(names), random.choice(names)
        text = str(expression)
        quick, found = timed(lambda t=text, c=chances, x=target: fresh(t, c, x))
        started = time.perf_counter()
        expected = with_problog(expression, chances, target)
        slow = time.perf_counter() - started
        close(found, expected)  # type: ignore[arg-type]
        ratios.append(slow / quick)
        print(
            f"    rule {number + 1}: ours {quick * 1e3:8.3f} ms, ProbLog {slow * 1e3:10.1f} ms, {slow / quick:8,.0f} x"
        )
    print(f"    median ratio {statistics.median(ratios):,.0f} x, smallest {min(ratios):,.0f} x")
    assert statistics.median(ratios) >= limit, f"under {limit} x"


def main() -> None:
    random.seed(11)
    flat()
    trees("b", 20, 7, 100)
    trees("c", 28, 5, 10)
    names = [f"c{i}" for i in range(11)]
    expression, chances = nested(names), random_chances(names)
    quick, found = timed(lambda: fresh(str(expression), chances, "c0"))
    slow, expected = timed(lambda: by_enumeration(expression, chances), 0)
    close(found[:2], expected)  # type: ignore[index, arg-type]
    print(
        f"3^11 enumeration of a nested rule: {slow:.2f} s, ours {quick * 1e3:.3f} ms, {slow / quick:,.0f} x"
    )


if __name__ == "__main__":
    main()
