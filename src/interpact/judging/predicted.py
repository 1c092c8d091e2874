"""From what a model said of a case to its judgments: calibrated, with a witness, or abstaining."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from interpact.case.case import Case
from interpact.case.states import State
from interpact.judging.direct import Answers
from interpact.judging.exact import judge_exact
from interpact.judging.explain import MAX_LISTED, changes_by, predicted
from interpact.judging.intervene import Tries
from interpact.judging.judgment import DIRECT, INTERVENE, PROPAGATE, Judgment
from interpact.judging.propagate import Reading, score
from interpact.judging.settings import ModeSettings, Reach
from interpact.judging.view import View

THRESHOLD = 0.5  # of the calibrated probability


def from_propagate(
    reading: Reading, reach: Reach, fitted: ModeSettings, risk: float | None
) -> View:
    """The judgments of mode propagate."""
    if reading.missing:
        return _unusable(reading, PROPAGATE)
    view = _skeleton(reading, PROPAGATE)
    scores = score(reading, reach)
    found: list[Judgment] = []
    for judgment in view.judgments:
        if judgment.condition is None:
            found.append(judgment)
            continue
        own = scores.units[judgment.evidence, judgment.condition]
        decided = _decided(judgment, own, fitted, risk)
        pivotal = scores.pivotal[judgment.condition]
        found.append(replace(decided, witness=_witness(view, reading, judgment, decided, pivotal)))
    return replace(view, judgments=found)


def from_intervene(
    reading: Reading, tries: Tries, fitted: ModeSettings, risk: float | None
) -> View:
    """The judgments of mode intervene."""
    if reading.missing:
        return _unusable(reading, INTERVENE)
    view = _skeleton(reading, INTERVENE)
    found: list[Judgment] = []
    for judgment in view.judgments:
        if judgment.condition is None:
            found.append(judgment)
            continue
        own = tries.get((judgment.evidence, judgment.condition), [])
        known = [t for t in own if t.change is not None]
        if not known:
            found.append(_invalid(judgment, "the model gave no usable answer about an edit"))
            continue
        best = max(known, key=lambda t: t.change or 0.0)
        decided = _decided(judgment, best.change or 0.0, fitted, risk)
        witness = changes_by(best.operation, judgment.evidence, view.decision, best.change or 0.0)
        said = _states_told(view, reading, judgment)
        found.append(replace(decided, witness=f"{witness} ({said})"))
    return replace(view, judgments=found)


def from_direct(case: Case, answers: Answers, fitted: ModeSettings, risk: float | None) -> View:
    """The judgments of mode direct: what the model answered, with its calibrated P(Yes)."""
    found: list[Judgment] = []
    for judgment in judge_exact(case.text_only(), dict.fromkeys(case.conditions, State.UNKNOWN)):
        bare = replace(judgment, mode=DIRECT, pivotal=None, chances=())
        if judgment.condition is None:
            found.append(replace(bare, pivotal=False))
            continue
        answer = answers[judgment.evidence, judgment.condition]
        if answer is None or answer.verdict is None:
            told = "nothing usable" if answer is None else f"{answer.text[:60]!r}"
            found.append(_invalid(bare, f"the model answers {told}, not exactly Yes or No"))
            continue
        witness = f"the model answers {'Yes' if answer.verdict else 'No'}; it gives no reason"
        if answer.yes is None:
            found.append(replace(bare, critical=answer.verdict, probability=None, witness=witness))
            continue
        decided = _decided(bare, answer.yes, fitted, risk)
        if not decided.abstained and risk is None:
            decided = replace(decided, critical=answer.verdict)
        found.append(replace(decided, witness=witness))
    return View(case, {}, found, DIRECT)


def _skeleton(reading: Reading, mode: str) -> View:
    """The rows of a case with what follows from its likeliest states."""
    states = reading.states
    rows = [
        replace(
            judgment,
            mode=mode,
            chances=() if judgment.condition is None else reading.chances[judgment.condition],
        )
        for judgment in judge_exact(reading.case.text_only(), states)
    ]
    return View(reading.case, states, rows, mode, reading.chances)


def _decided(
    judgment: Judgment, score: float, fitted: ModeSettings, risk: float | None
) -> Judgment:
    """The judgment with its calibrated probability, and the verdict that the risk allows."""
    probability = fitted.platt(score)
    critical: bool | None = probability >= THRESHOLD
    if risk is not None:
        critical = fitted.conformal.verdict(score, risk)
    return replace(judgment, critical=critical, probability=probability, abstained=critical is None)


def _witness(
    view: View, reading: Reading, likely: Judgment, decided: Judgment, pivotal: float
) -> str:
    """What holds in the likeliest states, what speaks against it, and how sure the states are."""
    witness = likely.witness
    condition = decided.condition
    if decided.critical is not None and decided.critical is not likely.critical:
        witness += (
            f"; but the states are uncertain: the decision can turn on {condition} with "
            f"probability {pivotal:.2f}"
        )
        if likely.critical and pivotal >= THRESHOLD:
            witness = f"{likely.witness}; but an edit of {decided.evidence} alone hardly gets there"
    return f"{witness} ({_states_told(view, reading, decided)})"


def _states_told(view: View, reading: Reading, judgment: Judgment) -> str:
    """The predicted states that the witness rests on."""
    target = judgment.condition
    assert target is not None
    held = None if judgment.pivotal else view.rule.reason(view.states, [target])
    if held is None:  # the decision can turn on it: what could be otherwise is the least certain
        others = [c for c in view.states if c != target]
        held = sorted(others, key=lambda c: max(reading.chances[c]))
    told = [target, *held[: MAX_LISTED - 1]]
    return predicted({c: (view.states[c], max(reading.chances[c])) for c in told})


def _unusable(reading: Reading, mode: str) -> View:
    """Every judgment of a case is invalid where one of its states is not known."""
    missing = reading.missing
    states: Mapping[str, State] = {
        c: reading.states.get(c, State.UNKNOWN) for c in reading.case.conditions
    }
    why = f"the model gave no usable answer about the state of {', '.join(missing[:MAX_LISTED])}"
    rows = [
        _invalid(replace(judgment, mode=mode), why)
        for judgment in judge_exact(reading.case.text_only(), states)
    ]
    return View(reading.case, dict(states), rows, mode, reading.chances)


def _invalid(judgment: Judgment, why: str) -> Judgment:
    return replace(judgment, critical=None, probability=None, pivotal=None, witness=why)
