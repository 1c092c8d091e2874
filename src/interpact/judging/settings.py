"""What a verifier has besides its weights: judge.json, fitted by `interpact calibrate`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from interpact.case.files import replacing
from interpact.case.states import State
from interpact.errors import InterPactError
from interpact.judging.engines.protocol import Chances
from interpact.judging.exact import reach

JUDGE = "judge.json"


class StatePrompt(StrEnum):
    """How a verifier is asked for a state; it has to be asked as it was trained."""

    OWN = "own_state"  # from the condition's own units alone
    WHOLE = "after_state"  # from the whole case, as in the paper


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Platt(_Part):
    """A calibrated probability is the logistic function of scale * logit(score) + shift."""

    scale: float = 1.0
    shift: float = 0.0

    def __call__(self, score: float) -> float:
        return _logistic(self.scale * logit(score) + self.shift)


class StateScaling(_Part):
    """Corrects state probabilities: log q' = scale * log q + bias, normalised."""

    scale: float = 1.0
    bias: Chances = (0.0, 0.0, 0.0)

    def __call__(self, chances: Chances) -> Chances:
        logs = [
            self.scale * math.log(max(q, 1e-9)) + bias
            for q, bias in zip(chances, self.bias, strict=True)
        ]
        weights = [math.exp(log - max(logs)) for log in logs]
        satisfied, not_satisfied, unknown = (weight / sum(weights) for weight in weights)
        return satisfied, not_satisfied, unknown


class Reach(_Part):
    """How likely some edit of one unit takes its condition into one of some states.

    A logistic model over `features`; without weights the shares counted in mode exact.
    """

    weights: tuple[float, ...] = ()

    def __call__(self, state: State, into: frozenset[State], others: int, held: float) -> float:
        if not into:
            return 0.0
        if not self.weights:
            return reach(others)
        found = features(state, into, others, held)
        return _logistic(sum(w * x for w, x in zip(self.weights, found, strict=True)))


def features(state: State, into: frozenset[State], others: int, held: float) -> tuple[float, ...]:
    """What reaching depends on; `held` is the chance that the state stays when the unit is removed."""
    return (
        1.0,
        float(others > 0),
        math.log(max(others, 1)),
        float(state is State.NOT_SATISFIED) * float(others > 0),
        float(len(into) == 1),
        float(len(into) == 1) * float(others > 0),
        held if others else 0.0,
    )


class Conformal(_Part):
    """Scores of labelled development units, apart from those that calibration has seen."""

    critical: tuple[float, ...] = ()
    not_critical: tuple[float, ...] = ()

    @property
    def least_risk(self) -> float:
        """The smallest risk at which anything can be judged."""
        return 1 / (min(len(self.critical), len(self.not_critical)) + 1)

    def verdict(self, score: float, risk: float) -> bool | None:
        """The label that conforms better, unless both conform at this risk: then None (abstain).

        A label is wrong only where the true one does not conform, which for units like these is so
        for a share of at most `risk`, among the critical ones and among the others.
        """
        low = (sum(s <= score for s in self.critical) + 1) / (len(self.critical) + 1)
        high = (sum(s >= score for s in self.not_critical) + 1) / (len(self.not_critical) + 1)
        return None if min(low, high) > risk else low > high


class ModeSettings(_Part):
    """What was fitted for one mode, and how it did on development roots."""

    platt: Platt = Platt()
    conformal: Conformal = Conformal()
    dev: dict[str, float | None] = Field(default_factory=dict[str, float | None])


class JudgeSettings(_Part):
    """The settings of a verifier; the defaults are those of one that nobody has calibrated."""

    format: int = 1
    backbone: str = "smollm2"
    state_prompt: StatePrompt = StatePrompt.OWN
    estimator: str | None = "."  # folders of adapters; None is the backbone by itself
    paired: str | None = "."
    mode: str = "propagate"  # the winner on development roots
    states: StateScaling = StateScaling()
    reach: Reach = Reach()
    modes: dict[str, ModeSettings] = Field(default_factory=dict[str, ModeSettings])
    corpus: dict[str, int] = Field(default_factory=dict[str, int])  # what was calibrated on

    def of(self, mode: str) -> ModeSettings:
        """What was fitted for a mode."""
        return self.modes.get(mode, ModeSettings())

    @staticmethod
    def read(folder: Path) -> JudgeSettings:
        """The settings in a folder."""
        path = folder / JUDGE
        try:
            return JudgeSettings.model_validate_json(path.read_bytes())
        except OSError as error:
            raise InterPactError(f"{path}: cannot be read: {error.strerror or error}") from None
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise InterPactError(
                f"{path}: {where}: {first['msg']}; write it anew with `interpact calibrate`"
            ) from None

    def write(self, folder: Path) -> None:
        """Write the settings into a folder, all or nothing."""
        with replacing(folder / JUDGE) as part:
            part.write_text(self.model_dump_json(indent=1) + "\n", encoding="utf-8")


def logit(p: float) -> float:
    """The logit of a probability, kept finite."""
    p = min(max(p, 1e-6), 1 - 1e-6)
    return math.log(p) - math.log1p(-p)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))


def certain(state: State) -> Chances:
    """All chance on one state."""
    satisfied, not_satisfied, unknown = (float(other is state) for other in State)
    return satisfied, not_satisfied, unknown


def likeliest(chances: Sequence[float]) -> State:
    """The most likely state."""
    return list(State)[max(range(3), key=lambda i: chances[i])]
