"""Reversing and weakening: right where it is done, and not done where it might be wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpact.construct.sentences import (
    CLAUSES,
    NEGATION,
    NO_VERB,
    SCOPE,
    SEVERAL,
    main_verb,
    reversed_sentence,
    weakened_sentence,
)

PAIRS = [
    ("The tenant shall return the keys.", "The tenant shall not return the keys."),
    ("4.2 The tenant may keep a dog.", "4.2 The tenant may not keep a dog."),
    ("(b) The deposit is refundable.", "(b) The deposit is not refundable."),
    ("The hall can be heated.", "The hall cannot be heated."),
    ("I am a member of the choir", "I am not a member of the choir"),
    ("The stairs were swept on Monday.", "The stairs were not swept on Monday."),
    ("Pets of the tenant must stay outside.", "Pets of the tenant must not stay outside."),
    ("We will be there.", "We will not be there."),
    ("Is the roof new? Yes.", "Is the roof new? No."),
    ("do you own a boat? yes", "do you own a boat? no"),
    (
        'Asked "Do you own a boat?", the applicant answered "Yes".',
        'Asked "Do you own a boat?", the applicant answered "No".',
    ),
]


@pytest.mark.parametrize(("positive", "negative"), PAIRS)
def test_polarity_is_reversed_both_ways(positive: str, negative: str):
    assert reversed_sentence(positive) == negative
    assert reversed_sentence(negative) == positive


HEDGED = [
    ("The deposit is refundable.", "The deposit is, it appears, refundable."),
    ("The deposit is not refundable.", "The deposit is, it appears, not refundable."),
    ("I am not a member.", "I think I am not a member."),
    ("The tenant shall return the keys.", "The tenant should normally return the keys."),
    ("The tenant may not keep a dog.", "The tenant may not, in some cases, keep a dog."),
    ("The hall cannot be heated.", "The hall often cannot be heated."),
    ("Is the roof new? Yes.", "Is the roof new? I think so, but I am not certain."),
    (
        'Asked "Is it new?", the owner said "No".',
        'Asked "Is it new?", the owner said "I do not think so, but I am not certain".',
    ),
]


@pytest.mark.parametrize(("firm", "hedged"), HEDGED)
def test_a_hedge_weakens_and_keeps_the_polarity(firm: str, hedged: str):
    assert weakened_sentence(firm) == hedged


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The shed is old. The barn is new.", SEVERAL),
        ("I live by the sea and am a potter.", CLAUSES),
        ("I am 61 years old and work at the mill.", CLAUSES),
        ("The letter shows the house is mine.", CLAUSES),
        ("Records say Mr Okoro is resident.", CLAUSES),
        ("I believe he is ill.", CLAUSES),
        ("The person who called is ill.", CLAUSES),
        ("If the rain stops, the match is off.", CLAUSES),
        ("The fee is due unless it was waived.", NO_VERB),
        ("The fee is due unless waived.", CLAUSES),
        ("She's a nurse and is on leave.", CLAUSES),
        ("Owner: the club is registered.", CLAUSES),
        ("All tenants may use the yard.", SCOPE),
        ("The tenant may use some of the rooms.", SCOPE),
        ("The tenant shall promptly return the keys.", SCOPE),
        ("The hall shall be used exclusively for concerts.", SCOPE),
        ("The tenant shall at no time smoke.", NEGATION),
        ("Neither tenant may smoke.", NEGATION),
        ("The tenant may only smoke outside.", NEGATION),
        ("The tenant shall not keep any animal.", SCOPE),
        ("The tenant returns the keys.", NO_VERB),
        ("The tenant is there and the dog is not.", NO_VERB),
        ("Is the roof new?", CLAUSES),
        ("3.4", NO_VERB),
        ("", NO_VERB),
        ("the tenant shall", NO_VERB),
        ("The will is void.", NO_VERB),
        ("9 am.", NO_VERB),
        ("There is a telephone.", SCOPE),
    ],
)
def test_what_is_not_simple_is_left_alone(text: str, why: str):
    assert main_verb(text) == why
    assert reversed_sentence(text) is None
    assert weakened_sentence(text) is None


@pytest.mark.parametrize(
    "text", ["Is it new? Yes, since May.", "Old? No. New? Yes.", "Yes.", "Is it? Maybe."]
)
def test_only_one_plain_answer_to_one_question_is_reversed(text: str):
    assert reversed_sentence(text) is None


WORDS = st.sampled_from(
    [
        *("I", "the", "tenant", "dog", "shall", "not", "may", "is", "are", "was", "can", "cannot"),
        *("will", "must", "keep", "return", ",", ".", "?", "Yes", "No", "and", "that", "any"),
        *("all", "a", "of", "at", "4.2", "(a)", "who", "be", "have", "it"),
    ]
)


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_on_any_words_a_reversal_changes_one_place_and_goes_back(text: str):
    found = reversed_sentence(text)
    if found is None:
        return
    assert found != text
    again = reversed_sentence(found)
    assert again is None or again == text.strip()


@given(st.text())
def test_no_text_breaks_it(text: str):
    for edited in (reversed_sentence(text), weakened_sentence(text)):
        assert edited is None or edited.strip() != text.strip()
