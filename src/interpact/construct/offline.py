"""The offline editor: deterministic, without a model, and silent where it cannot be sure."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from hashlib import blake2b

from interpact.construct.editors import Abstention, Edit
from interpact.construct.sentences import reversed_sentence, unsafe, weakened_sentence
from interpact.corpus.pairs import LabelledRoot, Operation, Split
from interpact.corpus.store import Corpus

NEEDS_MODEL = "needs a language model"
NO_TEXT = "no text of another component is unrelated enough"

LOOKED_AT = (
    300  # texts that are compared for one edit, so that its time does not grow with the corpus
)
SHARED_WORDS = 1  # content words that an unrelated text may share with what it replaces


@dataclass(frozen=True, slots=True)
class _Borrowable:
    """A text that may serve as irrelevant content elsewhere."""

    components: set[str]
    text: str
    stems: frozenset[str]


class OfflineEditor:
    """Borrows irrelevant texts from other components, and reverses or weakens simple sentences.

    A text is borrowed only from the split of the root, so that no split sees texts of another.
    """

    name = "offline"

    def __init__(self, corpus: Corpus) -> None:
        from interpact.corpus.components import components

        self._component: dict[str, str] = {
            case: component.id
            for component in components(corpus.cases.values())
            for case in component.cases
        }
        split_of: dict[str, Split | None] = {}
        for root in corpus.roots.values():
            split_of[self._component[root.root.case.id]] = root.split
        self._pools: dict[Split | None, dict[str | None, list[_Borrowable]]] = {}
        known: dict[tuple[Split | None, str], _Borrowable] = {}
        for case in corpus.cases.values():
            component = self._component[case.id]
            split = split_of.get(component)
            pool = self._pools.setdefault(split, defaultdict(list))
            for unit in case.evidence:
                text = known.get((split, unit.text))
                if text is not None:
                    text.components.add(component)
                elif _stands_alone(unit.text):
                    text = _Borrowable({component}, unit.text, _stems(unit.text))
                    known[split, unit.text] = text
                    pool[case.source].append(text)

    def request(self, root: LabelledRoot, operation: Operation) -> None:
        """None: nothing is asked."""

    async def edit(self, root: LabelledRoot, operation: Operation) -> Edit | Abstention:
        """The same edit for the same corpus, root and operation, or an abstention."""
        original = root.root.case.unit(root.root.evidence).text
        if operation in (Operation.IRRELEVANT_REPLACEMENT, Operation.DISTRACTOR_INSERTION):
            text = self._borrowed(root, operation)
            return Abstention(NO_TEXT) if text is None else Edit(text, self.name)
        if operation is Operation.POLARITY_REVERSAL:
            text = reversed_sentence(original)
        elif operation is Operation.WEAKENING:
            text = weakened_sentence(original)
        else:
            return Abstention(NEEDS_MODEL)
        return Abstention(unsafe(original)) if text is None else Edit(text, self.name)

    def _borrowed(self, root: LabelledRoot, operation: Operation) -> str | None:
        """A text that shares few words with the conditions and the unit, if possible of its source."""
        case = root.root.case
        component = self._component[case.id]
        unit = case.unit(root.root.evidence).text
        stems = frozenset().union(*map(_stems, (unit, case.query, *case.conditions.values())))
        pool = self._pools.get(root.split, {})
        others = sorted((s for s in pool if s != case.source), key=str)
        for source in [case.source, *others]:
            best = _best(pool.get(source, []), component, stems, _number(root.root.id, operation))
            if best is not None:
                return best
        return None


def _best(
    texts: list[_Borrowable], component: str, stems: frozenset[str], start: int
) -> str | None:
    found: tuple[int, str] | None = None
    for i in range(min(LOOKED_AT, len(texts))):
        text = texts[(start + i) % len(texts)]
        shared = len(text.stems & stems)
        if component in text.components or shared > SHARED_WORDS:
            continue
        if shared == 0:
            return text.text
        found = found or (shared, text.text)
    return found[1] if found else None


def _number(root: str, operation: Operation) -> int:
    return int.from_bytes(blake2b(f"{root}/{operation}".encode(), digest_size=8).digest(), "little")


def _stands_alone(text: str) -> bool:
    """Whether a text is whole sentences of some length: no heading, number or fragment."""
    text = text.strip()
    whole = text[:1].isalnum() and not text[:1].islower() and text[-1:] in '.!”"'
    return whole and 4 <= len(text.split()) <= 60


def _stems(text: str) -> frozenset[str]:
    """The beginnings of the content words."""
    words = re.findall(r"[^\W\d_]{4,}", text.casefold())
    return frozenset(word[:5] for word in words if word not in _COMMON)


_COMMON = frozenset(
    re.findall(
        r"\w+",
        """about above after also been before being below between both could does each either from
        have having here hereby herein hereof hereto into itself just more most must only other over
        same shall should some such than that their them then there these they this those thereof
        through under until upon very were what when where whether which while whom whose will with
        within without would your yours""",
    )
)
