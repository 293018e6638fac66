"""Quantiles that need no scipy have the digits of scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special as scipy_special

from dropcheck.vocabulary.special import FEW, ndtri, student_quantile


def test_quantiles_of_a_normal() -> None:
    tails = np.exp(-np.linspace(0.1, 690, FEW))
    for levels in (tails, 1.0 - tails[tails > 1e-15], 0.25, np.array([0.0, 0.5, 1.0, np.nan])):
        np.testing.assert_allclose(ndtri(levels), scipy_special.ndtri(levels), rtol=2e-15)


@pytest.mark.parametrize("df", [1, 2, 15, 63, 127, 1023, 2047, 4095])
def test_quantiles_of_students_law(df: int) -> None:
    for alpha in (0.9, 0.5, 0.05, 1e-3, 1e-6, 1e-9, 1e-12):
        truth = -scipy_special.stdtrit(df, alpha / 2)
        assert student_quantile(df, alpha) == pytest.approx(truth, rel=3e-11)
        assert student_quantile(df, alpha * 1.001) != pytest.approx(truth, rel=3e-11)
