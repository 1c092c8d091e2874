"""The Evidence Intervention Constructor: from the roots of a corpus to labelled intervention pairs.

    root, operation -> edit -> automatic checks -> assessment -> blind judges -> pair

A finished attempt is in the journal before the next one begins, so a run that was killed goes on
where it stopped, and `pairs.jsonl` comes out the same.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from interpact.case.case import Root
from interpact.construct.ask import Request, Unanswered, Unkept
from interpact.construct.checks import Assessor, Exclusion, automatic_exclusion, text_exclusion
from interpact.construct.editors import Abstention, Editor, edited
from interpact.construct.judges import Panel
from interpact.construct.records import (
    ADJUDICATED,
    REVIEW,
    SHARED,
    Attempt,
    Journal,
    Outcome,
    ReviewItem,
    attempts,
    digest,
    write_review,
)
from interpact.construct.report import ConstructionReport
from interpact.corpus.pairs import LabelledRoot, Operation, Pair, intervened
from interpact.corpus.store import PAIRS, ROOTS, Corpus, write_records
from interpact.errors import InterPactError


@dataclass(frozen=True, slots=True)
class Makers:
    """Who edits, judges and assesses."""

    editor: Editor
    panel: Panel
    assessor: Assessor

    @property
    def name(self) -> str:
        """All of them by name: an attempt that did not succeed is made again by others only."""
        return f"editor {self.editor.name}; judges {self.panel.name}; checks {self.assessor.name}"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; `resumed` attempts were finished before it began."""

    done: int
    total: int
    resumed: int
    outcomes: Counter[Outcome]


@dataclass(frozen=True, slots=True)
class _Job:
    root: LabelledRoot
    operation: Operation
    case: str

    @property
    def id(self) -> str:
        return f"{self.root.root.id}/{self.operation}"


async def construct(
    folder: str | Path,
    makers: Makers,
    *,
    limit: int | None = None,
    operations: Sequence[Operation] = tuple(Operation),
    at_once: int = 192,
    progress: Callable[[Progress], None] | None = None,
) -> ConstructionReport:
    """Attempt every operation on every root (the first `limit` roots), and write the pairs.

    `at_once` attempts are under way, each with two requests at most. With three times as many as an
    endpoint takes requests, the next one is ready whenever a request is answered.
    A root and operation that has a pair already is left as it is, whoever made it. An attempt whose
    request alone gets no answer is left for another run, which the error at the end tells. When no
    request is served the pairs so far are written, and the error is raised.
    """
    corpus = Corpus.read(folder)
    _check(folder, corpus)
    with Journal.open(folder) as journal:
        standing = standing_attempts(folder, corpus)
        jobs, resumed = _jobs(corpus, standing, makers.name, limit, operations)
        outcomes: Counter[Outcome] = Counter()
        waiting = iter(jobs)
        left: list[Unanswered] = []

        async def worker() -> None:
            for job in waiting:
                try:
                    attempt = await _attempt(job, makers)
                except Unanswered as why:
                    left.append(why)
                    continue
                standing[attempt.id] = attempt
                outcomes[attempt.outcome] += 1
                if journal.append(attempt):
                    await asyncio.to_thread(journal.sync)
                if progress is not None:
                    done = resumed + outcomes.total()
                    progress(Progress(done, resumed + len(jobs), resumed, outcomes))

        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(min(at_once, len(jobs))):
                    workers.create_task(worker())
        except asyncio.CancelledError:  # the user stops it
            publish(folder, corpus, standing)
            raise
        except BaseExceptionGroup as failures:
            told = [e for e in failures.exceptions if isinstance(e, InterPactError)]
            if told:
                publish(folder, corpus, standing)
            raise (told or failures.exceptions)[0] from None
        found = publish(folder, corpus, standing)
    if left:
        raise Unanswered(f"left for another run: {len(left):,} of the attempts; {left[0]}")
    return found


def report(folder: str | Path) -> ConstructionReport:
    """What the construction of a corpus has come to so far."""
    corpus = Corpus.read(folder)
    standing = standing_attempts(folder, corpus)
    pairs = _pairs(corpus, standing)  # also those that a killed run has not come to write
    return ConstructionReport.of(pairs, standing, len(corpus.roots) * len(Operation))


def _check(folder: str | Path, corpus: Corpus) -> None:
    # Reading the corpus has made sure of the rest: that each target unit is there and bears on its
    # condition, and that the states of each case agree with its decision.
    corpus.need_roots(folder)
    longest = max(corpus.roots, key=len)
    if len(longest) + len(max(Operation, key=len)) >= 300:
        raise InterPactError(
            f'{Path(folder) / ROOTS}: the id "{longest[:60]}..." is too long for the ids of its '
            "pairs (300 characters); shorten the ids of its case and unit"
        )


def standing_attempts(folder: str | Path, corpus: Corpus) -> dict[str, Attempt]:
    """The attempts that count: the last of each root and operation, on the text as it is now."""
    digests: dict[str, str] = {}
    found: dict[str, Attempt] = {}
    for attempt in attempts(folder):
        root = corpus.roots.get(attempt.root)
        if root is None:
            continue
        if attempt.root not in digests:
            digests[attempt.root] = digest(root.root)
        if attempt.case == digests[attempt.root]:
            found[attempt.id] = attempt
    return found


def _jobs(
    corpus: Corpus,
    standing: Mapping[str, Attempt],
    by: str,
    limit: int | None,
    operations: Sequence[Operation],
) -> tuple[list[_Job], int]:
    """What is left to attempt, in the order of the roots, and how much is finished."""
    present = {pair.id for pair in corpus.pairs}
    jobs: list[_Job] = []
    finished = 0
    for root in list(corpus.roots.values())[:limit]:
        case = digest(root.root)
        for operation in operations:
            job = _Job(root, operation, case)
            known = standing.get(job.id)
            ended = known and (known.outcome is Outcome.ACCEPTED or known.by == by)
            if ended or job.id in present:
                finished += 1
            else:
                jobs.append(job)
    return jobs, finished


async def _attempt(job: _Job, makers: Makers) -> Attempt:
    root, operation = job.root.root, job.operation
    known = {"id": job.id, "root": root.id, "operation": operation}
    known |= {"by": makers.name, "case": job.case}

    def ended(outcome: Outcome, **fields: object) -> Attempt:
        return Attempt.model_validate({**known, "outcome": outcome, **fields})

    edit = await edited(makers.editor, job.root, operation)
    if isinstance(edit, Abstention):
        return ended(Outcome.ABSTAINED, reason=edit.reason, note=edit.note)
    known |= {"editor": edit.editor, "text": edit.text, "note": edit.note}
    excluded = _excluded(root, operation, edit.text)
    if excluded is not None:
        if excluded is Exclusion.UNSTORABLE:
            known["text"] = None
        return ended(Outcome.EXCLUDED, reason=excluded)
    assessment = await makers.assessor.assess(root, operation, edit.text)
    known["note"] = "; ".join(filter(None, (edit.note, assessment.note)))
    if assessment.exclusion is not None:
        return ended(Outcome.EXCLUDED, reason=assessment.exclusion)
    after = intervened(root.case, root.evidence, operation, edit.text)
    ruling = await makers.panel.rule(root, after)
    shared = len(root.case.unit(root.evidence).conditions) > 1
    flags = [SHARED] * shared + [*assessment.flags] + [ADJUDICATED] * ruling.adjudicated
    outcome = Outcome.REVIEW if ruling.state is None else Outcome.ACCEPTED
    return ended(outcome, state=ruling.state, flags=flags, readings=ruling.readings)


def _excluded(root: Root, operation: Operation, text: str | None) -> Exclusion | None:
    unusable = text_exclusion(operation, text)
    if unusable is not None:
        return unusable
    after = intervened(root.case, root.evidence, operation, text)
    return automatic_exclusion(root.case, after, root.evidence, operation, text)


def publish(
    folder: str | Path, corpus: Corpus, standing: Mapping[str, Attempt]
) -> ConstructionReport:
    """Write pairs.jsonl and review.jsonl; a pair that is there already stays as it is."""
    folder = Path(folder)
    pairs = _pairs(corpus, standing)
    records = {pair.id for pair in pairs}
    ids = _ids(corpus)
    write_records(folder / PAIRS, (pair.record for pair in pairs))
    write_review(
        folder / REVIEW,
        (
            ReviewItem.of(corpus.roots[attempt.root].root, attempt)
            for name in ids
            if name not in records
            and (attempt := standing.get(name))
            and attempt.outcome is Outcome.REVIEW
        ),
    )
    return ConstructionReport.of(pairs, standing, len(ids))


def _ids(corpus: Corpus) -> list[str]:
    return [f"{root}/{operation}" for root in corpus.roots for operation in Operation]


def _pairs(corpus: Corpus, standing: Mapping[str, Attempt]) -> list[Pair]:
    """The pairs of the corpus and of the accepted attempts, in the order of the roots."""
    records = {pair.id: pair.record for pair in corpus.pairs}
    for attempt in standing.values():
        if attempt.outcome is Outcome.ACCEPTED:
            records.setdefault(attempt.id, attempt.pair())
    found = (records[name] for name in _ids(corpus) if name in records)
    return [Pair(corpus.roots[record.root], record) for record in found]


# ---- Dry run -----------------------------------------------------------------------------------

CHARACTERS_PER_TOKEN = 4
ANSWER_TOKENS = {"edit": 40, "assess": 90}  # beside the text of an edit; a state takes 60


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a run would send: requests by purpose, and tokens roughly.

    A token is taken for four characters. What is answered in the cache is not counted. An edit that
    a model has yet to write is taken to be made, to pass its checks and to be as long as its unit;
    third opinions on readings yet to come, and retries, are not counted.
    """

    attempts: int
    finished: int
    requests: Counter[str]
    tokens_in: int
    tokens_out: int


async def dry_run(
    folder: str | Path,
    makers: Makers,
    *,
    limit: int | None = None,
    operations: Sequence[Operation] = tuple(Operation),
) -> DryRun:
    """Count the requests that `construct` would send; nothing is sent or written.

    The makers ask nothing either: their `Ask` gives kept answers, and raises `Unkept` for the rest.
    """
    corpus = Corpus.read(folder)
    _check(folder, corpus)
    standing = standing_attempts(folder, corpus)
    jobs, finished = _jobs(corpus, standing, makers.name, limit, operations)
    requests: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    for job in jobs:
        unit = job.root.root.case.unit(job.root.root.evidence).text
        for request in await _requests(job, makers, unit):
            requests[request.purpose] += 1
            characters = len(request.system) + len(request.user)
            tokens["in"] += characters // CHARACTERS_PER_TOKEN
            tokens["out"] += ANSWER_TOKENS.get(request.purpose, 60)
            if request.purpose == "edit":
                tokens["out"] += len(unit) // CHARACTERS_PER_TOKEN
    return DryRun(len(jobs), finished, requests, tokens["in"], tokens["out"])


async def _requests(job: _Job, makers: Makers, unit: str) -> list[Request]:
    """The requests of an attempt; the unit's own text stands for an edit yet to be written."""
    root, operation = job.root.root, job.operation
    unsent: list[Request] = []
    text: str | None = unit
    try:
        edit = await edited(makers.editor, job.root, operation)
    except Unkept as miss:
        unsent.append(miss.request)
    else:
        if isinstance(edit, Abstention) or _excluded(root, operation, edit.text):
            return []
        text = edit.text
    try:
        if (await makers.assessor.assess(root, operation, text)).exclusion is not None:
            return unsent
    except Unkept as miss:
        unsent.append(miss.request)
    after = intervened(root.case, root.evidence, operation, text)
    read = len(unsent)
    for judge in (makers.panel.after, makers.panel.comparison):
        try:
            await judge.read(root, after)
        except Unkept as miss:
            unsent.append(miss.request)
    if len(unsent) == read:  # both are known, and so is whether a third is needed
        try:
            await makers.panel.rule(root, after)
        except Unkept as miss:
            unsent.append(miss.request)
    return unsent
