"""Draws of the discrete laws of numbers."""

from __future__ import annotations

import math

import numpy as np

from dropcheck.vocabulary.sampler_parts import (
    Arguments,
    Array,
    Sampler,
    Size,
    fixed,
    random_words,
    scalar_or_array,
    uniforms,
    whole,
)
from dropcheck.vocabulary.samplers_continuous import signs

CELLS = 2**16  # what 16 random bits tell apart
# up to so many outcomes, comparing with each is quicker than a binary search (measured: 2 ns a
# draw and outcome against 16 to 50 ns a draw)
FEW_OUTCOMES = 12


def coins(generator: np.random.Generator, p: float, size: Size) -> Array:
    """True with probability p, from 16 bits a draw, as bool.

    A draw whose bits fall in the cell that p divides (one in 65,536) is decided by a further
    uniform number, so that p is met to within 2**-53 / 65536, at any size of p.
    """
    count = math.prod(size)
    whole_cells, part = divmod(p * CELLS, 1.0)
    if whole_cells >= CELLS:
        return np.ones(size, dtype=bool)
    bits = random_words(generator, 2 * count).view("<u2")[:count]
    heads = bits < np.uint16(whole_cells)
    if part > 0:
        undecided = np.flatnonzero(bits == np.uint16(whole_cells))
        heads[undecided] = generator.random(undecided.size) < part
    return heads.reshape(size)


def _bernoulli(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    """Bool: an eighth of the memory, and a truth value wherever one is asked for."""
    (p,) = arguments
    number = fixed(p)
    if number is not None:
        return coins(generator, number, size)
    return np.less(generator.random(size), p)


def _rademacher(generator: np.random.Generator, _: Arguments, size: Size) -> Array:
    return signs(generator, size)


def _binomial(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    n, p = arguments
    return np.asarray(generator.binomial(whole(n), scalar_or_array(p), size), dtype=np.float64)


def _geometric(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    """The rounded-up exponential variable of rate -log(1 - p) (Devroye 1986, section X.2)."""
    (p,) = arguments
    out = np.empty(size)
    generator.standard_exponential(out=out)
    out /= -np.log1p(-p)
    np.ceil(out, out=out)
    return np.maximum(out, 1.0, out=out)


def _negative_binomial(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    """A Poisson variable whose rate is a gamma one (Greenwood and Yule 1920)."""
    n, p = arguments
    rate = generator.standard_gamma(scalar_or_array(n), size)
    rate *= (1.0 - p) / p
    return generator.poisson(rate).astype(np.float64)


def _poisson(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    (rate,) = arguments
    return np.asarray(generator.poisson(scalar_or_array(rate), size), dtype=np.float64)


def _hypergeometric(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    good, bad, drawn = (whole(argument) for argument in arguments)
    return np.asarray(generator.hypergeometric(good, bad, drawn, size), dtype=np.float64)


def _below(generator: np.random.Generator, count: int, size: Size) -> Array:
    """Whole numbers from 0 to count - 1, of the narrowest type, which is drawn quickest."""
    return generator.integers(0, count - 1, size=size, dtype=_narrowest(count), endpoint=True)


def _narrowest(count: int) -> type[np.uint16 | np.uint32 | np.uint64]:
    if count <= 2**16:
        return np.uint16
    return np.uint32 if count <= 2**32 else np.uint64


def _discrete_uniform(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    low, high = arguments
    first, last = fixed(low), fixed(high)
    if first is not None and last is not None:
        out = _below(generator, int(last - first) + 1, size).astype(np.float64)
        out += first
        return out
    return generator.integers(
        low.astype(np.int64), high.astype(np.int64), size=size, endpoint=True
    ).astype(np.float64)


def _categorical(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    """The inverse of the distribution function; an outcome of probability 0 never comes up."""
    (p,) = arguments
    ends = np.cumsum(p, axis=-2)
    ends /= ends[..., -1:, :]
    u = uniforms(generator, size)
    outcomes = p.shape[-2]
    if p.size == outcomes and outcomes > FEW_OUTCOMES:
        return np.searchsorted(ends.reshape(-1), u, side="right").astype(np.float64)
    out = np.zeros(size)
    for index in range(outcomes - 1):
        out += u >= ends[..., index, :]
    return out


def _choice(generator: np.random.Generator, arguments: Arguments, size: Size) -> Array:
    (values,) = arguments
    picks = _below(generator, values.shape[-2], size)
    if values.size == values.shape[-2]:
        return np.asarray(values, dtype=np.float64).reshape(-1).take(picks)
    places = picks.astype(np.intp)[..., None, :]
    # the list axis aside, the values are shared by all elements that they broadcast to
    table = np.broadcast_to(values, (*size[:-1], values.shape[-2], size[-1]))
    return np.take_along_axis(table, places, axis=-2)[..., 0, :].astype(np.float64, copy=False)


DISCRETE: dict[str, Sampler] = {
    "bernoulli": _bernoulli,
    "rademacher": _rademacher,
    "binomial": _binomial,
    "geometric": _geometric,
    "negative_binomial": _negative_binomial,
    "poisson": _poisson,
    "hypergeometric": _hypergeometric,
    "discrete_uniform": _discrete_uniform,
    "categorical": _categorical,
    "choice": _choice,
}
