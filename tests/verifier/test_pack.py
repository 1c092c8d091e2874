"""Packed rows give the numbers of rows computed one by one: losses and gradients."""

from __future__ import annotations

import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from interpact.verifier import backbone as backbones
from interpact.verifier.backbone import Reader, can_pack, causal, with_new_adapter
from interpact.verifier.config import LoraSettings
from interpact.verifier.fast import CHUNK, Masks, QuickDropout, chunks
from interpact.verifier.pack import Row, Tree, dense_mask, packed, plain
from tests.verifier import tiny

# Rows that begin alike, also rows that are beginnings of others and rows that are the same.
token = st.integers(0, 3)
rows = st.lists(st.lists(token, min_size=1, max_size=12), min_size=1, max_size=6).map(
    lambda found: [Row(tuple(t), tuple(sorted({0, len(t) - 1, len(t) // 2}))) for t in found]
)


@given(rows)
def test_every_token_of_a_tree_sees_its_own_row_only(given_rows):
    tree = Tree()
    for row in given_rows:
        tree.add(row)
    seen = dense_mask(tree.stretches, len(tree))
    reads = iter(tree.reads)
    for row in given_rows:
        for read in row.reads:
            node = next(reads)
            visible = seen[node].nonzero().flatten().tolist()
            assert [tree.tokens[n] for n in visible] == list(row.tokens[: read + 1])
            assert [tree.depths[n] for n in visible] == list(range(read + 1))


@given(rows)
def test_nothing_stands_twice(given_rows):
    tree = Tree()
    for row in given_rows:
        tree.add(row)
    prefixes = {row.tokens[:i] for row in given_rows for i in range(1, len(row.tokens) + 1)}
    assert len(tree) == len(prefixes)


def test_long_stretches_are_cut_and_see_the_same():
    tree = Tree()
    tree.add(Row(tuple(range(3 * CHUNK + 5)), (0,)))
    tree.add(Row((*range(CHUNK + 7), 9, 9, 9), (0,)))
    parts = chunks(tree.stretches)
    assert max(part.stop - part.start for part in parts) <= CHUNK
    assert torch.equal(dense_mask(parts, len(tree)), dense_mask(tree.stretches, len(tree)))


@given(rows, st.integers(1, 40))
def test_groups_are_packed_in_order_and_never_cut(given_rows, limit):
    groups = [given_rows[i : i + 2] for i in range(0, len(given_rows), 2)]
    spans = [list(span) for span, _ in packed(groups, limit)]
    assert [i for span in spans for i in span] == list(range(len(groups)))


def reader(model, along_tree: bool = True) -> Reader:
    torch.manual_seed(5)
    found = Reader(with_new_adapter(model, LoraSettings(rank=4, scale=8, dropout=0.0)))
    for name, parameter in found.named_parameters():
        if "lora_B" in name:  # adapters begin as nothing; here they have to matter
            torch.nn.init.normal_(parameter, std=0.2)
    if not along_tree:
        found.along_tree = False
        causal(found.model).set_attn_implementation("sdpa")
    return found


def loss_and_gradients(model: Reader, batches):
    model.zero_grad()
    logits = torch.cat([model(batch) for batch in batches])
    weight = torch.linspace(-1, 1, logits.numel()).view(logits.shape)
    loss = (logits.log_softmax(-1) * weight).mean() * 10
    loss.backward()
    gradients = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
    return loss.detach(), gradients


def assert_same(one, two, share=1e-5):
    torch.testing.assert_close(one[0], two[0], rtol=1e-4, atol=1e-6)
    assert one[1].keys() == two[1].keys() and one[1]
    scale = max(float(gradient.abs().max()) for gradient in one[1].values())
    for name, gradient in one[1].items():
        torch.testing.assert_close(
            two[1][name],
            gradient,
            rtol=1e-4,
            atol=share * scale,
            msg=lambda m, n=name: f"{n}: {m}",
        )


@settings(max_examples=12)
@given(rows)
def test_packed_is_unpacked(given_rows):
    base = tiny.llama()
    tree = Tree()
    for row in given_rows:
        tree.add(row)
    apart = loss_and_gradients(reader(copy.deepcopy(base), False), [plain([r]) for r in given_rows])
    along = reader(copy.deepcopy(base))
    assert along.along_tree
    assert_same(apart, loss_and_gradients(along, [tree.batch()]))
    assert_same(apart, loss_and_gradients(reader(copy.deepcopy(base), False), [tree.batch()]))
    assert_same(apart, loss_and_gradients(reader(copy.deepcopy(base), False), [plain(given_rows)]))


def test_a_hybrid_runs_rows_plainly_and_padding_changes_nothing():
    base = tiny.hybrid()
    assert not can_pack(base)
    given_rows = [Row((1, 2, 3, 4, 5), (2, 4)), Row((1, 2, 7), (2,))]
    model = reader(copy.deepcopy(base))
    assert not model.along_tree and not model.packs
    backbone = backbones.Backbone("tiny", model, None, torch.device("cpu"))  # type: ignore[arg-type]
    ((_, batch),) = backbone.batches([given_rows], 100)
    assert not batch.stretches
    apart = loss_and_gradients(model, [plain([row]) for row in given_rows])
    # Its reference kernel works in blocks, whose sums differ by where padding ends.
    assert_same(apart, loss_and_gradients(model, [batch]), share=5e-4)


def test_bf16_along_the_tree_is_near_float32():
    base = tiny.llama()
    tree = Tree()
    for end in range(5):
        tree.add(Row((*range(1, 60), end, *range(40)), (98,)))
    exact = reader(copy.deepcopy(base))(tree.batch())
    rough = reader(copy.deepcopy(base).bfloat16())(tree.batch()).float()
    assert (exact.log_softmax(-1) - rough.log_softmax(-1)).abs().max() < 0.15 * exact.abs().max()


@pytest.mark.parametrize("p", [0.05, 0.5])
def test_quick_dropout_drops_that_share_and_keeps_the_mean(p):
    torch.manual_seed(1)
    masks = Masks(p)
    dropout = QuickDropout(masks)
    x = torch.ones(400, 500)
    found = dropout(x)
    assert abs(float((found == 0).float().mean()) - p) < 0.003
    assert abs(float(found.mean()) - 1) < 0.005
    masks.redraw()
    torch.manual_seed(1)
    assert torch.equal(dropout(x), found)
    assert not torch.equal(dropout(x), found)
    assert torch.equal(dropout.eval()(x), x)


def test_quick_adapters_are_pefts():
    from peft import LoraConfig, get_peft_model

    base = tiny.llama()
    config = LoraConfig(r=4, lora_alpha=8, lora_dropout=0.0, target_modules="all-linear")
    plain_model = get_peft_model(copy.deepcopy(base), config, autocast_adapter_dtype=False)
    torch.manual_seed(5)
    for name, parameter in plain_model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.2)
    quick = copy.deepcopy(plain_model)
    row = Row(tuple(range(1, 30)), (3, 28))
    expected = plain_model(torch.tensor([row.tokens])).logits[0, list(row.reads)]
    torch.testing.assert_close(Reader(quick)(plain([row])), expected, rtol=1e-4, atol=1e-5)
