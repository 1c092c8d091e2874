"""Documents of the synthetic source: what their units state, how that reads, and how it is edited."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import cache
from random import Random
from typing import NamedTuple

from interpact.corpus.pairs import Operation
from interpact.corpus.sources import synthetic_domains as words
from interpact.corpus.sources.synthetic_domains import Choice, Domain, Measure, Topic, YesNo
from interpact.corpus.sources.synthetic_facts import (
    Fact,
    Matter,
    draw_fact,
    draw_matter,
    pick,
    replaced,
    reversed_,
    strengthened,
    weakened,
    wordings,
)

MONTHS, FIRST_NAMES = words.MONTHS.split(), words.FIRST_NAMES.split()
PLACES = [stem + ending for stem in words.STEMS.split() for ending in words.ENDINGS.split()]
SURNAMES = words.SURNAMES.split() + PLACES
DATE_STYLES = ("{d} {m} {y}", "{m} {d}, {y}", "{d}.{n}.{y}")
INITIALS = "ABCDEFGHJKLMNOPRSTVWY"
STRIDE = 618_033  # coprime to a million: so many documents differ in their reference
SAYS_UNKNOWN = 2  # how many of the tails fit a clause which says that something is not known


class Statement(NamedTuple):
    """A fact with its wording: which clause, what introduces it and what supports it."""

    fact: Fact
    phrasing: int
    lead: str = ""
    tail: str = ""


class Document:
    """The people, limits, truths and statements that a few cases share."""

    def __init__(self, rng: Random, number: int) -> None:
        self.rng = rng
        self.domain: Domain = pick(rng, words.DOMAINS)
        self.start = date(2017, 1, 1).toordinal() + rng.randrange(3000)
        self.date_style = pick(rng, DATE_STYLES)
        self.luck = pick(rng, (0.25, 0.5, 0.75, 0.95))  # the share of topics that are as hoped
        place, seat = rng.sample(PLACES, 2)
        self.names = {
            "who": f"{pick(rng, FIRST_NAMES)} {pick(rng, INITIALS)}. {pick(rng, SURNAMES)}",
            "expert": self.person(),
            "place": place,
            "org": pick(rng, self.domain.organisations).format(seat),
            "ref": self.domain.reference.format(f"{(number * STRIDE + STRIDE) % 10**6:06}"),
        }
        self.matters: dict[Topic, Matter] = {}
        self.statements: dict[Topic, tuple[Statement, ...]] = {}

    def person(self) -> str:
        """Somebody's name."""
        return f"{pick(self.rng, FIRST_NAMES)} {pick(self.rng, SURNAMES)}"

    def matter(self, topic: Topic) -> Matter:
        """The limit and the truth of a topic in this document."""
        if topic not in self.matters:
            self.matters[topic] = draw_matter(self.rng, topic, self.rng.random() < self.luck)
        return self.matters[topic]

    def evidence(self, topic: Topic) -> tuple[Statement, ...]:
        """What the units of this document state about a topic: none, one or two statements."""
        if topic not in self.statements:
            self.statements[topic] = self._draw_statements(self.matter(topic))
        return self.statements[topic]

    def _draw_statements(self, matter: Matter) -> tuple[Statement, ...]:
        rng = self.rng
        if rng.random() < 0.08:
            return ()
        first = self._state(matter, draw_fact(rng, matter), hedged=rng.random() < 0.07)
        if not first.fact.confirmed or first.fact.form == "open" or rng.random() < 0.75:
            return (first,)
        second = self._state(matter, draw_fact(rng, matter), hedged=rng.random() < 0.2)
        same = (second.fact[:3], second.phrasing) == (first.fact[:3], first.phrasing)
        return (first,) if same or second.fact.form == "open" else (first, second)

    def _state(self, matter: Matter, fact: Fact, hedged: bool) -> Statement:
        rng = self.rng
        phrasing, luck = rng.randrange(len(wordings(matter.topic, fact))), rng.random()
        if fact.form == "open":
            lead = self.fill(pick(rng, words.LEADS)) if luck < 0.2 else ""
            return Statement(fact, phrasing, lead, self.tail(fact) if luck > 0.8 else "")
        if hedged:
            return Statement(
                fact._replace(confirmed=False), phrasing, self.fill(pick(rng, words.HEDGES))
            )
        leads = words.LEADS if luck < 0.2 else words.ASSURANCES if luck < 0.45 else ("",)
        tail = self.tail(fact) if rng.random() < 0.15 else ""
        return Statement(fact, phrasing, self.fill(pick(rng, leads)), tail)

    def tail(self, fact: Fact) -> str:
        """Some support for a fact."""
        return self.fill(
            pick(self.rng, words.TAILS[:SAYS_UNKNOWN] if fact.form == "open" else words.TAILS)
        )

    def fill(self, pattern: str) -> str:
        """The pattern with names, a record, a late date and a small number; a clause stays open."""
        drawn = {slot: draw(self) for slot, draw in _slots(pattern)}
        return pattern.format(**self.names, **drawn) if "{" in pattern else pattern

    def day(self, day: int) -> str:
        """A day, counted from the document's first, as the document writes dates."""
        on = date.fromordinal(self.start + day)
        return self.date_style.format(d=on.day, m=MONTHS[on.month - 1], n=on.month, y=on.year)

    def shown(self, topic: Topic, value: int) -> str:
        """A value of a topic as the document writes it."""
        if isinstance(topic, Measure):
            if topic.show == "date":
                return self.day(value)
            return topic.show.format(value * topic.grid)
        assert isinstance(topic, Choice)
        return topic.values[value]

    def say(self, topic: Topic, statement: Statement) -> str:
        """The statement as a sentence."""
        fact = statement.fact
        options = wordings(topic, fact)
        clause = options[statement.phrasing % len(options)]
        named: dict[str, str] = {}
        if fact.form != "open" and not isinstance(topic, YesNo):
            shown = [self.shown(topic, value) for value in fact.values]
            named = {"v": shown[0], "a": shown[0], "b": shown[-1]}
            if fact.form == "between" and isinstance(topic, Measure):
                unit = topic.show.partition("}")[2]
                if unit.startswith(" "):  # "from 9 to 12 nights"
                    named["a"] = shown[0].removesuffix(unit)
        clause = clause.format(**self.names, **named)
        if statement.lead:
            clause = statement.lead.replace("{clause}", clause)
        return sentence(clause + statement.tail)

    def condition(self, topic: Topic, hoped: bool) -> str:
        """A condition that accepts what one hopes for, or what one fears."""
        matter = self.matter(topic)
        named: dict[str, str] = {}
        if isinstance(topic, Measure):
            named["limit"] = self.shown(topic, matter.limit)
        elif isinstance(topic, Choice) and not isinstance(matter.hoped, tuple):
            named["these"] = " or ".join(topic.values[i] for i in sorted(matter.hoped))
        wording = pick(self.rng, topic.asks if hoped else topic.bars)
        return wording.format(**self.names, **named)

    def edited(
        self, topic: Topic, statement: Statement, operation: Operation, alone: bool
    ) -> Statement | None:
        """The statement after an operation that rewrites it; none where it does not admit one."""
        matter = self.matter(topic)
        match operation:
            case Operation.POLARITY_REVERSAL:
                fact = reversed_(matter, statement.fact)
                return fact and statement._replace(fact=fact)
            case Operation.ALTERNATIVE_REPLACEMENT:
                return self._replaced(matter, statement, alone)
            case Operation.WEAKENING:
                fact = weakened(self.rng, matter, statement.fact)
                if fact is None or fact.confirmed:
                    return fact and statement._replace(fact=fact, tail="")
                return statement._replace(
                    fact=fact, lead=self.fill(pick(self.rng, words.HEDGES)), tail=""
                )
            case Operation.STRENGTHENING:
                return self._strengthened(matter, statement)
            case _:
                return self._paraphrased(topic, statement)

    def _replaced(self, matter: Matter, statement: Statement, alone: bool) -> Statement:
        fact = replaced(self.rng, matter, statement.fact, alone)
        if "open" in (fact.form, statement.fact.form):
            return Statement(fact, statement.phrasing)
        return statement._replace(fact=fact._replace(confirmed=statement.fact.confirmed))

    def _strengthened(self, matter: Matter, statement: Statement) -> Statement | None:
        fact = strengthened(self.rng, matter, statement.fact)
        if fact.confirmed and not statement.fact.confirmed:
            lead = self.fill(pick(self.rng, words.ASSURANCES))
            return statement._replace(fact=fact, lead=lead)
        if fact is not statement.fact:
            return statement._replace(fact=fact)
        return None if statement.tail else statement._replace(tail=self.tail(fact))

    def _paraphrased(self, topic: Topic, statement: Statement) -> Statement | None:
        count = len(wordings(topic, statement.fact))
        if count > 1:
            step = self.rng.randrange(1, count)
            return statement._replace(phrasing=(statement.phrasing + step) % count)
        if statement.lead:
            return None
        return statement._replace(lead=self.fill(pick(self.rng, words.LEADS)))


def sentence(clause: str) -> str:
    """The clause with a capital and a full stop."""
    return f"{clause[0].upper()}{clause[1:]}."


_DRAWN: dict[str, Callable[[Document], str]] = {
    "helper": lambda d: d.person(),
    "record": lambda d: f"entry {d.rng.randint(100, 999)} of {pick(d.rng, d.domain.records)}",
    "date": lambda d: d.day(d.rng.randint(240, 330)),
    "n": lambda d: str(d.rng.randint(3, 40)),
    "clause": lambda d: "{clause}",
}


@cache
def _slots(pattern: str) -> tuple[tuple[str, Callable[[Document], str]], ...]:
    return tuple((slot, draw) for slot, draw in _DRAWN.items() if f"{{{slot}}}" in pattern)
