"""The blind semantic audit (app:semantic-audit): sampling pairs, and taking corrections back."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from interpact.case.case import Case
from interpact.case.problems import InputProblems, Problem
from interpact.case.states import State
from interpact.construct.checks import Exclusion
from interpact.construct.records import ATTEMPTS, Journal, Outcome
from interpact.construct.run import standing_attempts
from interpact.corpus.labels import label, write_labelling
from interpact.corpus.pairs import CriticalityRecord, LabelledRoot, Pair, PairRecord
from interpact.corpus.store import CRITICALITY, PAIRS, Corpus, write_records
from interpact.errors import InterPactError
from interpact.review.database import packed
from interpact.review.questions import AMBIGUOUS, Kind
from interpact.review.settled import Settled, settled
from interpact.review.store import Store
from interpact.review.versions import NewItem, Queue

LOG = "audit_log.jsonl"


def sample(
    store: Store, corpus: Corpus, n: int, seed: int, name: str = "audit", readers: int | None = None
) -> Queue:
    """A queue of `n` pairs drawn uniformly without replacement."""
    pairs = {pair.id: pair for pair in corpus.pairs}
    if not 1 <= n <= len(pairs):
        raise InterPactError(
            f"--n {n}: the corpus has {len(pairs):,} pairs; sample between 1 and as many"
        )
    chosen = random.Random(seed).sample(sorted(pairs), n)
    facts = {"n": n, "of": len(pairs), "seed": seed, "pairs": _fingerprint(pairs.values())}
    return store.add_queue(
        name, Kind.AUDIT, (item(pairs[chosen_id]) for chosen_id in chosen), facts, readers
    )


def item(pair: Pair) -> NewItem:
    """What a reader of a pair sees, what they see later, and what stays hidden."""
    return NewItem(
        pair.id,
        shown(pair.of, pair.after),
        {"operation": pair.record.operation.value},
        {
            "state_after": pair.state_after.value,
            "decisions": {state.value: d.value for state, d in pair.of.mapping.items()},
        },
    )


def shown(root: LabelledRoot, after: Case) -> dict[str, Any]:
    """Both cases with the original states and decision: nothing that the change was labelled with.

    Units after the change carry no conditions: an inserted one would tell that it bears on none.
    """
    case = root.root.case
    return {
        "rule": case.rule,
        "query": case.query,
        "aggregation": case.aggregation,
        "conditions": dict(case.conditions),
        "target": {"evidence": root.root.evidence, "condition": root.root.condition},
        "states": {c: root.labels.states[c].value for c in case.conditions},
        "decision": root.decision.value,
        "before": [
            {"id": u.id, "conditions": list(u.conditions), "text": u.text} for u in case.evidence
        ],
        "after": [{"id": u.id, "text": u.text} for u in after.evidence],
    }


def _fingerprint(pairs: Iterable[Pair]) -> str:
    digest = blake2b(digest_size=8)
    for pair in pairs:
        digest.update(pair.record.model_dump_json().encode())
    return digest.hexdigest()


# ---- Corrections -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """A line of audit_log.jsonl: what was changed in the corpus, and why."""

    file: str
    id: str
    field: str
    before: Any
    after: Any
    reason: str

    def line(self) -> str:
        """The change in words."""
        where = f"{self.file}: {self.id}" + (f": {self.field}" if self.field else "")
        if self.field:
            return f"{where}: {self.before} -> {self.after} ({self.reason})"
        what = "removed" if self.after is None else "added" if self.before is None else "changed"
        return f"{where}: {what} ({self.reason})"

    def data(self, queue: str, at: str) -> dict[str, Any]:
        """The line as JSON."""
        own = {name: getattr(self, name) for name in self.__slots__}
        return {"at": at, "queue": queue, **own}


def apply(
    store: Store, queue: str, folder: str | Path, drop_failed: bool = False
) -> tuple[list[Change], list[str]]:
    """Correct the states of audited pairs; with `drop_failed`, remove those that failed otherwise.

    Gives the changes, which are logged beside the corpus, and the pairs that failed and were kept.
    Applying twice changes nothing more.
    """
    folder = Path(folder)
    if store.queue(queue).kind is not Kind.AUDIT:
        raise InterPactError(f'queue "{queue}" is no audit; use `interpact review apply`')
    corpus = Corpus.read(folder)
    pairs = {pair.id: pair for pair in corpus.pairs}
    # A pair may be gone: by an earlier application, or by its owner.
    done = [found for found in settled(store, store.queue(queue)) if found.key in pairs]
    _check_unchanged(folder, ((found, pairs[found.key]) for found in done))
    records = {pair.id: pair.record for pair in corpus.pairs}
    changes: list[Change] = []
    kept: list[str] = []
    for found in done:
        record = records[found.key]
        if found.failed and drop_failed:
            why = found.why(found.failed)
            changes.append(Change(PAIRS, found.key, "", _plain(record), None, why))
            del records[found.key]
            continue
        if found.failed:
            kept.append(found.key)
        said = found.answer["state"]
        if said != AMBIGUOUS and (state := State(said)) is not record.state_after:
            before, why = record.state_after.value, found.why(["state"])
            changes.append(Change(PAIRS, found.key, "state_after", before, said, why))
            records[found.key] = record.model_copy(update={"state_after": state})
    if changes:
        # The log comes first: after a crash it may tell of a change twice, but never of none.
        _write_log(folder, queue, changes)
        _mend_journal(folder, corpus, {change.id: records.get(change.id) for change in changes})
        order = [pair.id for pair in corpus.pairs if pair.id in records]
        write_records(folder / PAIRS, (records[name] for name in order))
        relabelled = list(_relabel(folder))
        _write_log(folder, queue, relabelled)
        changes += relabelled
    return changes, kept


def _check_unchanged(folder: Path, judged: Iterable[tuple[Settled, Pair]]) -> None:
    """What people judged must still be what the corpus says."""
    problems = [
        Problem(
            str(folder / PAIRS),
            None,
            found.key,
            "its texts, original states or decision have changed since it was judged; "
            "restore them, or sample anew",
        )
        for found, pair in judged
        if found.read.shown != json.loads(packed(shown(pair.of, pair.after)))
    ]
    if problems:
        raise InputProblems(problems)


def _mend_journal(folder: Path, corpus: Corpus, changed: Mapping[str, PairRecord | None]) -> None:
    """Have the construction's journal say the same, as `construct` makes missing pairs from it."""
    if not (folder / ATTEMPTS).exists():
        return
    with Journal.open(folder) as journal:
        for name, attempt in standing_attempts(folder, corpus).items():
            if attempt.outcome is not Outcome.ACCEPTED or name not in changed:
                continue
            record = changed[name]
            journal.append(
                attempt.model_copy(
                    update={"outcome": Outcome.EXCLUDED, "reason": Exclusion.REVIEWED.value}
                    if record is None
                    else {"state": record.state_after}
                )
            )


def _relabel(folder: Path) -> Iterator[Change]:
    """Criticality labels that no longer follow from the pairs, made anew."""
    if not (folder / CRITICALITY).exists():
        return
    corpus = Corpus.read(folder)
    found = label(corpus)
    write_labelling(folder, found)
    before, after = corpus.criticality, {record.root: record for record in found.records}
    for root in sorted(before.keys() | after.keys()):
        old, new = before.get(root), after.get(root)
        if old != new:
            was, now = old and _plain(old), new and _plain(new)
            yield Change(CRITICALITY, root, "", was, now, "follows from the corrected pairs")


def _plain(record: PairRecord | CriticalityRecord) -> dict[str, Any]:
    return record.model_dump(mode="json")


def _write_log(folder: Path, queue: str, changes: Sequence[Change]) -> None:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    with (folder / LOG).open("a", encoding="utf-8", newline="\n") as file:
        for change in changes:
            file.write(json.dumps(change.data(queue, at), ensure_ascii=False) + "\n")
