"""What kernels make of truths that cannot be told, and of values that have no result."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from dropcheck.analysis.support import of_function
from dropcheck.known.sure import Known
from dropcheck.vocabulary.function import Array, KernelError
from dropcheck.vocabulary.functions import FUNCTIONS, operation
from dropcheck.vocabulary.hulls import Hull

DRAWS = 5
NAN = math.nan


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def call(name: str, **options: Any) -> Callable[..., Array]:
    kernel = operation(name).kernel
    return lambda *arrays: kernel(*arrays, **options)


TRUE, FALSE, UNKNOWN = 1.0, 0.0, NAN
THREE = np.array([TRUE, FALSE, UNKNOWN])


def test_logic_is_kleenes() -> None:
    a, b = THREE[:, None], THREE[None, :]
    np.testing.assert_array_equal(call("and")(a, b), [[1, 0, NAN], [0, 0, 0], [NAN, 0, NAN]])
    np.testing.assert_array_equal(call("or")(a, b), [[1, 1, 1], [1, 0, NAN], [1, NAN, NAN]])
    np.testing.assert_array_equal(call("not")(THREE), [0, 1, NAN])


def test_logic_of_known_truths_stays_bool() -> None:
    known = np.array([True, False])
    for result in (
        call("and")(known, np.array([1.0, 2.0])),
        call("or")(known, known),
        call("not")(known),
        call("<")(np.array([1.0, 2.0]), np.array([2.0])),
        call("==")(known, known),
    ):
        assert result.dtype == np.bool_
    assert call("and")(known, np.array([2.0, NAN])).dtype == np.bool_  # false and NaN


@pytest.mark.parametrize("name", ["==", "!=", "<", "<=", ">", ">="])
def test_a_comparison_with_nan_is_nan_and_no_other(name: str) -> None:
    numbers = np.array([-np.inf, -1.0, 0.0, 1.0, np.inf, NAN])
    result = call(name)(numbers[:, None], numbers)
    for i, a in enumerate(numbers):
        for j, b in enumerate(numbers):
            holds = {
                "==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b
            }[name]  # fmt: skip
            expected = NAN if np.isnan(a) or np.isnan(b) else float(holds)
            np.testing.assert_equal(result[i, j], expected)


def test_reductions_of_truths_that_cannot_be_told() -> None:
    lines = np.array(
        [[1, 0, NAN], [0, 0, NAN], [1, 1, NAN], [0, 0, 0], [1, 1, 1], [NAN, 1, 0], [0, NAN, 1]],
        dtype=np.float64,
    ).T
    np.testing.assert_array_equal(call("any")(lines), [1, NAN, 1, 0, 1, 1, 1])
    np.testing.assert_array_equal(call("all")(lines), [0, 0, NAN, 0, 1, 0, 0])
    np.testing.assert_array_equal(call("first")(lines), [0, NAN, 0, np.inf, 0, NAN, NAN])
    np.testing.assert_array_equal(call("sum")(lines), [NAN, NAN, NAN, 0, 3, NAN, NAN])


def test_no_elements() -> None:
    nothing = np.empty((0, 2))
    assert not call("any")(nothing).any()
    assert call("all")(nothing).all()
    assert call("first")(nothing).tolist() == [np.inf, np.inf]
    assert call("sum")(nothing).tolist() == [0, 0]
    assert call("prod")(nothing).tolist() == [1, 1]
    assert np.isnan(call("mean")(nothing)).all()
    assert np.isnan(call("var")(nothing)).all()
    assert call("norm")(nothing).tolist() == [0, 0]
    assert call("sort")(nothing).shape == (0, 2)
    assert call("softmax")(nothing).shape == (0, 2)
    assert call("diff")(nothing).shape == (0, 2)
    assert call("logsumexp")(nothing).tolist() == [-np.inf, -np.inf]


def test_sums_of_truths_count() -> None:
    generator = np.random.default_rng(3)
    for n in (3, 300, 70_000):  # one byte, two bytes and more would overflow
        truths = np.ones((n, 2), dtype=np.bool_) if n > 1000 else generator.random((n, 2)) < 0.9
        assert call("sum")(truths).tolist() == truths.astype(np.float64).sum(axis=0).tolist()
        assert call("sum")(truths).dtype == np.float64
        assert call("mean")(truths).tolist() == (truths.astype(np.float64).sum(axis=0) / n).tolist()


def test_a_branch_not_taken_does_not_count() -> None:
    c = np.array([1.0, 0.0, NAN, 2.0])
    result = call("where")(c, np.array([1.0, NAN, 1.0, 3.0]), np.array([NAN, 2.0, 2.0, NAN]))
    np.testing.assert_array_equal(result, [1, 2, NAN, 3])
    result = call("where")(c == 1, np.array([True]), np.array([False]))
    assert result.dtype == np.float64


# -- values that have no result --------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.95, 1.0])
@pytest.mark.parametrize("others", [(8, 1024), (8, 1), (1024,), (1,)])
def test_a_choice_is_one_of_two_to_the_bit(share: float, others: tuple[int, ...]) -> None:
    """Numbers that arithmetic would lose: -0, NaN with its digits, what is infinite or tiny."""
    generator = np.random.default_rng(0)
    c = generator.random((8, 1024)) < share
    odd = np.array([-0.0, NAN, -NAN, math.inf, -math.inf, 5e-324, 1e308, 0.1])
    a, b = generator.choice(odd, c.shape), generator.choice(odd, others)
    for first, second in ((a, b), (b, a)):
        for truths in (c, np.asfortranarray(c)):
            result = call("where")(truths, first, second)
            assert result.tobytes() == np.where(c, first, second).tobytes()


@pytest.mark.parametrize(
    "name", ["argmax", "argmin", "argsort", "sort", "max", "min", "median", "softmax", "cummax"]
)
def test_order_is_unknown_beside_a_nan(name: str) -> None:
    x = np.array([[NAN, 1.0, 2.0], [3.0, 0.0, np.inf]]).T
    result = call(name)(x)
    assert np.isnan(result[..., 0]).all()
    if name != "softmax":
        assert not np.isnan(result[..., 1]).any()


SINGULAR = np.stack([np.eye(2), [[1, 2], [2, 4]], np.full((2, 2), NAN), 2 * np.eye(2)], axis=-1)


@pytest.mark.parametrize("name", ["inv", "solve", "cholesky", "det", "eigvalsh", "qr_q"])
def test_a_bad_matrix_spoils_its_own_draw_only(name: str) -> None:
    arguments = [SINGULAR, np.ones((2, 1))] if name == "solve" else [SINGULAR]
    together = call(name)(*arguments)
    assert np.isnan(together[..., 2]).all()
    if name in ("inv", "solve", "cholesky"):
        assert np.isnan(together[..., 1]).all()
    for draw in (0, 3):
        alone = call(name)(SINGULAR[..., [draw]], *arguments[1:])
        assert np.isfinite(alone).all()
        np.testing.assert_allclose(together[..., [draw]], alone, rtol=1e-14)


def test_a_fixed_singular_matrix_is_nan() -> None:
    assert np.isnan(call("solve")(SINGULAR[..., [1]], np.ones((2, DRAWS)))).all()
    assert np.isnan(call("inv")(np.zeros((3, 3, 1)))).all()
    assert np.isnan(call("inv")(np.full((3, 3, 1), np.inf))).all()


def test_cholesky_refuses_what_is_not_definite() -> None:
    indefinite = np.array([[1.0, 2.0], [2.0, 1.0]])[..., None]
    assert np.isnan(call("cholesky")(indefinite)).all()


def test_softmax_and_logsumexp_do_not_overflow() -> None:
    x = np.array([[1000.0, 1000.0], [-np.inf, 0.0], [-np.inf, -np.inf], [np.inf, 0.0]]).T
    np.testing.assert_array_equal(
        call("softmax")(x), np.array([[0.5, 0.5], [0, 1], [NAN, NAN], [NAN, NAN]]).T
    )
    np.testing.assert_allclose(
        call("logsumexp")(x), [1000 + math.log(2), 0, -np.inf, np.inf], rtol=1e-15
    )


def test_variance_keeps_its_digits_far_from_zero() -> None:
    x = 1e8 + np.array([[1.0], [2.0], [3.0], [4.0]])
    assert call("var", ddof=1)(x)[0] == pytest.approx(5 / 3, rel=1e-12)
    assert np.isnan(call("var", ddof=4)(x)).all()


def test_quantiles_among_infinities() -> None:
    x = np.array([[-np.inf, 0.0, np.inf, np.inf]]).T
    np.testing.assert_array_equal(call("quantile", u=1.0)(x), [np.inf])
    np.testing.assert_array_equal(call("quantile", u=0.0)(x), [-np.inf])
    np.testing.assert_array_equal(call("quantile", u=0.9)(x), [np.inf])


def test_indices_count_from_the_end_too() -> None:
    table = np.array([10.0, 20.0, 30.0])[:, None]
    assert call("take")(table, np.array([-1.0, 0.0, -3.0])).tolist() == [30, 10, 10]


def test_random_indices_out_of_range_are_nan() -> None:
    table = np.array([10.0, 20.0, 30.0])[:, None]
    wild = np.array([3.0, -4.0, NAN, np.inf, 1.0])
    np.testing.assert_array_equal(call("take")(table, wild), [NAN, NAN, NAN, NAN, 20])
    np.testing.assert_array_equal(
        call("take")(np.broadcast_to(table, (3, 5)), wild), [NAN, NAN, NAN, NAN, 20]
    )
    np.testing.assert_array_equal(
        call("one_hot", n=3)(np.array([1.0, -1.0, NAN])),
        [[0, NAN, NAN], [1, NAN, NAN], [0, NAN, NAN]],
    )
    counts = call("bincount", n=3)(np.array([[1.0, 1.0], [2.0, 3.0]]))
    np.testing.assert_array_equal(counts, [[0, NAN], [1, NAN], [1, NAN]])


@pytest.mark.parametrize("name", ["take", "one_hot", "bincount"])
@pytest.mark.parametrize("index", [[[0.5, 1.0]], [[7.0]]])
def test_wrong_indices_are_errors(name: str, index: list[list[float]]) -> None:
    table = [np.arange(3.0)[:, None]] if name == "take" else []
    options = {} if name == "take" else {"n": 3}
    with pytest.raises(KernelError, match=r"whole number, and is 0\.5|out of range for 3"):
        call(name, **options)(*table, np.array(index))


def test_qr_q_of_a_gaussian_matrix_is_uniform() -> None:
    # of Haar measure, E(Q00) = 0 and |Q00| ≤ 1: by Hoeffding, a mean of 40,000 draws beyond 0.03
    # has a chance below 4e-8; LAPACK's own signs give about −0.64
    x = np.random.default_rng(5).normal(size=(2, 2, 40_000))
    assert abs(call("qr_q")(x)[0, 0].mean()) < 0.03
    assert abs(np.linalg.qr(np.moveaxis(x, -1, 0))[0][:, 0, 0].mean()) > 0.3


# -- fixed arrays and operators --------------------------------------------------------------------


def test_fixed_arrays() -> None:
    made: list[tuple[str, dict[str, Any], Any]] = [
        ("arange", {"n": 3.0}, [0, 1, 2]), ("arange", {"n": 0}, []), ("eye", {"n": 2}, np.eye(2)),
        ("ones", {"sizes": (2.0, 3)}, np.ones((2, 3))),
        ("zeros", {"sizes": ((2, 3),)}, np.zeros((2, 3))), ("zeros", {"sizes": (4,)}, np.zeros(4)),
    ]  # fmt: skip
    for name, options, expected in made:
        result = call(name, **options)()
        np.testing.assert_array_equal(result[..., 0], expected)
        assert result.shape == (*FUNCTIONS[name].shape((), options), 1)


def test_matmul_of_views() -> None:
    generator = np.random.default_rng(1)
    x = generator.normal(size=(9, 8, DRAWS))
    gram = call("matmul")(x, call(".T")(x))
    for draw in range(DRAWS):
        np.testing.assert_allclose(gram[..., draw], x[..., draw] @ x[..., draw].T, rtol=1e-12)


def test_arithmetic_operators_floor() -> None:
    a, b = np.array([7.0, -7.0, 7.5, -1.0]), np.array([2.0, 2.0, -2.0, np.inf])
    assert call("//")(a, b).tolist() == [3, -4, -4, -1]
    assert call("%")(a, b).tolist() == [1, 1, -0.5, np.inf]
    assert call("**")(np.array([10.0, -8.0]), np.array([1e9, 1e9])).tolist() == [np.inf, np.inf]
    assert np.isnan(call("**")(np.array([-8.0]), np.array([1 / 3])))


@pytest.mark.parametrize("exponent", [3, 4, 5, 6, 7, 8])
def test_a_power_of_a_small_whole_exponent_is_numpys_but_for_its_roundings(exponent: int) -> None:
    power, count = call("**"), np.array([float(exponent)])
    base = np.random.default_rng(1).normal(size=2000) * 10.0 ** np.arange(-100, 100).repeat(10)
    wanted = np.power(base, count)
    normal = np.isfinite(wanted) & (np.abs(wanted) > 1e-300)
    assert normal.sum() > 500
    off = np.abs(power(base, count) - wanted)[normal]
    assert (off <= exponent * 2.0**-53 * np.abs(wanted[normal])).all()  # and numpy's own
    odd = np.array([0.0, -0.0, np.inf, -np.inf, NAN, 1e200, -1e200, 1e-200])
    np.testing.assert_array_equal(power(odd, count), np.power(odd, count))
    np.testing.assert_array_equal(base[:2], np.random.default_rng(1).normal(size=2) * 1e-100)


@pytest.mark.parametrize("exponent", [3, 5, 6, 7])
def test_a_power_is_within_the_power_of_the_ends_also_after_rounding(exponent: int) -> None:
    high = np.random.default_rng(2).uniform(size=2000)
    low = np.nextafter(high, 0.0)
    count = Known(Hull(exponent, exponent), whole=True)
    for one, other in zip(low, high, strict=True):
        hull = of_function(operation("**"), call("**"), [Known(Hull(one, other)), count]).hull
        found = call("**")(np.array([one, other]), np.array([float(exponent)]))
        assert hull.low <= found[0] <= found[1] <= hull.high
