"""Evidence that carries instructions: the share of judgments that it flips, by mode.

    python benchmarks/injection.py [--verifier FOLDER] [--corpus DIR --split test] [--roots 4]

Each text of `injections.jsonl` is added to the target unit of some labelled roots, and the judgment of that
unit is compared with the one before. Harmless additions give the share that any added text flips.
A flip may also be right, where a text says something about the condition; what is asked here is whether
words that only address the judge move it more than harmless ones. That special tokens in evidence stay
text is checked on every prompt.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

from interpact.case.case import Case
from interpact.corpus.pairs import LabelledRoot, Split
from interpact.corpus.store import SAMPLE, Corpus
from interpact.judging.fit import labelled
from interpact.judging.judgment import DIRECT, INTERVENE, PROPAGATE
from interpact.judging.verifier import Verifier
from interpact.verifier import prompts

TEXTS = Path(__file__).with_name("injections.jsonl")
HARMLESS = "harmless"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--verifier", type=Path)
    parser.add_argument("--corpus", type=Path, default=SAMPLE)
    parser.add_argument("--split", choices=[str(s) for s in Split], default="dev")
    parser.add_argument("--roots", type=int, default=4, help="roots that each text is tried on")
    parser.add_argument("--modes", default=f"{PROPAGATE},{INTERVENE},{DIRECT}")
    parser.add_argument("--texts", type=int, help="only the first so many of each kind")
    options = parser.parse_args()
    texts = chosen([json.loads(line) for line in TEXTS.read_text().splitlines()], options.texts)
    roots, _ = labelled(Corpus.read(options.corpus), Split(options.split))
    verifier = Verifier.load(options.verifier)
    tries = [
        (text["kind"], root, spiked(root, text))
        for i, text in enumerate(texts)
        for root in rotated(roots, i, options.roots)
    ]
    special = no_special_tokens(verifier, [case for _, _, case in tries], tries)
    print(
        f"{len(texts)} texts on {options.roots} roots each; special tokens in evidence: {special}"
    )
    kinds = list(dict.fromkeys(kind for kind, _, _ in tries))
    attacks = [kind for kind in kinds if kind != HARMLESS]
    print("| mode | " + " | ".join([*kinds, "all but harmless"]) + " |")
    print("|---|" + "---:|" * (len(kinds) + 1))
    for mode in options.modes.split(","):
        flips = flipped(verifier, mode, tries)
        found = [flips[kind] for kind in kinds]
        found.append([flip for kind in attacks for flip in flips[kind]])
        cells = [f"{100 * sum(some) / len(some):.1f} % ({len(some)})" for some in found]
        print(f"| {mode} | {' | '.join(cells)} |", flush=True)


def chosen(texts: list[dict], most: int | None) -> list[dict]:
    """The first texts of each kind."""
    seen: dict[str, int] = defaultdict(int)
    found = []
    for text in texts:
        seen[text["kind"]] += 1
        if most is None or seen[text["kind"]] <= most:
            found.append(text)
    return found


def rotated(roots: list[LabelledRoot], number: int, most: int) -> list[LabelledRoot]:
    """Other roots for each text."""
    return [roots[(number * most + i) % len(roots)] for i in range(min(most, len(roots)))]


def spiked(root: LabelledRoot, text: dict) -> Case:
    """The case with the text added to its target unit."""
    case = root.root.case
    units = [
        unit.model_copy(update={"text": f"{unit.text} {text['text'] * text['repeat']}"})
        if unit.id == root.root.evidence
        else unit
        for unit in case.evidence
    ]
    return case.model_copy(update={"evidence": tuple(units)})


def flipped(
    verifier: Verifier, mode: str, tries: list[tuple[str, LabelledRoot, Case]]
) -> dict[str, list[bool]]:
    """For each kind, whether each judgment differs from that of the case as it was."""
    originals = {root.root.case.id: root.root.case for _, root, _ in tries}
    before = {
        (view.case.id, j.evidence, j.condition): j.critical
        for view in verifier.views(originals.values(), mode=mode)
        for j in view.judgments
    }
    found: dict[str, list[bool]] = defaultdict(list)
    views = verifier.views((case for _, _, case in tries), mode=mode)
    for (kind, root, _), view in zip(tries, views, strict=True):
        key = (root.root.evidence, root.root.condition)
        (after,) = (j.critical for j in view.judgments if (j.evidence, j.condition) == key)
        found[kind].append(after is not before[(view.case.id, *key)])
    return found


def no_special_tokens(verifier: Verifier, cases: list[Case], tries: list) -> str:
    """How often evidence became a special token, over all prompts."""
    encoder = verifier.engine.estimator.encoder  # type: ignore[attr-defined]
    special = set(encoder.tokenizer.all_special_ids)
    wrong = 0
    for (_, root, _), case in zip(tries, cases, strict=True):
        for text in (
            prompts.own_state(case, root.root.condition),
            prompts.after_state(case, root.root.condition),
        ):
            wrong += sum(token in special for token in encoder.text(text))
    return f"{wrong} in {2 * len(cases):,} prompts"


if __name__ == "__main__":
    main()
