"""The six target operations and the two controls as data (tab:operation-composition).

Each has the paper's definition and what an editor is told for each style of evidence. Removal
deletes the unit and needs no editor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from interpact.case.case import Case
from interpact.corpus.pairs import Operation


class Style(StrEnum):
    """How the evidence of a case reads."""

    CONTRACT = "contract clause"
    DIALOGUE = "dialogue or scenario"
    GENERIC = "document or statement"


STYLES = {"contractnli": Style.CONTRACT, "sharc": Style.DIALOGUE}
"""The style of each source; any other is generic."""


def style_of(case: Case) -> Style:
    """The style of a case, told by its source."""
    return STYLES.get(case.source or "", Style.GENERIC)


@dataclass(frozen=True, slots=True)
class Brief:
    """What an operation is, what its editor is told for each style, and when the editor abstains."""

    definition: str
    instructions: Mapping[Style, str]
    abstain: str


BRIEFS: Mapping[Operation, Brief] = {
    Operation.REMOVAL: Brief("Delete the designated evidence unit.", {}, ""),
    Operation.POLARITY_REVERSAL: Brief(
        "Reverse the polarity of the same core relation.",
        {
            Style.CONTRACT: (
                "Keep the parties, the defined terms, the clause number and the register. Turn the "
                "duty, permission or exclusion into its opposite (shall into shall not, may into "
                "may not, includes into excludes, or the other way round). Add no exception and "
                "drop none."
            ),
            Style.DIALOGUE: (
                "In an answered question keep the question word for word and turn the answer. In "
                "a scenario keep the speaker's voice and turn the one fact that bears on the "
                "target condition; every other fact stays."
            ),
            Style.GENERIC: (
                "Keep who, what, amounts, dates and the kind of document. Turn the assertion that "
                "bears on the target condition into its denial, or the denial into the assertion; "
                "every other statement stays."
            ),
        },
        "Abstain if the text asserts no relation that could be reversed (a heading, a fragment).",
    ),
    Operation.ALTERNATIVE_REPLACEMENT: Brief(
        "Substitute a different fact of the relevant type.",
        {
            Style.CONTRACT: (
                "Write a clause on the same matter that says something else: another period, "
                "person, scope, procedure or consequence. Do not merely negate the clause."
            ),
            Style.DIALOGUE: (
                "State another fact of the same type (another age, place, date, activity, "
                "relation). In an answered question keep the question word for word and answer it "
                "with another fact in place of yes or no."
            ),
            Style.GENERIC: (
                "State another fact of the same type in the same kind of document: another "
                "amount, date, person, place or result. Do not merely negate the original."
            ),
        },
        "Abstain if the text holds no fact that has an alternative of its type.",
    ),
    Operation.IRRELEVANT_REPLACEMENT: Brief(
        "Replace the target with content unrelated to the conditions.",
        {
            Style.CONTRACT: (
                "Write a clause on another matter that could stand in such a contract (notices, "
                "counterparts, headings, invoicing) and says nothing about any of the conditions."
            ),
            Style.DIALOGUE: (
                "Let the same speaker say something about another matter, or put another question "
                "with its answer, that says nothing about any of the conditions."
            ),
            Style.GENERIC: (
                "Write a statement on another matter, of the same kind of document, that says "
                "nothing about any of the conditions."
            ),
        },
        "Abstain if every natural text of this kind would bear on some condition.",
    ),
    Operation.WEAKENING: Brief(
        "Reduce evidential sufficiency without simply negating the assertion.",
        {
            Style.CONTRACT: (
                "Make the clause less definite: best efforts in place of a duty, a subject left "
                "open, a term still to be agreed, a narrower scope. Do not turn it into its "
                "opposite."
            ),
            Style.DIALOGUE: (
                "Make the speaker less certain or less specific: a guess, hearsay, a vague time "
                "or place. In an answered question keep the question word for word and make the "
                "answer hesitant. Do not turn it into its opposite."
            ),
            Style.GENERIC: (
                "Make the statement less certain, less specific, older or second-hand. Do not "
                "turn it into its opposite."
            ),
        },
        "Abstain if the text is so weak already that less would say nothing.",
    ),
    Operation.STRENGTHENING: Brief(
        "Add specificity or support while preserving the intended relation.",
        {
            Style.CONTRACT: (
                "Make the clause more definite: exact persons, periods, procedures, consequences, "
                "or words that leave no doubt. What it grants, demands or excludes stays."
            ),
            Style.DIALOGUE: (
                "Add a detail or a proof that supports what is said: a date, a name, a document. "
                "In an answered question keep the question word for word and support the answer. "
                "What is said stays."
            ),
            Style.GENERIC: (
                "Add a detail or a proof that supports the statement: an exact figure, a date, a "
                "source, a confirmation. What it says stays."
            ),
        },
        "Abstain if nothing could be added without saying something new about another condition.",
    ),
    Operation.DISTRACTOR_INSERTION: Brief(
        "Insert irrelevant content without replacing the evidence.",
        {
            Style.CONTRACT: (
                "Write one further clause that could follow the target in such a contract and "
                "says nothing about any of the conditions."
            ),
            Style.DIALOGUE: (
                "Write one further thing that the same speaker could say, or one further question "
                "with its answer, that says nothing about any of the conditions."
            ),
            Style.GENERIC: (
                "Write one further statement that could follow the target in such a file and says "
                "nothing about any of the conditions."
            ),
        },
        "Abstain if every natural text of this kind would bear on some condition.",
    ),
    Operation.PARAPHRASE: Brief(
        "Change wording while preserving meaning and strength.",
        {
            Style.CONTRACT: (
                "Say the same in other words and another order, in contract language. Defined "
                "terms, modal force, scope, periods and exceptions stay exactly as they are."
            ),
            Style.DIALOGUE: (
                "Say the same in other words, in the same voice. In an answered question reword "
                "question and answer; the certainty stays exactly as it is."
            ),
            Style.GENERIC: (
                "Say the same in other words and another order. Facts, figures, certainty and the "
                "kind of document stay exactly as they are."
            ),
        },
        "Abstain if the text is too short to be put differently.",
    ),
}
