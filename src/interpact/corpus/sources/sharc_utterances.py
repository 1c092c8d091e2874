"""ShARC as published: its files, the utterances in them, and the questions that a tree asks."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from interpact.case.case import Id, Text
from interpact.case.formats import FormatError, decode, parse_json
from interpact.case.states import Decision
from interpact.corpus.sources.ledger import Ledger
from interpact.corpus.sources.published import failed, read_all

PUBLISHED = (
    "ShARC is published at https://sharc-data.github.io under CC BY-SA 3.0; "
    "download its archive and give the .zip, the folder in it, or its JSON files"
)

_SHORT_WORD = 3
# What distinguishes 1.5 from 15, or < from >, counts as well.
_TELLING = re.compile(r"[^\W_]|[<>=+±%$£€¥]|(?<=\d)[.:/⁄–-](?=\d)")


# ---- utterances ------------------------------------------------------------------------------

_AnyText = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[^\x00]*$")]
_SomeText = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[^\x00]+$")]


class Row(BaseModel):
    """An utterance as published."""

    utterance_id: Annotated[Id, Field(max_length=200)]
    tree_id: Text
    source_url: _AnyText = ""
    snippet: _SomeText
    question: _SomeText
    scenario: _AnyText
    answer: _AnyText
    history: list[dict[str, _AnyText]]
    evidence: list[dict[str, _AnyText]]


@dataclass(frozen=True, slots=True)
class Turn:
    """A follow-up question that was answered with yes or no."""

    question: str
    answer: bool

    @property
    def text(self) -> str:
        """The turn as one evidence unit."""
        return f"{self.question.rstrip(' ?')}? {'Yes' if self.answer else 'No'}."


@dataclass(frozen=True, slots=True)
class Utterance:
    """A dialogue state and its answer: a decision or, when insufficient, the question it asks."""

    row: Row
    history: tuple[Turn, ...]
    evidence: tuple[Turn, ...]
    decision: Decision
    asks: str | None


class Unusable(Exception):
    """Why an utterance is dropped."""


def read_utterance(raw: Any, negative: set[str], tally: Ledger) -> Utterance:
    """The utterance of an entry, unless it is malformed or a negative question."""
    try:
        row = Row.model_validate(raw)
    except ValidationError as error:
        where = error.errors()[0]["loc"]
        raise Unusable(f"malformed: {where[0] if where else 'no group of fields'}") from None
    if row.utterance_id in negative:
        raise Unusable("negative question, by the list")
    if letters(row.answer) == "irrelevant":
        raise Unusable("negative question, answered Irrelevant")
    history = tuple(_turn(item, "history", tally) for item in row.history)
    evidence = tuple(_turn(item, "evidence", tally) for item in row.evidence)
    answer = _yes_or_no(row.answer)
    if answer is None:
        asks = " ".join(row.answer.split())
        if not letters(asks):
            raise Unusable("malformed: answer")
        return Utterance(row, history, evidence, Decision.INSUFFICIENT, asks)
    if row.answer not in ("Yes", "No"):
        tally.note("utterance", "answer not spelled Yes or No, read as such")
    return Utterance(row, history, evidence, Decision.YES if answer else Decision.NO, None)


def _turn(item: dict[str, str], where: str, tally: Ledger) -> Turn:
    fields = {key.replace("_", "").lower(): text for key, text in item.items()}
    question = " ".join(fields.get("followupquestion", "").split())
    given = fields.get("followupanswer", "")
    answer = _yes_or_no(given)
    if not letters(question) or answer is None:
        raise Unusable(f"malformed: {where}")
    if not {"follow_up_question", "follow_up_answer"} <= item.keys():
        tally.note("turn", "keys not spelled follow_up_*, read as such")
    if given not in ("Yes", "No"):
        tally.note("turn", "answer not spelled Yes or No, read as such")
    return Turn(question, answer)


def _yes_or_no(text: str) -> bool | None:
    """Yes or no in any case and punctuation and with a stray letter at the end (`Noe`)."""
    match = re.fullmatch(r"(yes|no).?", letters(text))
    return None if match is None else match[1] == "yes"


# ---- questions -------------------------------------------------------------------------------


class Merge(StrEnum):
    """Why two wordings are one question."""

    LETTERS = "same letters and digits"
    REPEATED = "same words, some of them said twice"
    SLIP = "one typing slip in one word"


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of a tree, in the order in which its dialogues reach them."""

    texts: tuple[str, ...]
    index: Mapping[str, int]
    merged: Mapping[Merge, int]

    def of(self, wording: str) -> int:
        """The position of the question that a wording asks."""
        return self.index[letters(wording)]


def letters(text: str) -> str:
    """The letters and digits of a text, without case, spacing and punctuation."""
    return "".join(_TELLING.findall(unicodedata.normalize("NFKC", text).casefold()))


def merge_questions(dialogues: Iterable[Sequence[str]], rule_text: str) -> Questions:
    """The questions behind the wordings of each dialogue of a tree.

    Edit distance alone is no guide: "a man born before 1951" and "a woman born before 1953" are
    three edits apart, "employer" and "employee" one. Wordings with the same letters are one
    question. Beyond that a word said twice is forgiven, and a single slip in a longer word that
    turns a word of the rule text into one that it does not have; but never between wordings that
    one dialogue has both of, because nobody asks the same question twice.
    """
    known = {letters(word) for word in rule_text.split()}
    wordings: Counter[str] = Counter()
    positions: dict[str, Counter[int]] = {}
    together: dict[str, set[str]] = {}
    for dialogue in dialogues:
        keys = [letters(wording) for wording in dialogue]
        wordings.update(dialogue)
        for position, key in enumerate(keys):
            positions.setdefault(key, Counter())[position] += 1
            together.setdefault(key, set()).update(keys)
    variants: dict[str, list[str]] = {}
    for wording, _ in wordings.most_common():
        variants.setdefault(letters(wording), []).append(wording)
    merged = Counter({Merge.LETTERS: len(wordings) - len(variants)})
    clusters: list[list[str]] = []
    for key, (wording, *_) in variants.items():
        for cluster in clusters:
            kind = _same(wording, variants[cluster[0]][0], known)
            if kind is not None and not any(other in together[key] for other in cluster):
                cluster.append(key)
                merged[kind] += 1
                break
        else:
            clusters.append([key])
    clusters.sort(key=lambda cluster: _usual(sum((positions[k] for k in cluster), Counter[int]())))
    return Questions(
        texts=tuple(variants[cluster[0]][0] for cluster in clusters),
        index={key: i for i, cluster in enumerate(clusters) for key in cluster},
        merged=+merged,
    )


def _usual(positions: Counter[int]) -> int:
    """The most frequent position, the later of two."""
    return max(positions, key=lambda position: (positions[position], position))


def _same(a: str, b: str, known: set[str]) -> Merge | None:
    """Why two wordings with different letters are one question all the same, if they are."""
    words_a, words_b = ([letters(word) for word in text.split()] for text in (a, b))
    if list(dict.fromkeys(words_a)) == list(dict.fromkeys(words_b)):
        return Merge.REPEATED
    differing = [(x, y) for x, y in zip(words_a, words_b, strict=False) if x != y]
    if len(words_a) != len(words_b) or len(differing) != 1:
        return None
    [(x, y)] = differing
    return Merge.SLIP if (x in known) != (y in known) and _one_slip(x, y) else None


def _one_slip(a: str, b: str) -> bool:
    """Whether one letter is added, left out or mistyped, or two neighbours are swapped."""
    if min(len(a), len(b)) <= _SHORT_WORD or not (a + b).isalpha():
        return False
    while a and b and a[0] == b[0]:
        a, b = a[1:], b[1:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    return max(len(a), len(b)) <= 1 or (len(a) == 2 and a == b[::-1])


# ---- reading ---------------------------------------------------------------------------------


def raw_utterances(paths: Sequence[Path]) -> list[Any]:
    """Every entry of every file; the problems of all files are told at once."""
    lists = read_all(paths, _is_json, _list, PUBLISHED)
    return [row for rows in lists for row in rows]


def _is_json(name: str) -> bool:
    return name.endswith(".json") and not name.startswith(".")


def _list(name: str, data: bytes) -> list[Any]:
    try:
        content = parse_json(decode(data))
    except FormatError as error:
        raise failed(name, error.what, error.line) from None
    if not isinstance(content, list) or (content and not any(map(_has_tree, content))):
        raise failed(name, f"this is not a list of utterances of rule trees; {PUBLISHED}")
    return content


def _has_tree(entry: Any) -> bool:
    return isinstance(entry, dict) and "tree_id" in entry


def listed_ids(path: Path) -> set[str]:
    """The utterance ids of a list, one a line."""
    try:
        return set(decode(path.read_bytes()).split())
    except FileNotFoundError:
        what = f"there is no such list of negative questions; it is in the archive. {PUBLISHED}"
        raise failed(path, what) from None
    except OSError as error:
        raise failed(path, f"cannot be read: {error.strerror or error}") from None
    except FormatError as error:
        raise failed(path, error.what, error.line) from None
