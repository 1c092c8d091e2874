"""The sentences that say why evidence is critical or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interpact.case.rules import Change
from interpact.case.states import Decision, State

MAX_LISTED = 4


def listed(names: Sequence[str], most: int = MAX_LISTED) -> str:
    """`c1`, `c1 and c2`, `c1, c2 and 7 others`."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1:,} others"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def turns(change: Mapping[str, State], before: Decision, after: Decision) -> str:
    """What would turn the decision: `if c1 were not satisfied, the decision would turn from yes to no`."""
    return f"if {_were(change)}, the decision would turn from {before} to {after}"


def stays(
    condition: str, because: Sequence[str] | None, states: Mapping[str, State], decision: Decision
) -> str:
    """Why the decision cannot turn on a condition."""
    if not because:
        return f"the other conditions fix the decision at {decision}, whatever {condition} is"
    return f"{_are(because, states)}, so the decision is {decision} whatever {condition} is"


def predicted(states: Mapping[str, tuple[State, float]]) -> str:
    """Predicted states with their probabilities: `predicted: c1 satisfied 0.93, c2 unknown 0.60`."""
    told = ", ".join(f"{c} {state.words} {chance:.2f}" for c, (state, chance) in states.items())
    return f"predicted: {told}"


def changes_by(edit: str, unit: str, decision: Decision, chance: float) -> str:
    """What an edit was predicted to do."""
    return (
        f"{edit.replace('_', ' ')} of {unit} would change the decision from {decision} with "
        f"probability {chance:.2f}"
    )


def settles(change: Change) -> str:
    """What would settle an insufficient decision: `yes, if c2 and c3 are satisfied`."""
    return f"{change.decision}, if {_are(list(change.states), change.states)}"


def flips(change: Change) -> str:
    """What a minimal flip set does: `no, if c2 were not satisfied`."""
    return f"{change.decision}, if {_were(change.states)}"


def _were(change: Mapping[str, State]) -> str:
    return _grouped(list(change), change, "were", "were")


def _are(conditions: Sequence[str], states: Mapping[str, State]) -> str:
    return _grouped(conditions, states, "is", "are")


def _grouped(conditions: Sequence[str], states: Mapping[str, State], one: str, many: str) -> str:
    groups = [(state, [c for c in conditions if states[c] is state]) for state in State]
    return " and ".join(
        f"{listed(members)} {one if len(members) == 1 else many} {state.words}"
        for state, members in groups
        if members
    )
