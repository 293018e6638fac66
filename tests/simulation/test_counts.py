"""Truths counted block by block, against counting one by one."""

from __future__ import annotations

import numpy as np
import pytest

from dropcheck.simulation.integrands import counts


def one_by_one(truths: np.ndarray, blocks: int) -> list[int]:
    draws = truths.shape[-1] // blocks
    flat = truths.reshape(-1, truths.shape[-1]).tolist()
    return [
        sum(sum(row[block * draws : (block + 1) * draws]) for row in flat)
        for block in range(blocks)
    ]


@pytest.mark.parametrize("elements", [(), (3,), (2, 2)])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("draws", [1, 7, 8, 32, 40, 1001, 4096])
def test_counts_are_those_of_counting_one_by_one(
    draws: int, share: float, elements: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(draws)
    for blocks in (1, 3):
        truths = rng.random((*elements, blocks * draws)) < share
        assert counts(truths, blocks).tolist() == one_by_one(truths, blocks)


def test_truths_need_not_lie_side_by_side() -> None:
    truths = np.random.default_rng(0).random((4, 129)) < 0.5
    for apart in (truths[:, 1:], truths[:, :0:-1], np.asfortranarray(truths[:, 1:])):
        assert counts(apart, 2).tolist() == one_by_one(apart, 2)
    same = np.broadcast_to(truths[:, :1], (4, 128))
    assert counts(same, 2).tolist() == one_by_one(same, 2)
