"""Own-evidence judging, beyond the paper: each condition's state from the units that bear on it alone.

A case says which unit bears on which condition. So the state of a condition is asked with that
condition's own units, in a short prompt; a condition that no unit names is unknown. The rule then
gives the decision exactly, as in Predicted State Execution. The model learns the states of original
cases too, not of their targets alone, and the direct question on roots whose label follows from
their pairs and mapping. The shipped verifier is trained like this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from interpact.case.case import Case
from interpact.case.states import State
from interpact.corpus.pairs import LabelledRoot, Pair, Split
from interpact.corpus.store import Corpus
from interpact.systems.config import OwnEvidenceSettings, SystemConfig
from interpact.systems.execution import executed
from interpact.systems.learn import OneModel, choose, load_one, train_one_stage
from interpact.systems.system import Job
from interpact.verifier.backbone import Backbone
from interpact.verifier.encode import Labels
from interpact.verifier.objectives import Item, Predictions
from interpact.verifier.pack import Row
from interpact.verifier.prompts import UNNAMED
from interpact.verifier.questions import Questions, label_logs
from interpact.verifier.run import select_verifier

STAGE = "own_evidence"
STATES = list(State)


@dataclass(frozen=True)
class Asked:
    """A row, its labels, which of them is right, and how much it counts."""

    row: Row
    labels: Labels
    right: int
    weight: float


@dataclass(frozen=True)
class Lesson(Item):
    """A pair with what is asked of its case after the edit, and once a case of the original."""

    asked: tuple[Asked, ...] = ()


class OwnEvidenceObjective:
    """States from own evidence, before and after interventions, and the direct question."""

    parts: tuple[str, ...] = ("loss", "state", "direct")

    def __init__(self, questions: Questions, settings: OwnEvidenceSettings) -> None:
        self.questions, self.settings = questions, settings

    def items(self, pairs: Sequence[Pair]) -> list[Item]:
        """The pairs; what concerns the original case goes with its first pair."""
        seen: set[tuple[int, ...]] = set()
        of_root: dict[str, list[Pair]] = {}
        for pair in pairs:
            of_root.setdefault(pair.record.root, []).append(pair)
        found: list[Item] = []
        for together in of_root.values():
            for i, pair in enumerate(together):
                asked = [
                    self._state(pair.after, pair.of.root.condition, pair.state_after, pair.weight)
                ]
                if i == 0:
                    asked += self._original(pair.of, any(p.changed for p in together))
                new = [a for a in asked if a.row.tokens not in seen]
                seen.update(a.row.tokens for a in new)
                if new:
                    found.append(Lesson(pair, tuple(a.row for a in new), asked=tuple(new)))
        return found

    def _original(self, root: LabelledRoot, changed: bool) -> Iterator[Asked]:
        case = root.root.case
        for condition in named(case):
            yield self._state(case, condition, root.labels.states[condition], 1.0)
        if self.settings.direct and (changed or root.constant):
            row = self.questions.direct(root.root)
            yield Asked(row, self.questions.verdicts, 0 if changed else 1, self.settings.direct)

    def _state(self, case: Case, condition: str, state: State, weight: float) -> Asked:
        row = self.questions.own_state(f"{case.id}, {condition}", case, condition)
        return Asked(row, self.questions.states, STATES.index(state), weight)

    def loss(self, items: Sequence[Item], logits: Sequence[Tensor]) -> dict[str, Tensor]:
        """Cross-entropy among the labels of each question, weighted."""
        of: dict[bool, list[Tensor]] = {True: [], False: []}
        weights = 0.0
        for item, found in zip(items, logits, strict=True):
            assert isinstance(item, Lesson)
            for asked, read in zip(item.asked, found, strict=True):
                nll = -label_logs(read[None], asked.labels)[0, asked.right]
                of[asked.labels is self.questions.states].append(asked.weight * nll)
                weights += asked.weight
        state, direct = (
            torch.stack(found).sum() / weights if found else logits[0].new_zeros(())
            for found in (of[True], of[False])
        )
        return {"loss": state + direct, "state": state, "direct": direct}

    def measure(self, backbone: Backbone, pairs: Sequence[Pair], limit: int) -> Predictions:
        """The target state from its own evidence, the decision by the rule."""
        log_q: list[Tensor] = []
        log_p: list[Tensor] = []
        cases = [(p.id, p.after) for p in pairs]
        for pair, logs in zip(pairs, own_states(backbone, cases, limit), strict=True):
            log_q.append(logs[pair.of.root.condition])
            log_p.append(executed(pair.after, logs))
        if not log_q:
            return Predictions()
        return Predictions(list(pairs), torch.stack(log_q), torch.stack(log_p))


def named(case: Case) -> list[str]:
    """The conditions of a case that some unit bears on."""
    found = {condition for unit in case.evidence for condition in unit.conditions}
    return [condition for condition in case.conditions if condition in found]


def own_states(
    backbone: Backbone, cases: Sequence[tuple[str, Case]], limit: int
) -> Iterator[dict[str, Tensor]]:
    """For each named case, log q of every condition; equal questions are asked once."""
    questions = Questions(backbone.encoder)
    unnamed = torch.tensor(UNNAMED).log()
    place: dict[Row, int] = {}
    rows = [
        {c: questions.own_state(f"{name}, {c}", case, c) for c in named(case)}
        for name, case in cases
    ]
    for row in (row for of_case in rows for row in of_case.values()):
        place.setdefault(row, len(place))
    logits = backbone.logits([[row] for row in place], limit)
    found = [label_logs(read, questions.states)[0].cpu() for read in logits]
    for (_, case), of_case in zip(cases, rows, strict=True):
        yield {c: found[place[of_case[c]]] if c in of_case else unnamed for c in case.conditions}


def train(job: Job) -> None:
    """One stage from the pretrained backbone; other corpora give further training pairs."""
    settings = job.config.own_evidence
    further: list[Pair] = []
    for folder in settings.also:
        more = [p for p in Corpus.read(folder).pairs if p.of.split is Split.TRAIN]
        job.say(f"{folder}: {len(more):,} further training pairs")
        further += more
    folder = train_one_stage(
        job, STAGE, job.config.baseline, lambda b: _objective(b, job.config), further=further
    )
    best, dev = select_verifier(folder)
    choose(job, folder, best.step, dev)


def load(run: Path, config: SystemConfig) -> OneModel:
    """A finished one."""
    return load_one(run, config, lambda backbone: _objective(backbone, config))


def _objective(backbone: Backbone, config: SystemConfig) -> OwnEvidenceObjective:
    return OwnEvidenceObjective(Questions(backbone.encoder), config.own_evidence)
