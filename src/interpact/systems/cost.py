"""About how long training and evaluating a system takes here, from tokens and a short measurement."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from interpact.corpus.pairs import Pair, Split
from interpact.corpus.store import Corpus
from interpact.systems.answer import WORDS
from interpact.systems.config import Kind, SystemConfig
from interpact.systems.execution import StateObjective
from interpact.systems.genrm import GenRmObjective
from interpact.systems.paircfr import PairCfrObjective
from interpact.verifier.backbone import Backbone
from interpact.verifier.config import StageSettings
from interpact.verifier.objectives import AfterStateObjective, PropagationObjective
from interpact.verifier.pack import Row
from interpact.verifier.questions import Questions
from interpact.verifier.run import fresh
from interpact.verifier.selection import checkpoint_steps

SAMPLE = 48  # pairs that are looked at

Rows = Callable[[Pair], Sequence[Row]]


@dataclass(frozen=True)
class Cost:
    """Seconds a token, and tokens a pair for each kind of question."""

    learn: float
    read: float
    trained: dict[str, float]  # tokens of a pair in training, by stage or kind
    asked: dict[str, float]  # and when it is measured
    pairs: Counter[Split]
    roots: Counter[Split]
    direct: float

    @staticmethod
    def measured(config: SystemConfig, corpus: Corpus) -> Cost:
        """Measured on a few pairs, with the backbone of a run."""
        backbone = fresh(config, None)
        pairs = _some([p for p in corpus.pairs if p.of.split is Split.TRAIN])
        trained, asked = _tokens(backbone, config, pairs)
        learn, read = _speed(backbone, config, pairs)
        splits = [root.split for root in corpus.roots.values() if root.split]
        questions = Questions(backbone.encoder)
        direct = [len(questions.direct(p.of.root).tokens) + len(WORDS) for p in pairs[::8]]
        return Cost(
            learn,
            read,
            trained,
            asked,
            Counter(p.of.split for p in corpus.pairs if p.of.split),
            Counter(splits),
            sum(direct) / max(len(direct), 1),
        )

    def stage(self, name: str, settings: StageSettings) -> float:
        """Seconds of one stage with its checkpoints."""
        updates = round(settings.passes * self.pairs[Split.TRAIN] / settings.batch)
        checkpoints = len(checkpoint_steps(max(updates, 1), settings.checkpoint_every))
        seen = (
            settings.passes
            * self.pairs[Split.TRAIN]
            * self.trained.get(name, self.trained["after_state"])
            * self.learn
        )
        return seen + checkpoints * self.pairs[Split.DEV] * self._asked(name) * self.read

    def _asked(self, name: str) -> float:
        return self.asked.get(name, self.asked["execution"])  # its questions are the nearest

    def training(self, config: SystemConfig, shared: bool) -> float:
        """Seconds until a system is trained."""
        both = self.pairs[Split.TRAIN] + self.pairs[Split.DEV]
        first = 0.0 if shared else self.stage("after_state", config.after_state)
        if config.system is Kind.PROMPTED:
            return self.pairs[Split.DEV] * self.asked["prompted"] * self.read
        if config.system is Kind.AFTER_STATE:
            return first
        if config.system is Kind.R2GUARD:
            return first + both * self.asked["r2guard"] * self.read
        if config.system is Kind.INTERPACT:
            reading = both * self.asked["after_state"] * self.read
            return first + reading + self.stage("propagation", config.propagation)
        return self.stage(config.system, config.baseline)

    def evaluating(self, config: SystemConfig, split: Split) -> float:
        """Seconds for the pairs and roots of a split."""
        tokens = self._asked("propagation" if config.system is Kind.INTERPACT else config.system)
        if config.key == "interpact":  # its ablations find the estimates made
            tokens += self.asked["after_state"]
        return self.read * (self.pairs[split] * tokens + self.roots[split] * self.direct)


def _some(pairs: Sequence[Pair]) -> list[Pair]:
    """Whole roots from all over."""
    roots: dict[str, list[Pair]] = {}
    for pair in pairs:
        roots.setdefault(pair.record.root, []).append(pair)
    groups = list(roots.values())
    step = max(1, len(groups) * 8 // SAMPLE)
    return [pair for group in groups[::step] for pair in group][:SAMPLE]


def _tokens(
    backbone: Backbone, config: SystemConfig, pairs: Sequence[Pair]
) -> tuple[dict[str, float], dict[str, float]]:
    """Tokens a pair once packed."""
    from interpact.systems.prompted import Prompted

    questions = Questions(backbone.encoder)
    log_q = {pair.id: torch.zeros(3) for pair in pairs}
    first = AfterStateObjective(questions)
    second = PropagationObjective(questions, log_q, config.variant, config.losses)
    states = StateObjective(questions)
    genrm = GenRmObjective(questions, config.genrm)
    paircfr = PairCfrObjective(backbone.encoder, config.paircfr)
    plain = Prompted(config.prompted.model_copy(update={"reasoning_tokens": 0}), 1)

    def after_state(p: Pair) -> Sequence[Row]:
        return questions.after_state(p.id, p.after, p.of.root.condition)

    def all_states(p: Pair) -> Sequence[Row]:
        return [questions.state(p.id, p.after, c) for c in p.after.conditions]

    def count(groups: Sequence[Sequence[Row]]) -> float:
        batches = backbone.batches(groups, config.pack_tokens)
        return sum(batch.tokens.numel() for _, batch in batches) / max(len(pairs), 1)

    def each(rows: Rows) -> float:
        return count([rows(pair) for pair in pairs])

    trained = {
        name: count([item.rows for item in objective.items(pairs)])
        for name, objective in (
            ("after_state", first),
            ("propagation", second),
            ("execution", states),
            ("genrm", genrm),
            ("paircfr", paircfr),
        )
    }
    asked = {
        "after_state": each(after_state),
        "propagation": each(second.rows),
        "execution": each(all_states),
        "genrm": each(lambda p: genrm.rows(p.id, p.after)),
        "paircfr": each(lambda p: [paircfr.row(p.id, p.after)]),
        "r2guard": each(lambda p: [*after_state(p), *all_states(p)]),
        # Reasoning is written token by token, at some ten times the price of reading.
        "prompted": each(lambda p: plain.asked(backbone, questions, p).rows(questions))
        + 10 * config.prompted.reasoning_tokens,
    }
    return trained, asked


def _speed(backbone: Backbone, config: SystemConfig, pairs: Sequence[Pair]) -> tuple[float, float]:
    """Seconds a token, learning and reading; the first batch warms up."""
    items = AfterStateObjective(Questions(backbone.encoder)).items(pairs)
    batches = backbone.batches([item.rows for item in items], config.pack_tokens)[:3]
    found: list[float] = []
    for learning in (True, False):
        backbone.reader.train(learning)
        seconds, tokens = 0.0, 0
        for i, (_, batch) in enumerate(batches):
            began = time.perf_counter()
            with torch.set_grad_enabled(learning):
                logits = backbone.reader(batch.to(backbone.device)).float()
            if learning:
                logits.logsumexp(-1).sum().backward()
            if i or len(batches) == 1:
                seconds += time.perf_counter() - began
                tokens += batch.tokens.numel()
        found.append(seconds / max(tokens, 1))
    backbone.model.zero_grad()
    return found[0], found[1]
