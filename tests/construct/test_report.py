"""The report: counts by hand on a small corpus, agreement by its definition."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from pathlib import Path

import pytest

from interpact.case.states import State
from interpact.construct.judges import Role
from interpact.construct.report import Agreement, ConstructionReport
from interpact.construct.run import construct, report
from interpact.corpus.pairs import Operation, Regime, Split
from tests.construct.made_up import Script, makers, varied, write_corpus

S, N, U = State
GOLDEN = Path(__file__).parent / "golden" / "report.md"


@pytest.fixture
def built(tmp_path: Path) -> ConstructionReport:
    return asyncio.run(construct(write_corpus(tmp_path), makers(Script(varied))))


def test_the_report_is_the_one_that_was_agreed_on(built: ConstructionReport):
    """To renew the file after a wanted change: rm tests/construct/golden/report.md, run twice."""
    if not GOLDEN.exists():
        GOLDEN.write_text(built.markdown(), encoding="utf-8")
        pytest.fail("written anew; look at it")
    assert GOLDEN.read_text(encoding="utf-8") == built.markdown()


def test_its_parts_add_up(built: ConstructionReport):
    pairs = built.pairs.total()
    assert pairs == built.tiers.total() > 0
    controls = sum(n for (operation, _), n in built.pairs.items() if operation.control)
    assert built.regimes.total() == pairs - controls
    assert built.abstentions.total() + built.exclusions.total() + built.agreement.open + pairs == 40
    assert built.outcomes.total() == 40
    assert (built.elsewhere, built.unattempted) == (0, 0)


def test_a_corpus_without_attempts_can_be_reported(tmp_path: Path):
    found = report(write_corpus(tmp_path))
    assert found.pairs.total() == 0
    assert found.unattempted == 40
    assert "Read by both judges: 0; same state: 0." in found.markdown()


def test_pairs_without_a_split_have_a_column_of_their_own(built: ConstructionReport):
    assert "no split" not in built.markdown()
    bare = ConstructionReport.of([], {}, 0)
    bare.pairs[Operation.REMOVAL, None] = 3
    bare.pairs[Operation.REMOVAL, Split.DEV] = 2
    bare.regimes[Regime.ABSORBED, None] = 3
    text = bare.markdown()
    assert "| removal | Delete the designated evidence unit. | 0 | 2 | 0 | 3 |" in text
    assert "| absorbed | 0 | 0 | 0 | 3 |" in text


def agreement(confusion: dict[tuple[State, State], int]) -> Agreement:
    return Agreement(Counter(confusion), Counter(), 0, 0, 0, 0)


def test_kappa_is_agreement_beyond_chance():
    # 20 of 25 agree; by chance (15*16 + 10*9) / 25^2 = 0.528 would.
    found = agreement({(S, S): 13, (N, N): 7, (S, N): 2, (N, S): 3})
    assert (found.agreed, found.read_twice) == (20, 25)
    assert found.kappa is not None
    assert math.isclose(found.kappa, (0.8 - 0.528) / (1 - 0.528))


def test_kappa_of_one_state_alone_is_not_defined():
    assert agreement({(S, S): 4}).kappa is None
    assert agreement({}).kappa is None


def test_unusable_answers_are_counted_by_who_gave_them(built: ConstructionReport):
    assert not built.agreement.unusable
    known = Agreement(Counter(), Counter({(Role.THIRD, "refused"): 2}), 2, 0, 0, 2)
    text = ConstructionReport(
        *[Counter() for _ in range(2)], 0, *[Counter() for _ in range(5)], known, 0, 0
    ).markdown()
    assert "- No usable answer (third, refused): 2." in text
