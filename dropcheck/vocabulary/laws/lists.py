"""The laws whose argument is a list, on the axis just before the axis of draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.distributions.domains import (
    FINITE,
    PROBABILITIES,
    LawParameter,
    plain,
)
from dropcheck.vocabulary.distributions.standard import Standard
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import Generator, Law, Size
from dropcheck.vocabulary.laws.discrete import smaller
from dropcheck.vocabulary.laws.finite_sets import below
from dropcheck.vocabulary.laws.quadrature import weighted_moments, weighted_norm
from dropcheck.vocabulary.laws.sampling import uniforms

OUTCOMES = LawParameter("p", PROBABILITIES, axes=1)
PROBABILITY_SUM_TOLERANCE = 1e-9

# `near_ends` and `tails` are not defined for laws of lists; their values are bounded or normal, so
# that all moments exist
of_lists = partial(Law, moments=math.inf, near_ends=None, tails=None, nanoseconds=40.0)


def sum_problem(p: Array) -> str | None:
    """A sentence if the numbers on the axis before the axis of draws do not sum to 1, else None."""
    lists = np.moveaxis(p, -2, -1)
    # numpy's sum is not exact: a few units in the last place more than math.fsum may say
    wrong = lists[np.abs(lists.sum(axis=-1) - 1.0) > PROBABILITY_SUM_TOLERANCE + 1e-13]
    if not wrong.size:
        return None
    return f"the probabilities p must sum to 1, and sum to {plain(math.fsum(wrong[0]))}"


# up to this many outcomes, comparing with each is quicker than a binary search (measured: 2 ns per
# draw and outcome against 16 to 50 ns per draw)
FEW_OUTCOMES = 12


def _categorical_draws(generator: Generator, size: Size, p: Array) -> Array:
    """The inverse of the distribution function; an outcome of probability 0 never comes up."""
    ends = np.cumsum(p, axis=-2)
    ends /= ends[..., -1:, :]
    u = uniforms(generator, size)
    outcomes = p.shape[-2]
    if p.size == outcomes and outcomes > FEW_OUTCOMES:
        return np.searchsorted(ends.reshape(-1), u, side="right")
    out = np.zeros(size)
    for index in range(outcomes - 1):
        out += u >= ends[..., index, :]
    return out


def _categorical_log_mass(x: Array, p: Array) -> Any:
    lead, draws = np.broadcast_shapes(p.shape[:-2], x.shape[:-1]), max(p.shape[-1], x.shape[-1])
    table = np.broadcast_to(p, (*lead, p.shape[-2], draws))
    places = np.broadcast_to(x, (*lead, draws)).astype(np.intp)[..., None, :]
    return np.log(np.take_along_axis(table, places, axis=-2)[..., 0, :])


def _possible(p: Array) -> tuple[Any, Any]:
    """The first and the last outcome that can come up."""
    possible = p > 0
    last = p.shape[-2] - 1.0
    return possible.argmax(axis=-2) + 0.0, last - possible[..., ::-1, :].argmax(axis=-2)


def _sorted_list(which: Callable[[Array], tuple[Array, Array]]) -> Standard:
    """What is known of a law on a list of values with given probabilities.

    `which` makes both from the law's argument: the values, rising on the last axis, and weights,
    which may have any sum.
    """

    def sums(values: Array) -> tuple[Array, Array, Array]:
        points, weights = which(values)
        shares = weights / weights.sum(axis=-1, keepdims=True)
        none = np.zeros((*shares.shape[:-1], 1))
        below = np.concatenate([none, np.cumsum(shares, axis=-1)], axis=-1)
        above = np.concatenate([np.cumsum(shares[..., ::-1], axis=-1)[..., ::-1], none], axis=-1)
        return points, np.minimum(below, 1.0), np.minimum(above, 1.0)

    def taken(table: Array, counted: Array) -> Any:
        places = np.clip(counted, 0, table.shape[-1] - 1)
        if table.ndim == 1:
            return table[places]
        return np.take_along_axis(table, places[..., None], axis=-1)[..., 0]

    def counted(table: Array, x: Array, side: Literal["left", "right"]) -> Any:
        """How many entries of a rising table are below x, or with `right`, at most x."""
        if table.ndim == 1:
            return np.searchsorted(table, x, side=side)
        lower = table <= x[..., None] if side == "right" else table < x[..., None]
        return lower.sum(axis=-1)

    def cdf(x: Array, values: Array) -> Any:
        points, below, _ = sums(values)
        return taken(below, counted(points, x, "right"))

    def survival(x: Array, values: Array) -> Any:
        points, _, above = sums(values)
        return taken(above, counted(points, x, "right"))

    def quantile(u: Array, values: Array) -> Any:
        points, below, _ = sums(values)
        return taken(points, counted(below[..., 1:], u, "left"))

    def upper_quantile(v: Array, values: Array) -> Any:
        points, _, above = sums(values)
        # the least value with at most v above it; `above` falls, and -above rises
        return taken(points, counted(-above[..., 1:], -v, "left"))

    def log_mgf(t: Array, values: Array) -> Any:
        points, weights = which(values)
        shares = weights / weights.sum(axis=-1, keepdims=True)
        powers = np.log(shares) + np.asarray(t)[..., None] * points
        largest = powers.max(axis=-1, keepdims=True)
        return largest[..., 0] + np.log(np.exp(powers - largest).sum(axis=-1))

    return Standard(
        mean=lambda values: weighted_moments(*which(values))[0],
        central=lambda values: weighted_moments(*which(values))[1],
        norm=lambda p, values: weighted_norm(p, *which(values)),
        log_mgf=log_mgf,
        cdf=cdf,
        survival=survival,
        quantile=quantile,
        upper_quantile=upper_quantile,
    )


CATEGORICAL = of_lists(
    name="categorical",
    summary="index, from 0, of an outcome picked by its probability",
    parameters=(OUTCOMES,),
    check=sum_problem,
    values=Values.WHOLE,
    ends=_possible,
    degenerate=None,
    rare=smaller,
    sampler=_categorical_draws,
    log_density_inside=_categorical_log_mass,
    aliases=("cat",),
    standard=_sorted_list(lambda p: (np.arange(p.shape[-1] + 0.0), p)),
)


def _choice_draws(generator: Generator, size: Size, v: Array) -> Array:
    picks = below(generator, v.shape[-2], size)
    if v.size == v.shape[-2]:
        return v.reshape(-1).take(picks)
    places = picks.astype(np.intp)[..., None, :]
    # all elements of a draw that the list broadcasts to share its values
    table = np.broadcast_to(v, (*size[:-1], v.shape[-2], size[-1]))
    return np.take_along_axis(table, places, axis=-2)[..., 0, :]


def _choice_chances(v: Array) -> Array:
    _, times = np.unique(v, return_counts=True)
    return np.asarray(times / times.sum())


CHOICE = of_lists(
    name="choice",
    summary="one of the values v, equally likely",
    parameters=(LawParameter("v", FINITE, axes=1),),
    values=Values.LISTED,
    ends=lambda v: (v.min(axis=-2), v.max(axis=-2)),
    degenerate=None,
    rare=_choice_chances,
    sampler=_choice_draws,
    log_density_inside=lambda x, v: np.log((v == x[..., None, :]).mean(axis=-2)),
    standard=_sorted_list(lambda v: (np.sort(v, axis=-1), np.ones_like(v))),
    # E|x|^p is the mean over the list of E|v|^p
    norm_of_random=lambda p, norm, hull: norm(0, p),
)
