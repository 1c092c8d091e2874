"""Rules as ProbLog programs: two Boolean predicates for every part, it is satisfied and it is not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from problog import get_evaluatable  # type: ignore[import-untyped]
from problog.program import PrologString  # type: ignore[import-untyped]

from interpact.case.expressions import And, Condition, Expression, Not, Or


def state_facts(chances: dict[str, list[float]]) -> list[str]:
    """`state(condition, s | n | u)` with its chances."""
    return [
        f"{s!r}::state({name},s); {n!r}::state({name},n); {u!r}::state({name},u)."
        for name, (s, n, u) in chances.items()
    ]


def rule_clauses(
    expression: Expression, world: str, atom: Callable[[str, str], str]
) -> tuple[list[str], str, str]:
    """Clauses that define the rule in a world, and the terms "satisfied" and "not satisfied"."""
    lines: list[str] = []
    count = 0

    def part(of: Expression) -> tuple[str, str]:
        nonlocal count
        if isinstance(of, Condition):
            return atom(of.id, "s"), atom(of.id, "n")
        if isinstance(of, Not):
            holds, fails = part(of.item)
            return fails, holds
        inner = [part(item) for item in of.items]
        n = len(inner)
        k = n if isinstance(of, And) else 1 if isinstance(of, Or) else of.count
        count += 1
        holds, fails = f"holds({world},{count})", f"fails({world},{count})"
        for chosen in combinations(inner, k):
            lines.append(f"{holds} :- {', '.join(c[0] for c in chosen)}.")
        for chosen in combinations(inner, n + 1 - k):
            lines.append(f"{fails} :- {', '.join(c[1] for c in chosen)}.")
        return holds, fails

    return lines, *part(expression)


def solve(lines: list[str]) -> dict[str, float]:
    """The chances of the queries of a program."""
    program = PrologString("\n".join(lines))
    found = get_evaluatable().create_from(program).evaluate()
    return {str(query): chance for query, chance in found.items()}
