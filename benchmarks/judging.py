"""Judging a long contract: ours beside plain per-unit prompts and a llama.cpp server with its prompt cache.

    python benchmarks/judging.py [--conditions 17] [--units 34] [--dtype auto] [--growth] [--cold]

All three put the same direct question about every unit to SmolLM2 on the CPU and read the first token
of the answer, which for Yes and No is all of it: plain transformers `generate`, a prompt a unit; the
server of llama.cpp (package xllamacpp, 4-bit weights) one request after the other, so that its cache
holds the case; ours, in one packed pass. (The untrained model goes on talking; writing that out is not
timed for anyone.) Mode propagate answers more from shorter prompts and is timed too. Ours is held
against plain prompts: the same tokens, P(Yes) within the noise of the number format.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path

import torch

from interpact.case.case import Case, Root
from interpact.case.files import case_from, write_cases
from interpact.corpus.store import SAMPLE, Corpus
from interpact.judging.engines.local import LocalEngine
from interpact.judging.settings import JudgeSettings
from interpact.judging.verifier import Verifier
from interpact.verifier.backbone import load_backbone
from interpact.verifier.fetch import SMOLLM2, weights_file
from interpact.verifier.prompts import direct
from interpact.verifier.questions import Questions, label_logs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--conditions", type=int, default=17)
    parser.add_argument("--units", type=int, default=34)
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--growth", action="store_true", help="time more units, conditions, cases")
    parser.add_argument("--cold", action="store_true", help="time `interpact judge` from the shell")
    parser.add_argument("--ours-only", action="store_true")
    options = parser.parse_args()
    case = contract(options.conditions, options.units)
    backbone = load_backbone(SMOLLM2, dtype=options.dtype)
    engine = LocalEngine(lambda: backbone)
    verifier = Verifier(engine, JudgeSettings())
    roots = [Root(case, unit.id, unit.conditions[0]) for unit in case.evidence]
    length = len(backbone.encoder.prompt(direct(roots[0])))
    print(
        f"{len(case.conditions)} conditions, {len(roots)} units, prompts of about {length:,} tokens, "
        f"{str(backbone.model.dtype).removeprefix('torch.')}, {torch.get_num_threads()} threads"
    )
    packed(engine, roots[:2])  # warm
    ours, answers = timed(lambda: packed(engine, roots))
    propagate, _ = timed(lambda: verifier.judge(case, mode="propagate"))
    rows = [("ours, direct", ours), ("ours, propagate", propagate)]
    if not options.ours_only:
        plain, expected = timed(lambda: plainly(backbone, roots))
        rows.insert(0, ("plain transformers, a prompt a unit", plain))
        with served(case) as ask:
            ask(direct(roots[0]))
            cached, _ = timed(lambda: [ask(direct(root)) for root in roots])
        rows.insert(1, ("llama.cpp server with prompt cache", cached))
        pairs = list(zip(answers, expected, strict=True))
        same = sum(a[0] == b[0] for a, b in pairs)
        apart = max(abs(a[1] - b[1]) for a, b in pairs)
        print(f"{same} of {len(pairs)} tokens the same as plain; P(Yes) at most {apart:.4f} apart")
    print("| what | seconds | a unit | ours is faster |\n|---|---:|---:|---:|")
    for name, seconds in rows:
        print(f"| {name} | {seconds:.2f} | {seconds / len(roots):.3f} | {seconds / ours:.1f}x |")
    if options.growth:
        growth(engine, verifier)
    if options.cold:
        cold(case)


def contract(conditions: int, units: int) -> Case:
    """A made-up contract: clauses and statements of the sample corpus, each unit on one condition."""
    cases = list(Corpus.read(SAMPLE).cases.values())
    clauses = list(dict.fromkeys(unit.text for case in cases for unit in case.evidence))
    statements = list(dict.fromkeys(t for case in cases for t in case.conditions.values()))
    return case_from(
        {
            "id": f"contract-{conditions}-{units}",
            "rule": "The contract may be signed only if every one of the listed statements holds.",
            "query": "May we sign this contract?",
            "aggregation": "all",
            "conditions": {
                f"c{i}": text for i, text in enumerate(islice(cycle(statements), conditions), 1)
            },
            "evidence": [
                {
                    "id": f"e{i}",
                    "conditions": [f"c{i % conditions + 1}"],
                    "text": f"{i + 1}. {text}",
                }
                for i, text in enumerate(islice(cycle(clauses), units))
            ],
        }
    )


Said = tuple[int, float]
"""The first token of an answer, and P(Yes) against No."""


def packed(engine: LocalEngine, roots: list[Root]) -> list[Said]:
    """All prompts in trees that share what they begin with."""
    questions = Questions(engine.paired.encoder)
    words = questions.verdicts
    rows = [[questions.direct(root)] for root in roots]

    def said(logits: torch.Tensor) -> Said:
        return int(logits[0].argmax()), float(label_logs(logits, words)[0, 0].exp())

    return engine._read(engine.paired, rows, said)


def plainly(backbone, roots: list[Root]) -> list[Said]:
    """Each prompt by itself through `generate`, as one would write it first."""
    questions = Questions(backbone.encoder)
    found = []
    for root in roots:
        tokens = torch.tensor([backbone.encoder.prompt(direct(root))])
        with torch.inference_mode():
            out = backbone.model.generate(
                tokens,
                attention_mask=torch.ones_like(tokens),
                max_new_tokens=1,
                do_sample=False,
                output_logits=True,
                return_dict_in_generate=True,
                pad_token_id=backbone.encoder.end,
            )
        yes = label_logs(out.logits[0], questions.verdicts)[0, 0].exp()
        found.append((int(out.sequences[0, -1]), float(yes)))
    return found


@contextmanager
def served(case: Case) -> Iterator[Callable[[str], str]]:
    """A llama.cpp server that keeps the prompt of its one slot."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights_file())
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel = 8192, 1
    params.cpuparams.n_threads = torch.get_num_threads()
    params.verbosity = -1
    server = xllamacpp.Server(params)
    url = f"{server.listening_address}/v1/chat/completions"

    def ask(prompt: str) -> str:
        body = {
            "model": "smollm2",
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "max_tokens": 1,
            "cache_prompt": True,
        }
        request = urllib.request.Request(
            url, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=600) as response:
            return json.load(response)["choices"][0]["message"]["content"]

    yield ask
    del server


def growth(engine: LocalEngine, verifier: Verifier) -> None:
    """Seconds as units, conditions and cases grow."""
    print("\n| conditions | units | cases | propagate | direct |\n|---:|---:|---:|---:|---:|")
    shapes = [(17, n, 1) for n in (17, 34, 68, 136)]
    shapes += [(n, 34, 1) for n in (4, 8, 34)] + [(4, 8, n) for n in (1, 4, 16)]
    for conditions, units, count in shapes:
        cases = [
            contract(conditions, units).model_copy(update={"query": f"May we sign contract {i}?"})
            for i in range(count)
        ]
        seconds = []
        for mode in ("propagate", "direct"):
            began = time.perf_counter()
            list(verifier.views(cases, mode=mode))
            seconds.append(time.perf_counter() - began)
        print(
            f"| {conditions} | {units} | {count} | {seconds[0]:.2f} | {seconds[1]:.2f} |",
            flush=True,
        )


def cold(case: Case) -> None:
    """`interpact judge` as a process of its own: with given states, and with a verifier."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.json"
        write_cases(path, [contract(3, 3)])
        given = [f"--set=c{i}=satisfied" for i in (1, 2, 3)]
        print("\n| cold start | seconds |\n|---|---:|")
        for name, more in (("exact", given), ("propagate", ["--mode", "propagate"])):
            command = [sys.executable, "-m", "interpact", "judge", str(path), *more]
            began = time.perf_counter()
            done = subprocess.run(command, capture_output=True, text=True)
            seconds = time.perf_counter() - began
            told = f"{seconds:.2f}" if not done.returncode else done.stderr.strip()
            print(f"| {name} | {told} |")


def timed(work: Callable):
    """Seconds, and what the work gave."""
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


if __name__ == "__main__":
    main()
