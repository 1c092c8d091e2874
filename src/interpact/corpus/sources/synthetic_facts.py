"""Facts of the synthetic source: what a clause leaves possible, and the edits of a fact.

A state is never written down: it follows from what the facts about a topic leave possible and from
what the condition accepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import NamedTuple, TypeVar

from interpact.case.states import State
from interpact.corpus.sources.synthetic_domains import Choice, Measure, Topic, YesNo

T = TypeVar("T")

FAR = 10**9
LEAST = 2  # grid steps: no clause counts in ones, so none needs a singular


class Span(NamedTuple):
    """All amounts or days from `low` to `high`, in grid steps."""

    low: int
    high: int


Extent = Span | frozenset[int]
"""Values that are possible or accepted: a span, or positions in a list of choices."""

NO, YES = frozenset((0,)), frozenset((1,))


class Fact(NamedTuple):
    """What a clause says: its form, the values it names, whether it denies them."""

    form: str
    values: tuple[int, ...]
    denied: bool = False
    confirmed: bool = True


@dataclass(frozen=True, slots=True)
class Matter:
    """A topic in one document: what is hoped for, what is feared, and how things really are."""

    topic: Topic
    hoped: Extent
    feared: Extent
    everything: Extent
    truth: int
    limit: int = 0

    @property
    def low_side(self) -> bool:
        """Whether the true amount is on the lower side of the limit."""
        return isinstance(self.topic, Measure) and self.truth < self.limit + self.topic.most


def pick(rng: Random, options: Sequence[T]) -> T:
    """One of the options; a third of the time that `Random.choice` takes."""
    return options[int(rng.random() * len(options))]


def both(one: Extent, other: Extent) -> Extent | None:
    """What lies in both extents of a topic, if anything does."""
    if isinstance(one, Span) and isinstance(other, Span):
        low, high = max(one.low, other.low), min(one.high, other.high)
        return Span(low, high) if low <= high else None
    assert not isinstance(one, Span) and not isinstance(other, Span)
    return one & other or None


def state_of(possible: Extent, accepted: Extent) -> State:
    """The state of a condition that accepts some values, of which these are possible."""
    common = both(possible, accepted)
    if common is None:
        return State.NOT_SATISFIED
    return State.SATISFIED if common == possible else State.UNKNOWN


def possible(matter: Matter, fact: Fact) -> Extent:
    """The values that a fact leaves possible."""
    if not fact.confirmed or fact.form == "open":
        return matter.everything
    match matter.topic, fact:
        case Measure(), Fact("upper", (v,), denied):
            return Span(v + 1, FAR) if denied else Span(-FAR, v)
        case Measure(), Fact("lower", (v,), denied):
            return Span(-FAR, v - 1) if denied else Span(v, FAR)
        case Measure(), Fact(_, values):
            return Span(values[0], values[-1])
        case YesNo() as topic, Fact("other", (i,)):
            return YES if topic.others[i][1] else NO
        case YesNo(), Fact(_, _, denied):
            return NO if denied else YES
        case _:
            named = frozenset(fact.values)
            everything = matter.everything
            assert not isinstance(everything, Span)
            return everything - named if fact.denied else named


@lru_cache(maxsize=4096)
def clauses(topic: Topic, form: str, which: int, denied: bool) -> tuple[str, ...]:
    """The wordings of one fact; `which` matters where each clause is a fact of its own."""
    match topic, form:
        case _, "open":
            return (topic.open[which],)
        case YesNo(), "other":
            return (topic.others[which][0],)
        case YesNo(), _:
            same = (topic.says[which], *topic.reworded[which : which + 1])
            return tuple(pair[denied] for pair in same)
        case Measure(), "exact" | "between":
            return topic.exact if form == "exact" else topic.between
        case Measure(), _:
            return tuple(pair[denied] for pair in (topic.upper if form == "upper" else topic.lower))
        case Choice(), _:
            return tuple(
                pair[denied] for pair in (topic.exact if form == "exact" else topic.either)
            )


def wordings(topic: Topic, fact: Fact) -> tuple[str, ...]:
    """The clauses that say a fact."""
    own = isinstance(topic, YesNo) or fact.form == "open"
    return clauses(topic, fact.form, fact.values[0] if own else 0, fact.denied)


def draw_matter(rng: Random, topic: Topic, favourable: bool) -> Matter:
    """A topic's limit and truth, as one hopes or not."""
    if isinstance(topic, Measure):
        limit = pick(rng, topic.limits)
        below = Span(-FAR, limit if topic.most else limit - 1)
        above = Span(below.high + 1, FAR)
        hoped, feared = (below, above) if topic.most else (above, below)
        truth = _amount(rng, topic, limit, favourable)
        return Matter(topic, hoped, feared, Span(-FAR, FAR), truth, limit)
    if isinstance(topic, Choice):
        values = range(len(topic.values))
        accepted = frozenset(rng.sample(values, pick(rng, (1, 1, 2))))
        everything = frozenset((*values, len(values)))  # the last: a value not listed
        refused = everything - accepted
        side = accepted if favourable else refused - {len(values)}
        return Matter(topic, accepted, refused, everything, pick(rng, sorted(side)))
    return Matter(topic, YES, NO, YES | NO, int(favourable))


def _amount(rng: Random, topic: Measure, limit: int, favourable: bool) -> int:
    away = int(topic.spread * rng.random() ** 1.5)  # mostly near the limit
    lower = topic.most == favourable
    return (limit - away - (not topic.most)) if lower else (limit + away + topic.most)


def draw_fact(rng: Random, matter: Matter) -> Fact:
    """Something true to say about a matter, or that nothing is known."""
    topic, truth, luck = matter.topic, matter.truth, rng.random()
    if luck < 0.08:
        return Fact("open", (int(rng.random() * len(topic.open)),))
    if isinstance(topic, Measure):
        if luck < 0.45:
            return Fact("exact", (truth,))
        if luck < 0.6:
            return _between(rng, topic, truth)
        return _bound(rng, matter, settles=luck < 0.9) or Fact("exact", (truth,))
    if isinstance(topic, Choice):
        if luck < 0.6:
            return Fact("exact", (truth,))
        if luck < 0.75:
            return _either(rng, topic, truth)
        others = [i for i in range(len(topic.values)) if i != truth]
        named = [i for i in sorted(matter.hoped) if i != truth]  # type: ignore[arg-type]
        return Fact("exact", (pick(rng, named if named and luck < 0.93 else others),), True)
    return _yes_no(rng, topic, bool(truth), luck < 0.7)


def _yes_no(rng: Random, topic: YesNo, truth: bool, says: bool) -> Fact:
    if says:
        return Fact("says", (int(rng.random() * len(topic.says)),), not truth)
    return Fact("other", (pick(rng, [i for i, (_, t) in enumerate(topic.others) if t is truth]),))


def _between(rng: Random, topic: Measure, value: int) -> Fact:
    width = max(2, topic.spread // 2)
    low, high = value - rng.randint(1, width), value + rng.randint(1, width)
    return Fact("between", (low if topic.show == "date" else max(LEAST, low), high))


def _either(rng: Random, topic: Choice, value: int) -> Fact:
    other = pick(rng, [i for i in range(len(topic.values)) if i != value])
    return Fact("either", (value, other) if rng.random() < 0.5 else (other, value))


def _bound(rng: Random, matter: Matter, settles: bool) -> Fact | None:
    """A bound that the truth keeps, and that settles on which side of the limit it lies, or not."""
    topic, truth, limit = matter.topic, matter.truth, matter.limit
    assert isinstance(topic, Measure)
    last = limit if topic.most else limit - 1  # the highest value of the lower side
    far = max(2, topic.spread // 2)
    match matter.low_side, settles:
        case True, True:
            kinds = [("upper", False, truth, last), ("lower", True, truth + 1, last + 1)]
        case False, True:
            kinds = [("lower", False, last + 1, truth), ("upper", True, last, truth - 1)]
        case True, False:
            kinds = [("lower", False, truth - far, truth), ("upper", False, last + 1, last + far)]
        case _:
            kinds = [("upper", False, truth, truth + far), ("lower", False, last - far, last)]
    rng.shuffle(kinds)
    for form, denied, low, high in kinds:
        if not (topic.upper if form == "upper" else topic.lower):
            continue
        value = (
            limit
            if low <= limit <= high and rng.random() < 0.5
            else rng.randint(low, max(low, high))
        )
        if low <= high and _clear(topic, form, value, limit):
            return Fact(form, (value,), denied)
    return None


def _clear(topic: Measure, form: str, value: int, limit: int) -> bool:
    """Whether a bound reads the same for whole and for broken amounts, also when denied.

    "Less than 5" against "at most 4" would turn on whether 4.5 is an amount.
    """
    if value < LEAST and topic.show != "date":
        return False
    return value != (limit + 1 if form == "lower" else limit - 1) or topic.most == (form == "upper")


def weakened(rng: Random, matter: Matter, fact: Fact) -> Fact | None:
    """The fact with less content; unconfirmed where its form knows no less."""
    if not fact.confirmed or fact.form == "open":
        return None
    match matter.topic, fact:
        case Measure() as topic, Fact("exact", (v,)) if rng.random() < 0.6:
            return _between(rng, topic, v)
        case Measure() as topic, Fact("between", (a, b)) if rng.random() < 0.4:
            more = rng.randint(1, max(2, topic.spread // 2))
            return Fact("between", (a, b + more))
        case Measure() as topic, Fact("upper" | "lower" as form, (v,), denied) if (
            rng.random() < 0.5
        ):
            away = rng.randint(1, max(2, topic.spread // 2))
            looser = v + away if (form == "upper") != denied else v - away
            if _clear(topic, form, looser, matter.limit):
                return Fact(form, (looser,), denied)
        case Choice() as topic, Fact("exact", (v,), False) if rng.random() < 0.6:
            return _either(rng, topic, v)
        case _:
            pass
    return fact._replace(confirmed=False)


def strengthened(rng: Random, matter: Matter, fact: Fact) -> Fact:
    """The fact made more specific where its form allows; the same otherwise."""
    if not fact.confirmed:
        return fact._replace(confirmed=True)
    loose = fact.form in ("between", "upper", "lower") or (
        fact.form == "either" and not fact.denied
    )
    return Fact("exact", (matter.truth,)) if loose and rng.random() < 0.7 else fact


def reversed_(matter: Matter, fact: Fact) -> Fact | None:
    """The fact denied, where its form has a denial."""
    pairs = ("says",) if isinstance(matter.topic, YesNo) else ("upper", "lower")
    if isinstance(matter.topic, Choice):
        pairs = ("exact", "either")
    return fact._replace(denied=not fact.denied) if fact.form in pairs else None


def replaced(rng: Random, matter: Matter, fact: Fact, alone: bool) -> Fact:
    """Another fact about the same topic; that nothing is known only where no other unit knows."""
    topic = matter.topic
    if isinstance(topic, Measure):
        away = _elsewhere(rng, topic, matter, fact)
        other = replace(matter, truth=away)
        if fact.form in ("upper", "lower"):
            bound = _bound(rng, other, settles=rng.random() < 0.8)
            if bound is not None and bound.values != fact.values:
                return bound
        return Fact("exact", (away,))
    if isinstance(topic, Choice):
        truth = pick(rng, [i for i in range(len(topic.values)) if i not in fact.values])
        return Fact("exact", (truth,))
    if alone and fact.form != "open" and rng.random() < 0.2:
        return Fact("open", (int(rng.random() * len(topic.open)),))
    return _other(rng, topic, fact)


def _elsewhere(rng: Random, topic: Measure, matter: Matter, fact: Fact) -> int:
    """Another amount than the fact names, outside the range that it gives."""
    away = _amount(rng, topic, matter.limit, rng.random() < 0.5)
    low, high = fact.values if fact.form == "between" else (matter.truth, matter.truth)
    if not low <= away <= high:
        return away
    below = low - 1 - int(rng.random() * topic.spread / 3)
    if rng.random() < 0.5 and (below >= LEAST or topic.show == "date"):
        return below
    return high + 1 + int(rng.random() * topic.spread / 3)


def _other(rng: Random, topic: YesNo, fact: Fact) -> Fact:
    facts = [Fact("other", (i,)) for i in range(len(topic.others))]
    if fact.form == "other":
        # A second look at the same side would be a paraphrase, not another fact.
        denied = topic.others[fact.values[0]][1]
        facts += [Fact("says", (i,), denied) for i in range(len(topic.says))]
    return pick(rng, [other for other in facts if other[:2] != fact[:2]])
