"""ShARC: each utterance of a rule tree gives a case, where one rule reproduces the tree's answers.

The snippet is the rule and the user's question the query; every question that the tree asks is a
condition, worded as it was asked, because that is what was answered and a sentence made of it by
rule would often be wrong. The scenario and each dialogue turn are evidence units (app:provenance).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from interpact.case.case import Evidence, LabelledCase, Labels
from interpact.case.rules import Rule
from interpact.case.states import Decision, State
from interpact.corpus.pairs import RootRecord
from interpact.corpus.sources.ledger import Imported, Ledger
from interpact.corpus.sources.sharc_rules import States, fit_rule
from interpact.corpus.sources.sharc_utterances import (
    Turn,
    Unusable,
    Utterance,
    letters,
    listed_ids,
    merge_questions,
    raw_utterances,
    read_utterance,
)

_NOUNS = ("utterance", "tree", "question", "state", "evidence unit", "turn")
_FATES = ("kept", "dropped", "noted")

Facts = dict[int, bool]
"""The answers to questions of a tree, by position."""


def import_sharc(
    files: Sequence[Path], ledger: Ledger, negative_questions: Path | None = None
) -> Imported:
    """The cases and roots of ShARC files, folders or archives.

    Utterances on the list of negative questions are dropped, as are those answered `Irrelevant`.
    """
    tally = Ledger()
    negative = set() if negative_questions is None else listed_ids(negative_questions)
    trees: dict[str, list[Utterance]] = {}
    seen: set[str] = set()
    for raw in raw_utterances(files):
        tree = raw.get("tree_id") if isinstance(raw, dict) else None
        if isinstance(tree, str) and tree.strip():
            trees.setdefault(tree, [])
        try:
            utterance = read_utterance(raw, negative, tally)
            if utterance.row.utterance_id in seen:
                raise Unusable("its id is taken by an earlier utterance")
        except Unusable as why:
            tally.drop("utterance", str(why))
            continue
        seen.add(utterance.row.utterance_id)
        trees[utterance.row.tree_id].append(utterance)
    cases: list[LabelledCase] = []
    roots: list[RootRecord] = []
    for utterances in trees.values():
        for case, of_case in _Tree(utterances, tally).cases():
            cases.append(case)
            roots += of_case
    rows = sorted(tally.rows(), key=lambda r: (_NOUNS.index(r[0]), _FATES.index(r[1]), -r[3], r[2]))
    for noun, fate, reason, count in rows:
        ledger.counts[noun, fate, reason] += count
    return Imported(cases, roots, ledger)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What an utterance says about the questions of its tree."""

    utterance: Utterance
    said: Facts
    stated: Facts  # by the scenario, as the utterance itself lists it
    scenario: Facts  # by the scenario, as all utterances with the same one list it


class _Tree:
    """The utterances of a tree on their way to cases."""

    def __init__(self, utterances: Sequence[Utterance], tally: Ledger) -> None:
        self.tally = tally
        self.utterances = utterances
        dialogues = [
            [turn.question for turn in (*u.history, *u.evidence)] + ([u.asks] if u.asks else [])
            for u in utterances
        ]
        rule_text = " ".join({u.row.snippet: "" for u in utterances})
        self.questions = merge_questions(dialogues, rule_text)
        for kind, count in self.questions.merged.items():
            tally.drop("question", f"wording merged into another: {kind}", count)
        tally.keep("question", count=len(self.questions.texts))

    def cases(self) -> Iterator[tuple[LabelledCase, list[RootRecord]]]:
        """The cases of the tree, each with its roots."""
        readings = self._readings()
        votes: dict[States, Counter[Decision]] = {}
        for r in readings:
            votes.setdefault(self._state(r.said, r.stated), Counter())[r.utterance.decision] += 1
        disputed = {state for state, decisions in votes.items() if len(decisions) > 1}
        for state in disputed:
            both = {Decision.YES, Decision.NO} <= votes[state].keys()
            kind = "Yes and No" if both else "a decision and a further question"
            self.tally.drop("state", f"contradictory: answered by {kind}")
        self.tally.keep("state", count=len(votes) - len(disputed))
        fit = fit_rule(votes)
        kept = 0
        texts: set[tuple[str, ...]] = set()
        for r in readings:
            try:
                if fit.aggregation is None:
                    raise Unusable(f"its tree has no rule: {fit.outcome}")
                case = self._case(r, fit.aggregation)
                text = (case.rule, case.query, *(unit.text for unit in case.evidence))
                if text in texts:
                    raise Unusable("repeats an earlier utterance word for word")
            except Unusable as why:
                self.tally.drop("utterance", str(why))
                continue
            kept += 1
            texts.add(text)
            yield case, self._account(r, case, disputed)
        if kept:
            self.tally.keep("tree", f"rule: {fit.outcome}")
        elif readings and fit.aggregation is None:
            size = "one question" if len(self.questions.texts) == 1 else "several questions"
            self.tally.drop("tree", f"{size}: {fit.outcome}")
        else:
            self.tally.drop("tree", "none of its utterances is kept")

    def _readings(self) -> list[_Reading]:
        """The utterances that contradict neither themselves nor each other's scenario."""
        stated: list[tuple[Utterance, Facts, Facts]] = []
        scenarios: dict[str, set[tuple[int, bool]]] = {}
        for u in self.utterances:
            said, evidence = self._facts(u.history), self._facts(u.evidence)
            if said is None or evidence is None:
                self.tally.drop("utterance", "answers one question both ways")
            elif evidence and not u.row.scenario:
                self.tally.drop("utterance", "lists evidence without a scenario")
            else:
                stated.append((u, said, evidence))
                scenarios.setdefault(letters(u.row.scenario), set()).update(evidence.items())
        readings: list[_Reading] = []
        for u, said, evidence in stated:
            listed = scenarios[letters(u.row.scenario)] if u.row.scenario else set()
            scenario = dict(sorted(listed))
            if len(scenario) < len(listed):
                self.tally.drop("utterance", "its scenario is read in two ways")
            elif any(said.get(i, answer) is not answer for i, answer in scenario.items()):
                self.tally.drop("utterance", "its history contradicts its scenario")
            else:
                readings.append(_Reading(u, said, evidence, scenario))
        return readings

    def _facts(self, turns: Iterable[Turn]) -> Facts | None:
        facts: Facts = {}
        for turn in turns:
            if facts.setdefault(self.questions.of(turn.question), turn.answer) is not turn.answer:
                return None
        return facts

    def _state(self, *facts: Facts) -> States:
        known = {i: answer for some in facts for i, answer in some.items()}
        state = {None: State.UNKNOWN, True: State.SATISFIED, False: State.NOT_SATISFIED}
        return tuple(state[known.get(i)] for i in range(len(self.questions.texts)))

    def _case(self, reading: _Reading, aggregation: str) -> LabelledCase:
        u = reading.utterance
        state = self._state(reading.said, reading.scenario)
        states = {f"c{i}": value for i, value in enumerate(state, 1)}
        if u.asks and state[self.questions.of(u.asks)] is not State.UNKNOWN:
            raise Unusable("asks what its history or scenario answers")
        decide = Rule.parse(aggregation).decide
        if decide(states) is not u.decision:
            own = self._state(reading.said, reading.stated)
            if decide({f"c{i}": value for i, value in enumerate(own, 1)}) is u.decision:
                raise Unusable("its answer overlooks what its scenario says")
            raise Unusable("its answer is not what the rule of its tree gives")
        units: list[tuple[str, Iterable[int]]] = [
            (turn.text, [self.questions.of(turn.question)]) for turn in u.history
        ]
        if u.row.scenario:
            units.insert(0, (u.row.scenario, reading.scenario))
        return LabelledCase(
            id=f"sharc-{u.row.utterance_id}",
            source="sharc",
            document=u.row.source_url or None,
            rule_family=u.row.tree_id,
            rule=u.row.snippet,
            query=u.row.question,
            aggregation=aggregation,
            conditions={f"c{i}": text for i, text in enumerate(self.questions.texts, 1)},
            evidence=tuple(
                Evidence(id=f"e{i}", conditions=tuple(f"c{at + 1}" for at in bears_on), text=text)
                for i, (text, bears_on) in enumerate(units, 1)
            ),
            labels=Labels(states=states, decision=u.decision),
        )

    def _account(
        self, reading: _Reading, case: LabelledCase, disputed: set[States]
    ) -> list[RootRecord]:
        """The roots of a case: its units that bear on exactly one condition.

        A scenario whose facts no utterance lists may still state what a turn says. Turns that share
        a longer word with it are no roots, since an edit of the turn would leave the fact standing.
        """
        note, scenario = self.tally.note, reading.utterance.row.scenario
        self.tally.keep("utterance", f"decision {case.labels.decision}")
        if self._state(reading.said, reading.stated) in disputed:
            note("utterance", "in a contradictory state, with the answer that the rule gives")
        if reading.said.keys() & reading.scenario.keys():
            note("utterance", "its history repeats a fact of its scenario: several units")
        if reading.scenario.keys() - reading.stated.keys():
            note("utterance", "facts of its scenario taken from other utterances")
        unread = scenario if scenario and not reading.scenario else ""
        if unread:
            note("utterance", "no utterance lists a fact of its scenario")
        roots: list[RootRecord] = []
        for unit in case.evidence:
            if len(unit.conditions) != 1:
                many = "several conditions" if unit.conditions else "no condition"
                self.tally.drop("evidence unit", f"no root: bears on {many}")
            elif _stems(unit.text) & _stems(unread):
                self.tally.drop("evidence unit", "no root: the scenario may say the same, unlisted")
            else:
                self.tally.keep("evidence unit", "root")
                name, of = f"{case.id}/{unit.id}", unit.conditions[0]
                roots.append(RootRecord(id=name, case=case.id, evidence=unit.id, condition=of))
        if not roots:
            note("utterance", "a case without a root")
        return roots


def _stems(text: str) -> set[str]:
    """The beginnings of the longer words."""
    return {word[:5] for word in re.findall(r"[^\W\d_]{5,}", text.casefold())}
