"""Judging on a Ray cluster: the same groups of cases as in one process, dealt out to workers."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from interpact.case.case import Case
from interpact.case.files import Entry
from interpact.case.problems import InputProblems
from interpact.case.states import State
from interpact.errors import CaseProblem, InterPactError
from interpact.judging.batch import Judge, Outcome, told
from interpact.judging.verifier import TOGETHER, Verifier
from interpact.judging.view import View

WINDOW = 20_000  # cases that are handed to the cluster at once


@dataclass(frozen=True)
class Job:
    """What every worker does; its verifier must be reachable from all machines."""

    verifier: Path | None
    mode: str
    states: dict[str, State]
    risk: float | None


class _Worker:
    """Holds a verifier and judges groups of cases."""

    def __init__(self, job: Job) -> None:
        load = lambda: Verifier.load(job.verifier)  # noqa: E731
        self.judge = Judge(load, job.mode, job.states, job.risk)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        outcomes = [self.judge(pickle.loads(cases)) for cases in batch["cases"]]
        return {"outcomes": [pickle.dumps(some) for some in outcomes]}


def judged_on_ray(
    entries: Iterable[Entry], job: Job, workers: int
) -> Iterator[tuple[Entry, View | InterPactError]]:
    """Every entry with its view or problem, in order; a worker that dies is replaced."""
    try:
        import ray
    except ImportError:
        raise InterPactError(
            "--engine ray needs Ray; install it: pip install 'interpact[scale]'"
        ) from None
    if not ray.is_initialized():
        ray.init(include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)
    stream = iter(entries)
    while window := list(islice(stream, WINDOW)):
        groups = [window[i : i + TOGETHER] for i in range(0, len(window), TOGETHER)]
        for group, outcomes in zip(groups, _judged(groups, job, workers), strict=True):
            left = iter(outcomes)
            for entry in group:
                if entry.case is None:
                    yield entry, InputProblems(entry.problems)
                    continue
                outcome = next(left)
                yield entry, told(entry, outcome) if isinstance(outcome, CaseProblem) else outcome


def _judged(groups: list[list[Entry]], job: Job, workers: int) -> Iterator[list[Outcome]]:
    import ray

    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    items = [{"cases": pickle.dumps(_cases(group))} for group in groups]
    data = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
        _Worker,
        fn_constructor_args=(job,),
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(size=workers),
        num_cpus=1,
        max_restarts=-1,
        max_task_retries=-1,
    )
    for row in data.iter_rows():
        yield pickle.loads(row["outcomes"])


def _cases(group: list[Entry]) -> list[Case]:
    return [entry.case for entry in group if entry.case is not None]
