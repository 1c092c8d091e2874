"""Every prompt of the verifier: pure functions of text, the case first, what differs last.

A prompt is made from a `Root` or from two versions of its case, never from labels. The paired prompt
adds the original state and decision, which paired training and evaluation supply. Evidence is
untrusted: it is written as a JSON string, so that no line of it can pass for one of ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from interpact.case.case import Case, Evidence, Root
from interpact.case.states import Decision, State

STATE_WORDS = {
    State.SATISFIED: "Satisfied",
    State.NOT_SATISFIED: "Not satisfied",
    State.UNKNOWN: "Unknown",
}
DECISION_WORDS = {
    Decision.YES: "Yes",
    Decision.NO: "No",
    Decision.INSUFFICIENT: "Insufficient evidence",
}
AGGREGATION_WORDS = {
    "all": "All conditions must be satisfied (three-valued conjunction).",
    "any": "At least one condition must be satisfied (three-valued disjunction).",
}
DEFINITIONS = (
    "Satisfied means that the evidence supports the condition, Not satisfied that it supports the "
    "opposite, Unknown that it does not tell."
)
DIRECT_QUESTION = (
    "Would changing only the target evidence, while keeping all other case facts and decision rules "
    "fixed, be capable of changing the final decision?\n"
    "Answer exactly Yes or No."
)


@dataclass(frozen=True, slots=True)
class PairText:
    """Both versions of a case and its root: what paired prediction reads."""

    root: Root
    after: Case


def direct(root: Root) -> str:
    """The paper's question whether evidence is critical, from one case (app:direct-prompt)."""
    case = root.case
    return (
        f"Original case: {_quoted(case.query)}\n{evidence_lines(case)}\n"
        f"Decision rule: {_quoted(case.rule)}\n"
        f"All conditions:\n{_conditions(case)}\n"
        f"Target condition: {condition_line(case, root.condition)}\n"
        f"Target evidence location: evidence [{root.evidence}]\n"
        f"Aggregation rule: {_aggregation(case)}\n\n"
        f"{DIRECT_QUESTION}"
    )


def after_state(case: Case, condition: str) -> str:
    """The question for a condition's state, answered before the decision, from one version of a case."""
    return (
        f"{case_lines(case)}\n"
        f"{DEFINITIONS}\n"
        f"Target condition: {condition_line(case, condition)}\n"
        "What is the state of the target condition, and what is the decision?"
    )


def own_state(case: Case, condition: str) -> str:
    """The question for a condition's state from its own evidence alone: short, and the same for all.

    Other units do not bear on the condition, so they are left out; what the conditions of a case
    share stands first.
    """
    own = [unit for unit in case.evidence if condition in unit.conditions]
    return (
        f"Question: {_quoted(case.query)}\n"
        f"Decision rule: {_quoted(case.rule)}\n"
        f"{DEFINITIONS}\n"
        f"Target condition: {_quoted(case.conditions[condition])}\n"
        f"Evidence:\n{_bare(own)}\n"
        "What is the state of the target condition?"
    )


UNNAMED = (0.01, 0.01, 0.98)
"""The state of a condition that no unit names: unknown, as the case format says; it is not asked."""

STATE_START, DECISION_START = "State:", "\nDecision:"
"""How the answer to `own_state` and `after_state` begins, and how it goes on after the state."""


def paired(pair: PairText, state: State, decision: Decision) -> str:
    """Both versions of a case with the original state and decision; conditional questions follow it."""
    case, root = pair.root.case, pair.root
    return (
        f"{case_lines(case)}\n"
        f"{DEFINITIONS}\n"
        f"Target condition: {condition_line(case, root.condition)}\n"
        f"Target evidence: evidence [{root.evidence}]\n"
        f"State of the target condition: {STATE_WORDS[state]}\n"
        f"Decision: {DECISION_WORDS[decision]}\n"
        "Now only the evidence around the target is edited; the rule and all else stay. "
        f"The evidence reads:\n{evidence_lines(pair.after)}\n"
        "For each state that the target condition may have now, what is the decision?"
    )


def conditional_question(state: State) -> str:
    """The line whose answer is the decision if the target condition is in that state."""
    return f"If {STATE_WORDS[state]}:"


FLAT_QUESTION = "Decision now:"
"""The line whose answer is the decision outright, for the composition ablation."""


def as_answers(words: Iterable[str]) -> list[str]:
    """Label words as they follow a colon."""
    return [f" {word}" for word in words]


def case_lines(case: Case) -> str:
    """A case, its evidence last."""
    return (
        f"Question: {_quoted(case.query)}\n"
        f"Decision rule: {_quoted(case.rule)}\n"
        f"Conditions:\n{_conditions(case)}\n"
        f"Aggregation rule: {_aggregation(case)}\n"
        f"Evidence:\n{evidence_lines(case)}"
    )


def _conditions(case: Case) -> str:
    return "\n".join(condition_line(case, condition) for condition in case.conditions)


def condition_line(case: Case, condition: str) -> str:
    """A condition with its id."""
    return f"[{condition}] {_quoted(case.conditions[condition])}"


def evidence_lines(case: Case) -> str:
    """The units of evidence with their ids."""
    units: Sequence[str] = [f"[{unit.id}] {_quoted(unit.text)}" for unit in case.evidence]
    return "\n".join(units) if units else "(none)"


def _bare(units: Sequence[Evidence]) -> str:
    return "\n".join(f"- {_quoted(unit.text)}" for unit in units) if units else "(none)"


def _aggregation(case: Case) -> str:
    return AGGREGATION_WORDS.get(case.aggregation.strip().lower(), str(case.rule_of_decision))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
