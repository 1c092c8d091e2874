"""What a construction has come to: the paper's operation table, regimes, reasons and agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from interpact.case.states import State
from interpact.construct.judges import Role
from interpact.construct.operations import BRIEFS
from interpact.construct.records import ADJUDICATED, Attempt, Outcome
from interpact.corpus.pairs import Operation, Pair, Regime, Split, Tier

NO_SPLIT = "(no split)"


@dataclass(frozen=True)
class Agreement:
    """How the state judges got on."""

    confusion: Counter[tuple[State, State]]
    """Direct reading and comparison, where both gave a state."""
    unusable: Counter[tuple[Role, str]]
    asked_third: int
    adjudicated: int
    reviewed: int
    open: int

    @staticmethod
    def of(attempts: Iterable[Attempt]) -> Agreement:
        """The agreement over finished attempts."""
        confusion: Counter[tuple[State, State]] = Counter()
        unusable: Counter[tuple[Role, str]] = Counter()
        counts: Counter[str] = Counter()
        for attempt in attempts:
            by_role = {reading.role: reading for reading in attempt.readings}
            for role, reading in by_role.items():
                if reading.problem is not None:
                    unusable[role, reading.problem] += 1
            first, second = by_role.get(Role.AFTER), by_role.get(Role.COMPARISON)
            if first and second and first.state and second.state:
                confusion[first.state, second.state] += 1
            counts["third"] += Role.THIRD in by_role
            counts["adjudicated"] += ADJUDICATED in attempt.flags
            counts["reviewed"] += Role.PERSON in by_role
            counts["open"] += attempt.outcome is Outcome.REVIEW
        return Agreement(
            confusion,
            unusable,
            counts["third"],
            counts["adjudicated"],
            counts["reviewed"],
            counts["open"],
        )

    @property
    def read_twice(self) -> int:
        """How many interventions two judges gave a state."""
        return self.confusion.total()

    @property
    def agreed(self) -> int:
        """How many of them got the same state from both."""
        return sum(n for (one, other), n in self.confusion.items() if one is other)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa; none where it is not defined."""
        n = self.read_twice
        by_first: Counter[State] = Counter()
        by_second: Counter[State] = Counter()
        for (one, other), count in self.confusion.items():
            by_first[one] += count
            by_second[other] += count
        chance = sum(by_first[s] * by_second[s] for s in State)
        return None if chance == n * n else (self.agreed * n - chance) / (n * n - chance)


@dataclass(frozen=True)
class ConstructionReport:
    """The pairs of a corpus, and what became of every attempt to make one."""

    pairs: Counter[tuple[Operation, Split | None]]
    regimes: Counter[tuple[Regime, Split | None]]
    """Of target operations."""
    controls_moved: int
    """Controls after which the target condition was judged to be in another state."""
    tiers: Counter[Tier]
    flags: Counter[str]
    outcomes: Counter[tuple[Operation, Outcome]]
    abstentions: Counter[tuple[Operation, str]]
    exclusions: Counter[tuple[Operation, str]]
    agreement: Agreement
    elsewhere: int
    """Pairs that no attempt of this corpus made."""
    unattempted: int
    """Roots and operations with neither a pair nor a finished attempt."""

    @staticmethod
    def of(
        pairs: Iterable[Pair], attempts: Mapping[str, Attempt], combinations: int
    ) -> ConstructionReport:
        """The report on these pairs and the attempts that count, by their id."""
        counts: Counter[tuple[Operation, Split | None]] = Counter()
        regimes: Counter[tuple[Regime, Split | None]] = Counter()
        tiers: Counter[Tier] = Counter()
        flags: Counter[str] = Counter()
        moved = elsewhere = 0
        made = {name for name, a in attempts.items() if a.outcome is Outcome.ACCEPTED}
        known = set(attempts)
        for pair in pairs:
            operation = pair.record.operation
            counts[operation, pair.of.split] += 1
            tiers[pair.record.tier] += 1
            flags.update(pair.record.flags)
            if operation.control:
                moved += pair.state_after is not pair.of.state
            else:
                regimes[pair.regime, pair.of.split] += 1
            elsewhere += pair.id not in made
            known.add(pair.id)
        ended: dict[Outcome, Counter[tuple[Operation, str]]] = {o: Counter() for o in Outcome}
        for attempt in attempts.values():
            ended[attempt.outcome][attempt.operation, attempt.reason] += 1
        return ConstructionReport(
            counts,
            regimes,
            moved,
            tiers,
            flags,
            Counter((a.operation, a.outcome) for a in attempts.values()),
            ended[Outcome.ABSTAINED],
            ended[Outcome.EXCLUDED],
            Agreement.of(attempts.values()),
            elsewhere,
            combinations - len(known),
        )

    def markdown(self) -> str:
        """The report as Markdown tables."""
        return (
            "\n\n".join(
                [
                    "## Pairs by operation\n\n" + self._operations(),
                    "## Target pairs by regime\n\n" + self._regimes(),
                    "## Attempts\n\n" + self._attempts(),
                    *self._reasons("Abstentions", self.abstentions),
                    *self._reasons("Exclusions", self.exclusions),
                    "## State judges\n\n" + self._judges(),
                ]
            )
            + "\n"
        )

    def _splits(self) -> list[Split | None]:
        bare = any(split is None for _, split in self.pairs)
        return [*Split, None] if bare else list(Split)

    def _operations(self) -> str:
        splits = self._splits()
        rows = [
            [
                _words(operation) + (" (control)" if operation.control else ""),
                BRIEFS[operation].definition,
                *(self.pairs[operation, split] for split in splits),
            ]
            for operation in Operation
        ]
        names = [split or NO_SPLIT for split in splits]
        total = ["all", "", *(sum(int(row[2 + i]) for row in rows) for i in range(len(splits)))]
        table = _table(["operation", "intended edit", *names], [*rows, total])
        notes = [
            f"{self.tiers[Tier.STANDARD]:,} standard, {self.tiers[Tier.EXTENDED]:,} extended; "
            f"{self.elsewhere:,} made elsewhere."
        ]
        if self.flags:
            listed = ", ".join(f"{flag} {n:,}" for flag, n in sorted(self.flags.items()))
            notes.append(f"Flags: {listed}.")
        return "\n\n".join([table, *notes])

    def _regimes(self) -> str:
        splits = self._splits()
        rows = [[regime, *(self.regimes[regime, split] for split in splits)] for regime in Regime]
        table = _table(["regime", *(split or NO_SPLIT for split in splits)], rows)
        return f"{table}\n\nControls that changed the target state: {self.controls_moved:,}."

    def _attempts(self) -> str:
        rows = [
            [_words(operation), *(self.outcomes[operation, outcome] for outcome in Outcome)]
            for operation in Operation
        ]
        table = _table(["operation", *Outcome], rows)
        return f"{table}\n\nNot attempted yet: {self.unattempted:,}."

    def _reasons(self, title: str, counts: Counter[tuple[Operation, str]]) -> list[str]:
        if not counts:
            return []
        reasons = sorted(
            {reason for _, reason in counts},
            key=lambda r: (-sum(counts[operation, r] for operation in Operation), r),
        )
        rows: list[list[object]] = []
        for reason in reasons:
            by = {op: counts[op, reason] for op in Operation if counts[op, reason]}
            listed = ", ".join(f"{_words(op)} {n:,}" for op, n in by.items())
            rows.append([reason, sum(by.values()), listed])
        return [f"## {title}\n\n" + _table(["reason", "count", "operations"], rows)]

    def _judges(self) -> str:
        a = self.agreement
        share = f" ({a.agreed / a.read_twice:.1%})" if a.read_twice else ""
        kappa = f", kappa {a.kappa:.2f}" if a.kappa is not None else ""
        lines = [
            f"- Read by both judges: {a.read_twice:,}; same state: {a.agreed:,}{share}{kappa}.",
            f"- Third opinion asked: {a.asked_third:,}; settled by it: {a.adjudicated:,}.",
            f"- Read by a person: {a.reviewed:,}; waiting for one: {a.open:,}.",
        ]
        lines += [
            f"- No usable answer ({role}, {problem}): {n:,}."
            for (role, problem), n in sorted(a.unusable.items())
        ]
        return "\n".join(lines)


def _words(operation: Operation) -> str:
    return operation.replace("_", " ")


def _table(header: list[str], rows: list[list[object]]) -> str:
    texts = {i for i, cell in enumerate(rows[0]) if isinstance(cell, str)}
    lines = [
        f"| {' | '.join(header)} |",
        "|" + "|".join("---" if i in texts else "---:" for i in range(len(header))) + "|",
    ]
    for row in rows:
        cells = (f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
