"""The front door: a case in, a judgment for every evidence unit out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from interpact.case.case import Case, LabelledCase
from interpact.case.states import State, did_you_mean
from interpact.errors import CaseProblem, InterPactError
from interpact.judging.exact import judge_exact
from interpact.judging.judgment import AUTO, EXACT, MODES, Judgment

if TYPE_CHECKING:
    from interpact.judging.verifier import Verifier


def judge(
    case: Case | str | Path,
    states: Mapping[str, State | str] | None = None,
    mode: str = AUTO,
    verifier: Verifier | None = None,
) -> list[Judgment]:
    """Judge every evidence unit of a case (or of a case file).

    `states` sets or overrides states of conditions, to ask what if. By default mode exact judges
    where all states are given; otherwise a verifier (the shipped one, if none is named) predicts
    them, by the mode that did best on its development data.

        >>> from interpact import case_from
        >>> case = case_from({
        ...     "id": "pass", "rule": "Residents with a job get a pass.", "query": "Is a pass due?",
        ...     "aggregation": "all", "conditions": {"home": "Is a resident.", "job": "Has a job."},
        ...     "evidence": [{"id": "e1", "conditions": ["home"], "text": "Lives in Mill Lane."},
        ...                  {"id": "e2", "conditions": ["job"], "text": "Was let go in May."}],
        ...     "labels": {"states": {"home": "satisfied", "job": "not_satisfied"}, "decision": "no"},
        ... })
        >>> for judgment in judge(case):
        ...     print(judgment.evidence, judgment.verdict, "-", judgment.witness)
        e1 not critical - job is not satisfied, so the decision is no whatever home is
        e2 critical - if job were satisfied, the decision would turn from no to yes
        >>> [j.verdict for j in judge(case, {"home": "not satisfied"})]
        ['not critical', 'not critical']
    """
    if mode not in (*MODES, AUTO):
        known = (AUTO, *MODES)
        raise InterPactError(
            f'there is no mode "{mode}"{did_you_mean(mode, known)}; use {", ".join(known)}'
        )
    if not isinstance(case, Case):
        case = Case.load(case)
    if mode == EXACT or (mode == AUTO and states_given(case, states)):
        return judge_exact(case, known_states(case, states))
    if verifier is None:
        from interpact.judging.verifier import shipped

        verifier = shipped()
    return verifier.judge(case, states, mode)


def states_given(case: Case, states: Mapping[str, State | str] | None = None) -> bool:
    """Whether every condition has a state, annotated or set."""
    return isinstance(case, LabelledCase) or all(c in (states or {}) for c in case.conditions)


def known_states(case: Case, states: Mapping[str, State | str] | None = None) -> dict[str, State]:
    """The annotated states of a case with those set on top."""
    found = dict(case.labels.states) if isinstance(case, LabelledCase) else {}
    found |= checked_states(case, states)
    missing = [condition for condition in case.conditions if condition not in found]
    if missing:
        raise CaseProblem(
            f'case "{case.id}": mode exact needs the state of every condition, but '
            f"{', '.join(missing[:5])} {'has' if len(missing) == 1 else 'have'} none; "
            "add labels to the case file or set the states (--set c1=satisfied)"
        )
    return found


def checked_states(case: Case, states: Mapping[str, State | str] | None) -> dict[str, State]:
    """States that are set by hand, for conditions that the case has."""
    found: dict[str, State] = {}
    for condition, state in (states or {}).items():
        if condition not in case.conditions:
            guess = did_you_mean(condition, list(case.conditions))
            raise CaseProblem(f'case "{case.id}" has no condition "{condition}"{guess}')
        try:
            found[condition] = State(state)
        except ValueError:
            known = ", ".join(State)
            raise CaseProblem(
                f'case "{case.id}", condition "{condition}": {state!r} is not a state; use {known}'
            ) from None
    return found
