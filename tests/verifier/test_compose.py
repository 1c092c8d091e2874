"""The paper's appendix "Properties of Hard Warrant" on random q and R."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from interpact.verifier.compose import change, compose, flat, hard_warrant  # noqa: E402
from interpact.verifier.losses import LossWeights, losses  # noqa: E402

PAIRS = 7


@st.composite
def batches(draw: st.DrawFn):
    """Log q, log R of a batch, extreme ones included, with original states and decisions."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    scale = draw(st.sampled_from([0.1, 1.0, 10.0, 60.0]))

    def normal(*shape: int):
        logits = torch.randn(*shape, generator=generator, dtype=torch.float64)
        return (logits * scale).log_softmax(-1)

    def label():
        return torch.randint(3, (PAIRS,), generator=generator)

    return normal(PAIRS, 3), normal(PAIRS, 3, 3), label(), label()


def rows(log_R, state):
    return log_R[torch.arange(PAIRS), state]


@given(batches())
def test_rows_and_compositions_are_distributions(batch):
    log_q, log_R, state, decision = batch
    warranted = hard_warrant(log_R, state, decision)
    assert torch.allclose(warranted.exp().sum(-1), torch.ones(PAIRS, 3, dtype=torch.float64))
    p = compose(log_q, warranted).exp()
    assert torch.allclose(p.sum(-1), torch.ones(PAIRS, dtype=torch.float64))
    assert torch.allclose(p, torch.einsum("ps,psd->pd", log_q.exp(), warranted.exp()))


@given(batches())
def test_the_drift_identity(batch):
    log_q, log_R, state, decision = batch
    raw, held = (
        compose(log_q, log_R).exp(),
        compose(log_q, hard_warrant(log_R, state, decision)).exp(),
    )
    known = log_q.exp().gather(1, state[:, None])
    one_hot = torch.nn.functional.one_hot(decision, 3)
    assert torch.allclose(raw - held, known * (rows(log_R, state).exp() - one_hot), atol=1e-12)


@given(batches())
def test_the_score_in_closed_form_and_its_bounds(batch):
    log_q, log_R, state, decision = batch
    log_s, log_kept = change(compose(log_q, hard_warrant(log_R, state, decision)), decision)
    s, q = log_s.exp(), log_q.exp()
    others = 1 - torch.nn.functional.one_hot(state, 3)
    kept = log_R.exp()[torch.arange(PAIRS)[:, None], torch.arange(3), decision[:, None]]
    assert torch.allclose(s, (q * others * (1 - kept)).sum(1), atol=1e-12)
    unchanged = q.gather(1, state[:, None]).squeeze(1)
    assert (s <= 1 - unchanged + 1e-12).all()
    assert torch.allclose(s + log_kept.exp(), torch.ones(PAIRS, dtype=torch.float64))
    raw = change(compose(log_q, log_R), decision)[0].exp()
    gap = unchanged * (1 - rows(log_R, state).exp().gather(1, decision[:, None]).squeeze(1))
    assert (raw >= s - 1e-12).all()
    assert torch.allclose(raw - s, gap, atol=1e-12)
    assert (gap <= unchanged + 1e-12).all()


@given(batches(), st.integers(0, 2))
def test_a_certain_state_picks_its_row(batch, certain):
    _, log_R, state, decision = batch
    log_q = torch.where(torch.arange(3) == certain, 0.0, -torch.inf).double().expand(PAIRS, 3)
    p = compose(log_q, hard_warrant(log_R, state, decision)).exp()
    expected = log_R.exp()[:, certain].clone()
    known = state == certain
    expected[known] = torch.nn.functional.one_hot(decision, 3).double()[known]
    assert torch.allclose(p, expected)


@given(batches())
def test_the_flat_ablation_keeps_the_warrants_mass(batch):
    log_q, log_R, state, decision = batch
    log_u = log_R[:, 0]
    q_known = log_q.exp().gather(1, state[:, None])
    expected = q_known * torch.nn.functional.one_hot(decision, 3) + (1 - q_known) * log_u.exp()
    assert torch.allclose(flat(log_q, log_u, state, decision).exp(), expected, atol=1e-12)


def test_scores_near_zero_and_one_keep_their_logarithms():
    # 1 - p would round to 0 here.
    log_q = torch.tensor([[-1e-30, -100.0, -101.0]]).double()
    log_R = torch.full((1, 3, 3), 1 / 3).log().double()
    log_p = compose(log_q, hard_warrant(log_R, torch.tensor([0]), torch.tensor([0])))
    log_s, _ = change(log_p, torch.tensor([0]))
    expected = (torch.tensor([-100.0, -101.0]).double().exp() * 2 / 3).sum().log()
    assert torch.allclose(log_s, expected)


def labelled(batch, omega=None):
    log_q, log_R, state, decision = batch
    log_R = log_R.clone().requires_grad_()
    log_q = log_q.clone().requires_grad_()
    log_p = compose(log_q.detach(), hard_warrant(log_R, state, decision))
    mapping = (torch.arange(PAIRS)[:, None] + torch.arange(3)) % 3
    after = (decision + torch.arange(PAIRS)) % 3
    omega = torch.ones(PAIRS).double() if omega is None else omega
    return log_q, log_R, log_p, mapping, state, decision, after, omega


@given(batches())
def test_the_losses_are_the_papers(batch):
    omega = torch.tensor([1.0, 0.5, 1.0, 1.0, 0.5, 1.0, 0.5]).double()
    _, log_R, log_p, mapping, _, decision, after, omega = labelled(batch, omega)
    found = losses(log_R, log_p, mapping, decision, after, omega, LossWeights())
    branch = -sum(log_R[i, c, mapping[i, c]] for i in range(PAIRS) for c in range(3)) / (3 * PAIRS)
    of_decision = -sum(omega[i] * log_p[i, after[i]] for i in range(PAIRS)) / omega.sum()
    log_s, log_kept = change(log_p, decision)
    of_change = (
        -sum(
            omega[i] * (log_s[i] if after[i] != decision[i] else log_kept[i]) for i in range(PAIRS)
        )
        / omega.sum()
    )
    assert torch.allclose(found.branch, branch)
    assert torch.allclose(found.decision, of_decision)
    assert torch.allclose(found.change, of_change)
    assert torch.allclose(found.total, 0.5 * branch + of_decision + 0.5 * of_change)


@given(batches())
def test_only_the_branch_loss_reaches_the_warranted_row_and_nothing_reaches_the_estimator(batch):
    log_q, log_R, log_p, mapping, state, decision, after, omega = labelled(batch)
    composed = LossWeights(branch=0.0)
    losses(log_R, log_p, mapping, decision, after, omega, composed).total.backward()
    assert log_q.grad is None
    gradient = log_R.grad
    assert torch.isfinite(gradient).all()
    assert (rows(gradient, state) == 0).all()
    log_q, log_R, log_p, mapping, state, decision, after, omega = labelled(batch)
    losses(log_R, log_p, mapping, decision, after, omega, LossWeights()).total.backward()
    expected = mapping.gather(1, state[:, None])
    assert (rows(log_R.grad, state).gather(1, expected) != 0).all()


def test_a_loss_of_weight_zero_adds_nothing_even_where_it_is_infinite():
    log_R = torch.full((1, 3, 3), 1 / 3).log()
    log_p = torch.tensor([[0.0, -torch.inf, -torch.inf]])
    zero = torch.tensor([0])
    labels = (torch.zeros(1, 3, dtype=torch.long), zero, torch.tensor([1]), torch.ones(1))
    found = losses(log_R, log_p, *labels, LossWeights(decision=0.0, change=0.0))
    assert torch.isfinite(found.total) and torch.isinf(found.change)
    with pytest.raises(ValueError, match="nothing to train"):
        losses(log_R, log_p, *labels, LossWeights(0.0, 0.0, 0.0))
