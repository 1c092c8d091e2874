"""The queues of root labelling and of construction review: from a corpus, and back into it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from interpact.case.states import State
from interpact.construct.records import Attempt, Outcome
from interpact.construct.review import merge_review
from interpact.construct.run import standing_attempts
from interpact.corpus.labels import ReviewAnswer, ReviewItem, label, merge, write_labelling
from interpact.corpus.pairs import intervened
from interpact.corpus.store import Corpus
from interpact.errors import InterPactError
from interpact.review.audit import shown
from interpact.review.questions import AMBIGUOUS, REJECT, Kind
from interpact.review.settled import settled
from interpact.review.store import Store
from interpact.review.versions import NewItem, Queue


def queue_roots(
    store: Store, folder: str | Path, name: str = "roots", readers: int | None = None
) -> Queue:
    """A queue of the roots whose criticality the data does not decide (app:criticality-labels)."""
    corpus = Corpus.read(folder)
    corpus.need_roots(folder)
    waiting = label(corpus).queue
    if not waiting:
        raise InterPactError(f"{folder}: no root is left to review; the data decides all of them")
    return store.add_queue(
        name, Kind.ROOTS, (NewItem(r.root, _root(r), None, {}) for r in waiting), {}, readers
    )


def _root(item: ReviewItem) -> dict[str, Any]:
    data = item.model_dump(mode="json", exclude={"root", "condition", "evidence"})
    evidence = [
        {"id": u.id, "conditions": list(u.conditions), "text": u.text} for u in item.evidence
    ]
    target = next(u.id for u in item.evidence if u.target)
    return {**data, "before": evidence, "target": {"evidence": target, "condition": item.condition}}


def queue_construction(
    store: Store, folder: str | Path, name: str = "construction", readers: int | None = None
) -> Queue:
    """A queue of the interventions whose state the constructor's judges did not settle."""
    corpus = Corpus.read(folder)
    pairs = {pair.id for pair in corpus.pairs}
    waiting = [
        attempt
        for attempt in standing_attempts(folder, corpus).values()
        if attempt.outcome is Outcome.REVIEW and attempt.id not in pairs
    ]
    if not waiting:
        raise InterPactError(f"{folder}: no intervention waits for review; run `construct` first")
    items = (_attempt(corpus, attempt) for attempt in waiting)
    return store.add_queue(name, Kind.CONSTRUCTION, items, {}, readers)


def _attempt(corpus: Corpus, attempt: Attempt) -> NewItem:
    of = corpus.roots[attempt.root]
    after = intervened(of.root.case, of.root.evidence, attempt.operation, attempt.text)
    readings = [
        {
            "role": r.role.value,
            "state": r.state.value if r.state else None,
            "reason": r.reason or r.problem or "",
        }
        for r in attempt.readings
    ]
    revealed = {
        "operation": attempt.operation.value,
        "editor": attempt.editor or "",
        "readings": readings,
    }
    return NewItem(attempt.id, shown(of, after), revealed, {})


def apply(store: Store, queue: str, folder: str | Path) -> str:
    """Write what was settled into the corpus; says what was written."""
    found = store.queue(queue)
    done = [s for s in settled(store, found) if AMBIGUOUS not in s.answer.values()]
    if found.kind is Kind.ROOTS:
        answers = [
            ReviewAnswer(
                root=s.key, critical=s.answer["critical"] == "yes", reason=s.why(["critical"])
            )
            for s in done
        ]
        labelling = merge(label(Corpus.read(folder)), answers, str(store.database.path))
        write_labelling(folder, labelling)
        return f"{len(answers):,} reviewed labels; {len(labelling.queue):,} roots are still open"
    if found.kind is Kind.CONSTRUCTION:
        states = {
            s.key: None if s.answer["state"] == REJECT else State(s.answer["state"]) for s in done
        }
        merge_review(folder, states)
        taken = sum(state is not None for state in states.values())
        return f"{taken:,} pairs made, {len(states) - taken:,} changes rejected"
    raise InterPactError(f'queue "{queue}" is an audit; use `interpact audit apply`')
