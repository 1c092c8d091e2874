"""What a system said about a split, stored so that every metric can be computed without model or corpus.

A run keeps `predictions/<split>/` with `meta.json`, `pairs.jsonl` (targets and controls, the
reference beside the prediction) and `roots.jsonl` (the direct task). A null is an answer that the
system does not give; a number that is none is an error.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from interpact.case.case import Id
from interpact.case.files import replacing
from interpact.case.problems import InputProblems, Problem, field_problems
from interpact.case.states import Decision, State
from interpact.corpus.pairs import LabelledRoot, Operation, Pair, Split
from interpact.corpus.split import NO_SOURCE
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError

if TYPE_CHECKING:
    from interpact.systems.columns import PairColumns, RootColumns

META, PAIRS, ROOTS = "meta.json", "pairs.jsonl", "roots.jsonl"
TOLERANCE = 1e-3
"""How far chances may be off by rounding: outside 0 and 1, or a distribution from adding up to 1."""
NEVER = 2.0
"""A threshold that no score reaches."""

Chance = Annotated[float, Field(ge=-TOLERANCE, le=1 + TOLERANCE, allow_inf_nan=False)]
Chances = tuple[Chance, Chance, Chance]


class System(StrEnum):
    """The systems of the paper, its ablations, and the reference rows that it lacks."""

    PROMPTED = "prompted"
    AFTER_STATE = "after_state"
    EXECUTION = "execution"
    PAIRCFR = "paircfr"
    GENRM = "genrm"
    R2GUARD = "r2guard"
    INTERPACT = "interpact"
    WITHOUT_COMPOSITION = "without_composition"
    WITHOUT_BRANCH_LOSS = "without_branch_loss"
    WITHOUT_CHANGE_LOSS = "without_change_loss"
    WITHOUT_HARD_WARRANT = "without_hard_warrant"
    OWN_EVIDENCE = "own_evidence"
    MAJORITY = "majority"
    ORACLE_RULE = "oracle_rule"
    PREDICTED_RULE = "predicted_rule"

    def named(self, backbone: str = "") -> str:
        """The name in tables; of a prompted model, with the model's."""
        return _TITLES[self] if self is not System.PROMPTED else f"Prompted {backbone}".rstrip()


_TITLES = {
    System.AFTER_STATE: "After-State SFT",
    System.EXECUTION: "Predicted State Execution",
    System.PAIRCFR: "PairCFR",
    System.GENRM: "GenRM",
    System.R2GUARD: "R²-Guard",
    System.INTERPACT: "InterPact",
    System.WITHOUT_COMPOSITION: "w/o propagation composition",
    System.WITHOUT_BRANCH_LOSS: "w/o branch loss",
    System.WITHOUT_CHANGE_LOSS: "w/o change loss",
    System.WITHOUT_HARD_WARRANT: "w/o Hard Warrant",
    System.OWN_EVIDENCE: "Own-evidence execution",
    System.MAJORITY: "Majority class",
    System.ORACLE_RULE: "Oracle rule",
    System.PREDICTED_RULE: "Predicted rule",
}


class Verdict(StrEnum):
    """What an answer to the direct question comes to; invalid is never no."""

    YES = "yes"
    NO = "no"
    INVALID = "invalid"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Meta(_Record):
    """Who predicted what."""

    system: System
    name: str
    run: str
    seed: int
    backbone: str
    split: Split
    threshold: Annotated[float, Field(allow_inf_nan=False)] | None = None
    """Scores from here on predict a change of the decision; chosen on development pairs."""
    corpus: str
    settings: dict[str, Any] = {}

    @field_validator("threshold", mode="before")
    @classmethod
    def _finite(cls, value: object) -> object:
        # all negative is a choice too, and JSON has no infinity
        return NEVER if value == math.inf else value


class PairPrediction(_Record):
    """A line of pairs.jsonl; chances are in tensor order."""

    pair: Id
    root: Id
    source: str
    operation: Operation
    state_before: State
    decision_before: Decision
    state_after: State
    decision_after: Decision
    mapping: tuple[Decision, Decision, Decision]
    q: Chances | None = None
    """The state after the intervention."""
    p: Chances | None = None
    """The decision after the intervention."""
    s: Chance | None = None
    """The decision changes."""
    branches: tuple[Chances, Chances, Chances] | None = None
    """The decision under each state, before Hard Warrant."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for name, row in (
            ("q", self.q),
            ("p", self.p),
            *(("branches", r) for r in self.branches or ()),
        ):
            if row is not None and abs(sum(row) - 1) > TOLERANCE:
                raise ValueError(f"{name}: {list(row)} does not add up to 1")
        return self

    @staticmethod
    def of(
        pair: Pair,
        *,
        q: Sequence[float] | None = None,
        p: Sequence[float] | None = None,
        s: float | None = None,
        branches: Sequence[Sequence[float]] | None = None,
    ) -> PairPrediction:
        """What a system said about a pair, beside the reference."""
        return PairPrediction.model_validate(
            {
                "pair": pair.id,
                "root": pair.record.root,
                "source": pair.before.source or NO_SOURCE,
                "operation": pair.record.operation,
                "state_before": pair.of.state,
                "decision_before": pair.of.decision,
                "state_after": pair.state_after,
                "decision_after": pair.decision_after,
                "mapping": [pair.of.mapping[state] for state in State],
                "q": q,
                "p": p,
                "s": s,
                "branches": branches,
            }
        )


class RootPrediction(_Record):
    """A line of roots.jsonl; a root without a label is not scored."""

    root: Id
    source: str
    critical: Annotated[bool, Field(strict=True)] | None
    answer: str
    verdict: Verdict
    p_yes: Chance | None = None

    @staticmethod
    def of(
        name: str,
        root: LabelledRoot,
        critical: bool | None,
        answer: str,
        verdict: Verdict,
        p_yes: float | None = None,
    ) -> RootPrediction:
        """What a system answered about a root, beside the reference."""
        return RootPrediction(
            root=name,
            source=root.root.case.source or NO_SOURCE,
            critical=critical,
            answer=answer,
            verdict=verdict,
            p_yes=p_yes,
        )


class Predictions:
    """A folder of predictions, read into columns; a task that the system does not do is None."""

    def __init__(
        self, folder: Path, meta: Meta, pairs: PairColumns | None, roots: RootColumns | None
    ) -> None:
        self.folder, self.meta, self.pairs, self.roots = folder, meta, pairs, roots


def folder_of(run: str | Path, split: Split) -> Path:
    """Where a run keeps its predictions of a split."""
    return Path(run) / "predictions" / split


def write_predictions(
    folder: Path,
    meta: Meta,
    pairs: Iterable[PairPrediction] | None,
    roots: Iterable[RootPrediction] | None,
) -> None:
    """Write predictions, each file whole or not at all; `meta.json` comes last and makes them valid."""
    (folder / META).unlink(missing_ok=True)
    for name, records in ((PAIRS, pairs), (ROOTS, roots)):
        if records is None:
            (folder / name).unlink(missing_ok=True)
        else:
            _write(folder / name, records)
    _write(folder / META, [meta])


def _write(path: Path, records: Iterable[BaseModel]) -> None:
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(record.model_dump_json() + "\n")


def read_predictions(folder: Path) -> Predictions:
    """The predictions of a folder; what is wrong with them is told with its rows."""
    from interpact.systems.columns import read_pairs, read_roots

    meta = read_meta(folder)
    pairs, roots = folder / PAIRS, folder / ROOTS
    if not pairs.exists() and not roots.exists():
        raise InterPactError(f"{folder}: has neither {PAIRS} nor {ROOTS}; predict again")
    return Predictions(
        folder,
        meta,
        read_pairs(pairs) if pairs.exists() else None,
        read_roots(roots) if roots.exists() else None,
    )


def read_meta(folder: Path) -> Meta:
    """Who made the predictions of a folder."""
    path = folder / META
    try:
        return Meta.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise InterPactError(
            f"{folder}: holds no finished predictions ({META}); make them with "
            "`interpact evaluate RUN --corpus DIR`"
        ) from None
    except ValidationError as error:
        found = field_problems(error.errors(include_url=False), {(): tuple(Meta.model_fields)})
        raise InputProblems(
            [Problem(str(path), None, ".".join(map(str, at)), what) for at, what in found]
        ) from None


def fingerprint(corpus: Corpus, split: Split) -> str:
    """What tells a split of a corpus from another: its roots and pairs, with texts and states."""
    digest = hashlib.sha256()
    for name in sorted(name for name, root in corpus.roots.items() if root.split is split):
        digest.update(json.dumps(name).encode() + b"\n")
    rows = [
        (pair.id, pair.record.text, pair.of.state, pair.state_after)
        for pair in corpus.pairs
        if pair.of.split is split
    ]
    for row in sorted(rows):
        digest.update(json.dumps(row).encode() + b"\n")
    return digest.hexdigest()
