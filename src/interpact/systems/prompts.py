"""The prompts of the baselines: pure functions of text, the case first, what differs last."""

from __future__ import annotations

from interpact.case.case import Case
from interpact.case.states import Decision, State
from interpact.verifier.prompts import (
    DECISION_WORDS,
    DEFINITIONS,
    STATE_WORDS,
    PairText,
    case_lines,
    condition_line,
    evidence_lines,
)

DECISIONS = (
    "Yes means that the rule is met, No that it is not, Insufficient evidence that the evidence does "
    "not settle it."
)
DECISION_START = "Decision:"
REASON = "Reason about the edit in a few sentences, then answer in this form:"
FORM = "State: <Satisfied, Not satisfied or Unknown>\nDecision: <Yes, No or Insufficient evidence>"


def decision(case: Case) -> str:
    """The question for the decision, from one version of a case."""
    return f"{case_lines(case)}\n{DEFINITIONS}\n{DECISIONS}\nWhat is the decision?"


def candidate(case: Case, proposed: Decision) -> str:
    """The question whether a candidate decision is correct (app:genrm)."""
    return (
        f"{decision(case)}\n"
        f"Candidate decision: {DECISION_WORDS[proposed]}\n"
        "Is the candidate decision correct?\n"
        "Answer exactly Yes or No."
    )


def outcome(pair: PairText, state: State, before: Decision, form: str = f"{REASON}\n{FORM}") -> str:
    """The question for state and decision after an edit, for models that are only prompted (app:prompted).

    It gives the state and decision before the edit, as the paper does.
    """
    case, root = pair.root.case, pair.root
    return (
        f"{case_lines(case)}\n"
        f"{DEFINITIONS}\n{DECISIONS}\n"
        f"Target condition: {condition_line(case, root.condition)}\n"
        f"Target evidence: evidence [{root.evidence}]\n"
        f"State of the target condition: {STATE_WORDS[state]}\n"
        f"Decision: {DECISION_WORDS[before]}\n"
        "Now only the evidence around the target is edited; the rule and all else stay. "
        f"The evidence reads:\n{evidence_lines(pair.after)}\n"
        "What is the state of the target condition now, and what is the decision?\n"
        f"{form}"
    )
