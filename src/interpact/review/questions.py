"""What reviewers are asked in each kind of queue, and when an answer is complete.

An answer maps the names of questions to values. "Ambiguous" says that the annotation cannot be
settled from the text and the instructions; it is another thing than the state unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from interpact.case.states import State
from interpact.errors import InterPactError

AMBIGUOUS = "ambiguous"
REJECT = "reject"
COMMENT, REVEALED = "comment", "revealed"
MAX_COMMENT = 4_000

Answer = Mapping[str, str]


class Kind(StrEnum):
    """The jobs that people do."""

    AUDIT = "audit"
    ROOTS = "roots"
    CONSTRUCTION = "construction"


class Refused(InterPactError):
    """A change of an answer that may not be made."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the answers to a question."""

    value: str
    words: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its choices; `late` ones are asked after the operation is revealed."""

    name: str
    text: str
    choices: tuple[Choice, ...]
    late: bool = False
    aspect: str = ""
    """What the report calls it."""


_STATES = tuple(Choice(state.value, state.words) for state in State)
_UNSETTLED = Choice(AMBIGUOUS, "cannot be settled from the text")


@dataclass(frozen=True, slots=True)
class Form:
    """The questions of a queue, how many people read each item, and what may be revealed when."""

    kind: Kind
    title: str
    questions: tuple[Question, ...]
    readers: int
    reveal: str | None = None
    """What is revealed once the early questions are answered."""

    def question(self, name: str) -> Question | None:
        """The question of that name."""
        return next((q for q in self.questions if q.name == name), None)

    def early(self, answer: Answer) -> bool:
        """Whether all questions before the reveal are answered."""
        return all(q.name in answer for q in self.questions if not q.late)

    def complete(self, answer: Answer) -> bool:
        """Whether nothing is left to answer."""
        return all(q.name in answer for q in self.questions)

    def open(self, answer: Answer) -> list[Question]:
        """The questions that can be answered or changed now."""
        if REVEALED in answer:
            return [q for q in self.questions if q.late]
        return [q for q in self.questions if not q.late]

    def changed(self, answer: Answer, name: str, value: str) -> dict[str, str]:
        """The answer after one change; what may not be changed is refused."""
        found = dict(answer)
        if name == COMMENT:
            found[COMMENT] = value.strip()[:MAX_COMMENT]
            if not found[COMMENT]:
                del found[COMMENT]
            return found
        if name == REVEALED:
            if self.reveal is None or not self.early(answer):
                raise Refused("answer the questions above first")
            return found | {REVEALED: "yes"}
        question = self.question(name)
        if question is None or value not in {choice.value for choice in question.choices}:
            raise Refused("there is no such question or answer")
        if question.late and REVEALED not in answer:
            raise Refused("answer the questions above first")
        if not question.late and REVEALED in answer:
            raise Refused("this was answered blind; undo back to before the reveal to change it")
        return found | {name: value}

    def consensus(self, answers: Sequence[Answer]) -> dict[str, str] | None:
        """What all readers say, if they say the same and nothing is ambiguous."""
        said = [{q.name: answer[q.name] for q in self.questions} for answer in answers]
        if any(other != said[0] for other in said[1:]) or AMBIGUOUS in said[0].values():
            return None
        return said[0]

    def ruling(self, values: Mapping[str, str]) -> dict[str, str]:
        """An adjudicator's answers to all questions; whatever is missing or unknown is refused."""
        found: dict[str, str] = {}
        for question in self.questions:
            value = values.get(question.name, "")
            if value not in {choice.value for choice in question.choices}:
                raise Refused(f"answer this too: {question.text}")
            found[question.name] = value
        return found


FORMS = {
    Kind.AUDIT: Form(
        Kind.AUDIT,
        "Semantic audit",
        (
            Question(
                "association",
                "Is the case well-formed, and does the marked evidence bear on the target condition?",
                (Choice("yes", "yes"), Choice("no", "no"), _UNSETTLED),
                aspect="Case structure and evidence association",
            ),
            Question(
                "state",
                "After the change, what does the evidence say about the target condition?",
                (*_STATES, _UNSETTLED),
                aspect="Target condition state",
            ),
            Question(
                "preserved",
                "Are the states of all other conditions the same as before?",
                (Choice("yes", "yes"), Choice("no", "no"), _UNSETTLED),
                aspect="Non-target states preserved",
            ),
            Question(
                "fidelity",
                "Does the change do what this operation says, and nothing else?",
                (Choice("yes", "yes"), Choice("no", "no"), _UNSETTLED),
                late=True,
                aspect="Intervention fidelity",
            ),
        ),
        readers=3,
        reveal="Reveal the intended operation",
    ),
    Kind.ROOTS: Form(
        Kind.ROOTS,
        "Root labelling",
        (
            Question(
                "critical",
                "Could changing only the marked evidence produce a state of the target condition "
                "that changes the decision required by the rule, while the rule and the states of "
                "all other conditions stay as they are?",
                (
                    Choice("yes", "yes: critical"),
                    Choice("no", "no: not critical"),
                    _UNSETTLED,
                ),
                aspect="Criticality",
            ),
        ),
        readers=2,
    ),
    Kind.CONSTRUCTION: Form(
        Kind.CONSTRUCTION,
        "Construction review",
        (
            Question(
                "state",
                "After the change, what does the evidence say about the target condition?",
                (*_STATES, Choice(REJECT, "reject the change"), _UNSETTLED),
                aspect="Target condition state",
            ),
        ),
        readers=1,
        reveal="Show the operation and how the judges read it",
    ),
}
