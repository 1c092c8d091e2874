"""Reversing and weakening of sentences that are simple enough to be sure about.

A sentence is taken only if exactly one modal or copular verb is found in it and nothing suggests a
second clause, a negation elsewhere, or a quantifier whose scope a negation would change. What is
left out is said with a reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SEVERAL = "more than one sentence"
CLAUSES = "may hold more than one clause"
NO_VERB = "no single modal or copular verb"
NEGATION = "another negation or restriction"
SCOPE = "a word whose scope would change"


@dataclass(frozen=True, slots=True)
class MainVerb:
    """A sentence taken apart at its modal or copular verb; `negated` is the `not` after it."""

    lead: str
    verb: str
    negated: bool
    rest: str

    @property
    def not_(self) -> str:
        """` not` if the sentence is negated."""
        return " not" if self.negated and self.verb != "cannot" else ""


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with the answer yes or no, taken apart around the answer."""

    lead: str
    yes: bool
    capital: bool
    rest: str


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NUMBERING = re.compile(r"\s*(?:\(?[0-9]+(?:\.[0-9]+)*[.)]?|\(?[a-z]{1,3}[.)])\s+")
_VERB = re.compile(r"\b(?:shall|will|must|may|can|cannot|is|are|was|were|am)\b")
_COPULAS = _words("is are was were am")
_FINITE = _words("do does did has had should would could might ought need let")
_NEGATIONS = _words(
    "not no never neither nor none nothing nobody nowhere without except only hardly barely "
    "scarcely cannot unable"
)
_SUBORDINATORS = _words(
    "if unless because although though while whereas but provided whether until when whenever"
)
_RELATIVES = _words("that which who whom whose where what how as than so since before after")
_COORDINATORS = _words("and or")
_QUANTIFIERS = _words(
    "all any some each every both either many most much more few several certain another there it"
)
_DETERMINERS = _words("the a an my our your his her its their this these those such")
_PRONOUNS = _words("i we you he she they")
_PREPOSITIONS = _words(
    "of in on at by for from to with under upon over between within into about during per through "
    "against among"
)
_REPORTING = re.compile(
    r"(?:say|said|think|thought|believe|know|knew|claim|state|confirm|certif|show|indicate|suggest"
    r"|note|record|report|hope|fear|agree|find|found|hold|held|mean|understand|understood|assume"
    r"|guess|declare|acknowledge|warrant|represent|provide|ensure|require)(?:s|d|ed|es|ies|ied)?"
)
_SCOPED = _words(
    "some certain several already too also both even just still always often usually exclusively "
    "solely merely purely strictly entirely fully completely"
)
_POLAR = _words("any either yet ever  anything anyone anybody")
_CONTRACTION = re.compile(
    r"n['’]t\b|['’](?:re|ll|ve|d|m)\b|\b(?:it|he|she|there|that)['’]s\b", re.I
)
_YES_NO = re.compile(
    r"""(?P<lead>[^?]*\?["”’']?,?\s*(?:(?:[Tt]he\s)?\w+(?:\s\w+)?\s(?:answered|replied|said),?:?\s)?["“]?)
        (?P<answer>[Yy]es|[Nn]o)
        (?P<rest>["”]?[.!]?["”]?)""",
    re.VERBOSE,
)


def yes_or_no(text: str) -> Answered | None:
    """The answer of a text that is one question answered with yes or no."""
    match = _YES_NO.fullmatch(text.strip())
    if match is None:
        return None
    answer = match["answer"]
    return Answered(match["lead"], answer.lower() == "yes", answer[0].isupper(), match["rest"])


def main_verb(text: str) -> MainVerb | str:
    """The one modal or copular verb of a simple sentence, or why it is not safe to say so."""
    body = text.strip()
    numbering = _NUMBERING.match(body)
    start = numbering.end() if numbering else 0
    sentence = body[start:]
    if re.search(r"[.!?]\s", sentence) or "\n" in sentence:
        return SEVERAL
    if re.search(r"[?;:\"“”()\[\]–—]| - ", sentence) or _CONTRACTION.search(sentence):
        return CLAUSES
    found = list(_VERB.finditer(sentence))
    if len(found) != 1:
        return NO_VERB
    verb = found[0]
    lead, rest = sentence[: verb.start()], sentence[verb.end() :]
    before, after = _tokens(lead), _tokens(rest)
    negated = verb[0] == "cannot" or after[:1] == ["not"]
    if after[:1] == ["not"]:
        rest, after = rest[rest.index("not") + 3 :], after[1:]
    return (
        _unsafe_lead(before, lead, verb[0])
        or _unsafe_rest(after, rest, verb[0], negated)
        or MainVerb(body[:start] + lead, verb[0], negated, rest)
    )


def reversed_sentence(text: str) -> str | None:
    """The text with its polarity reversed, if that can be done safely."""
    answer = yes_or_no(text)
    if answer is not None:
        word = "no" if answer.yes else "yes"
        return answer.lead + (word.capitalize() if answer.capital else word) + answer.rest
    found = main_verb(text)
    if isinstance(found, str):
        return None
    if found.negated:
        verb = "can" if found.verb == "cannot" else found.verb
    else:
        verb = "cannot" if found.verb == "can" else f"{found.verb} not"
    return found.lead + verb + found.rest


_HEDGES = {
    "is": "is, it appears,{not_}",
    "are": "are, it appears,{not_}",
    "was": "was, it appears,{not_}",
    "were": "were, it appears,{not_}",
    "shall": "should normally{not_}",
    "must": "should normally{not_}",
    "will": "will probably{not_}",
    "may": "may{not_}, in some cases,",
    "can": "can in some cases",
    "cannot": "often cannot",
}


def weakened_sentence(text: str) -> str | None:
    """The text with a hedge, if that can be done safely."""
    answer = yes_or_no(text)
    if answer is not None:
        says = "I think so" if answer.yes else "I do not think so"
        return f"{answer.lead}{says}, but I am not certain{answer.rest}"
    found = main_verb(text)
    if isinstance(found, str):
        return None
    if found.lead.strip() == "I" and found.verb == "am":
        return f"I think I am{found.not_}{found.rest}"
    if found.verb not in _HEDGES:
        return None
    return found.lead + _HEDGES[found.verb].format(not_=found.not_) + found.rest


def unsafe(text: str) -> str:
    """Why a text is not edited."""
    found = main_verb(text)
    return found if isinstance(found, str) else NO_VERB


def _tokens(text: str) -> list[str]:
    return re.findall(r"[\w'’-]+", text.lower())


def _unsafe_lead(words: list[str], lead: str, verb: str) -> str | None:
    """What speaks against these words being the plain subject of the verb."""
    if not 1 <= len(words) <= 8 or words[-1] in _DETERMINERS - {"this", "these", "those", "such"}:
        return NO_VERB
    known = set(words)
    if known & _NEGATIONS:
        return NEGATION
    if known & _QUANTIFIERS:
        return SCOPE
    if "," in lead or known & (_SUBORDINATORS | _RELATIVES | _COORDINATORS | _FINITE | {"have"}):
        return CLAUSES
    if known & _PRONOUNS and len(words) > 1:
        return CLAUSES  # "I live in Leeds is": the pronoun has a verb of its own
    if verb == "am" and words != ["i"]:
        return NO_VERB
    if any(_REPORTING.fullmatch(word) for word in words[1:]):
        return CLAUSES
    nouns = [i for i, word in enumerate(words) if word in _DETERMINERS and i > 0]
    if any(words[i - 1] not in _PREPOSITIONS for i in nouns):
        return CLAUSES  # "the letter shows the house is": the second noun belongs to another verb
    return None


def _unsafe_rest(words: list[str], rest: str, verb: str, negated: bool) -> str | None:
    """What speaks against a negation, or none, right after the verb."""
    if not words:
        return NO_VERB
    known = set(words)
    if known & _NEGATIONS:
        return NEGATION
    if rest.lstrip().startswith(",") or known & (_SUBORDINATORS | _FINITE):
        return CLAUSES
    joined = (
        r"\b(?:and|or)\s+(?:\w+ly\s+)?(?:" + "|".join(sorted(_PRONOUNS | {"it", "there"})) + r")\b"
    )
    if re.search(r",\s*(?:and|or|nor)\b", rest) or re.search(joined, rest, re.I):
        return CLAUSES
    if verb in _COPULAS and "and" in known:
        return CLAUSES  # "I am 61 and work in Leeds": another verb may follow
    first = words[0]
    if first.endswith("ly") or first in _SCOPED or known & (_POLAR if negated else _SCOPED):
        return SCOPE
    if verb not in _COPULAS and first in _PREPOSITIONS | {"have"}:
        return SCOPE
    if first == "to" or "have" in known:
        return CLAUSES
    return None
