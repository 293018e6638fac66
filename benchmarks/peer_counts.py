"""How many draws pytest-stochastic and statsmodels need: run with these two, prints JSON.

    python peer_counts.py P WITHIN ALPHA

Both are really run where that takes seconds, and their own sample sizes are checked against it.
"""

import json
import math
import sys

import numpy as np
from pytest_stochastic import stochastic_test
from pytest_stochastic.selection import select_bound
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW

# pytest-stochastic makes one call of Python a draw.
MOST_CALLS = 200_000


def stochastic(q: float, within: float, alpha: float, *, knows: bool) -> int:
    """Calls that `stochastic_test` makes, knowing the bounds, and the variance too if `knows`."""
    properties = {"bounds": (0.0, 1 / q)} | ({"variance": (1 - q) / q} if knows else {})
    # half the tolerance: it fails a true claim with chance alpha, and says nothing of a false one
    _, expected = select_bound(properties, within / 2, alpha)
    if expected > MOST_CALLS:
        return expected
    calls = 0

    @stochastic_test(expected=1.0, atol=within / 2, failure_prob=alpha, seed=0, **properties)
    def dropped(rng: np.random.Generator) -> float:
        nonlocal calls
        calls += 1
        return float(rng.random() < q) / q

    dropped()
    return calls


def equivalence(q: float, within: float, alpha: float) -> int:
    """Draws with which two one-sided t-tests show equivalence, both errors alpha."""
    deviation = math.sqrt((1 - q) / q)
    draws = TTestPower().solve_power(
        effect_size=within / deviation, alpha=alpha, power=1 - alpha / 2, alternative="larger"
    )
    count = math.ceil(float(draws))
    x = (np.random.default_rng(0).random(count) < q) / q
    p_value, _, _ = DescrStatsW(x).ttost_mean(1 - within, 1 + within)
    if not p_value <= alpha:
        raise AssertionError(f"a true claim was not shown at p-value {p_value}")
    return count


p, within, alpha = map(float, sys.argv[1:])
found = {
    "pytest-stochastic, bounds known": stochastic(1 - p, within, alpha, knows=False),
    "pytest-stochastic, variance known too": stochastic(1 - p, within, alpha, knows=True),
    "statsmodels' two one-sided t-tests": equivalence(1 - p, within, alpha),
}
sys.stdout.write(json.dumps(found) + "\n")
