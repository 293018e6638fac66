"""The functions of torch for the slots of the packs, called as its users call them."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributions import constraints  # noqa: F401  # loads what the distributions need

Size = tuple[int, ...]


# ---- layers --------------------------------------------------------------------------------------


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """torch.nn.functional.dropout."""
    return F.dropout(x, p, training)


def channel_dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """torch.nn.functional.dropout1d."""
    return F.dropout1d(x, p, training)


def alpha_dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """torch.nn.functional.alpha_dropout."""
    return F.alpha_dropout(x, p, training)


def gaussian_noise(x: Tensor, sd: float, training: bool) -> Tensor:
    """By torch.randn_like."""
    return x + sd * torch.randn_like(x) if training else x


def gaussian_dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """By torch.randn_like."""
    return x * (1 + math.sqrt(p / (1 - p)) * torch.randn_like(x)) if training else x


def attention(q: Tensor, k: Tensor, v: Tensor, p: float, training: bool) -> Tensor:
    """torch.nn.functional.scaled_dot_product_attention, which does not know of modes."""
    return F.scaled_dot_product_attention(q, k, v, dropout_p=p if training else 0.0)


def drop_path(x: Tensor, p: float, training: bool) -> Tensor:
    """As the libraries of vision models write it: one number of a mask for each element."""
    if not training or p == 0:
        return x
    mask = x.new_empty(x.shape[0], *(1,) * (x.ndim - 1)).bernoulli_(1 - p)
    return x * mask.div_(1 - p)


def add_noise(x: Tensor, a: float) -> Tensor:
    """By torch.randn_like."""
    return math.sqrt(a) * x + math.sqrt(1 - a) * torch.randn_like(x)


def layer_norm(x: Tensor, training: bool) -> Tensor:
    """torch.nn.functional.layer_norm."""
    return F.layer_norm(x, x.shape[-1:])


def rms_norm(x: Tensor) -> Tensor:
    """torch.nn.functional.rms_norm."""
    return F.rms_norm(x, x.shape[-1:], eps=1e-6)


def batch_norm(x: Tensor) -> Tensor:
    """torch.nn.functional.batch_norm."""
    return F.batch_norm(x, None, None, training=True)


# ---- initialisers --------------------------------------------------------------------------------


def glorot_uniform(fan_in: int, fan_out: int, dtype: torch.dtype) -> Tensor:
    """torch.nn.init.xavier_uniform_."""
    return nn.init.xavier_uniform_(torch.empty(fan_out, fan_in, dtype=dtype))


def glorot_normal(fan_in: int, fan_out: int, dtype: torch.dtype) -> Tensor:
    """torch.nn.init.xavier_normal_."""
    return nn.init.xavier_normal_(torch.empty(fan_out, fan_in, dtype=dtype))


def he_uniform(fan_in: int, fan_out: int, dtype: torch.dtype) -> Tensor:
    """torch.nn.init.kaiming_uniform_."""
    return nn.init.kaiming_uniform_(torch.empty(fan_out, fan_in, dtype=dtype))


def he_normal(fan_in: int, fan_out: int, dtype: torch.dtype) -> Tensor:
    """torch.nn.init.kaiming_normal_."""
    return nn.init.kaiming_normal_(torch.empty(fan_out, fan_in, dtype=dtype))


def lecun_normal(fan_in: int, fan_out: int, dtype: torch.dtype) -> Tensor:
    """torch.nn.init.kaiming_normal_ without the gain of a ReLU."""
    weights = torch.empty(fan_out, fan_in, dtype=dtype)
    return nn.init.kaiming_normal_(weights, nonlinearity="linear")


def conv_he_normal(inputs: int, outputs: int, size: int, dtype: torch.dtype) -> Tensor:
    """torch.nn.init.kaiming_normal_ of a convolution."""
    return nn.init.kaiming_normal_(torch.empty(outputs, inputs, size, size, dtype=dtype))


def depthwise_he_normal(channels: int, size: int, dtype: torch.dtype) -> Tensor:
    """torch.nn.init.kaiming_normal_ of a convolution of groups."""
    return nn.init.kaiming_normal_(torch.empty(channels, 1, size, size, dtype=dtype))


def attention_projection(n: int) -> Tensor:
    """`in_proj_weight` of torch.nn.MultiheadAttention."""
    return nn.MultiheadAttention(n, 1).in_proj_weight


def truncated_normal_weights(sd: float, n: int, dtype: torch.dtype) -> Tensor:
    """torch.nn.init.trunc_normal_."""
    return nn.init.trunc_normal_(torch.empty(n, dtype=dtype), 0.0, sd, -2 * sd, 2 * sd)


def orthogonal(n: int) -> Tensor:
    """torch.nn.init.orthogonal_."""
    return nn.init.orthogonal_(torch.empty(n, n))


# ---- samplers ------------------------------------------------------------------------------------


def _of(law: Any, size: Size, dtype: torch.dtype) -> Tensor:
    drawn: Tensor = law.sample(size).to(dtype)
    return drawn


def _number(value: float, dtype: torch.dtype) -> Tensor:
    return torch.tensor(float(value), dtype=dtype)


def random_uniform(low: float, high: float, size: Size, dtype: torch.dtype) -> Tensor:
    """torch.rand, or uniform_ for another interval."""
    if (low, high) == (0, 1):
        return torch.rand(size, dtype=dtype)
    return torch.empty(size, dtype=dtype).uniform_(low, high)


def random_normal(mean: float, sd: float, size: Size, dtype: torch.dtype) -> Tensor:
    """torch.randn, or normal_ for another mean and spread."""
    if (mean, sd) == (0, 1):
        return torch.randn(size, dtype=dtype)
    return torch.empty(size, dtype=dtype).normal_(mean, sd)


def random_truncated_normal(low: float, high: float, size: Size, dtype: torch.dtype) -> Tensor:
    """torch.nn.init.trunc_normal_."""
    return nn.init.trunc_normal_(torch.empty(size, dtype=dtype), 0.0, 1.0, low, high)


def random_exponential(scale: float, size: Size, dtype: torch.dtype) -> Tensor:
    """Tensor.exponential_."""
    return torch.empty(size, dtype=dtype).exponential_(1 / scale)


def random_gamma(shape: float, size: Size) -> Tensor:
    """torch.distributions.Gamma."""
    return torch.distributions.Gamma(float(shape), 1.0).sample(size)


def random_beta(a: float, b: float, size: Size) -> Tensor:
    """torch.distributions.Beta."""
    return torch.distributions.Beta(float(a), float(b)).sample(size)


def random_laplace(loc: float, scale: float, size: Size, dtype: torch.dtype) -> Tensor:
    """torch.distributions.Laplace."""
    return _of(torch.distributions.Laplace(_number(loc, dtype), _number(scale, dtype)), size, dtype)


def random_cauchy(loc: float, scale: float, size: Size, dtype: torch.dtype) -> Tensor:
    """Tensor.cauchy_."""
    return torch.empty(size, dtype=dtype).cauchy_(loc, scale)


def random_gumbel(loc: float, scale: float, size: Size, dtype: torch.dtype) -> Tensor:
    """torch.distributions.Gumbel."""
    return _of(torch.distributions.Gumbel(_number(loc, dtype), _number(scale, dtype)), size, dtype)


def random_lognormal(mean: float, sd: float, size: Size, dtype: torch.dtype) -> Tensor:
    """Tensor.log_normal_."""
    return torch.empty(size, dtype=dtype).log_normal_(mean, sd)


def random_student_t(df: float, size: Size) -> Tensor:
    """torch.distributions.StudentT."""
    return torch.distributions.StudentT(float(df)).sample(size)


def random_chi_square(df: float, size: Size) -> Tensor:
    """torch.distributions.Chi2."""
    return torch.distributions.Chi2(float(df)).sample(size)


def random_f(d1: float, d2: float, size: Size) -> Tensor:
    """torch.distributions.FisherSnedecor."""
    return torch.distributions.FisherSnedecor(float(d1), float(d2)).sample(size)


def random_weibull(shape: float, scale: float, size: Size) -> Tensor:
    """torch.distributions.Weibull."""
    return torch.distributions.Weibull(float(scale), float(shape)).sample(size)


def random_pareto(shape: float, scale: float, size: Size) -> Tensor:
    """torch.distributions.Pareto."""
    return torch.distributions.Pareto(float(scale), float(shape)).sample(size)


def random_von_mises(mu: float, kappa: float, size: Size) -> Tensor:
    """torch.distributions.VonMises."""
    return torch.distributions.VonMises(float(mu), float(kappa)).sample(size)


def random_bernoulli(p: float, size: Size, dtype: torch.dtype) -> Tensor:
    """Tensor.bernoulli_."""
    return torch.empty(size, dtype=dtype).bernoulli_(p)


def random_binomial(n: int, p: float, size: Size) -> Tensor:
    """torch.binomial, in float32."""
    return torch.binomial(torch.full(size, float(n)), torch.full(size, float(p)))


def random_geometric(p: float, size: Size) -> Tensor:
    """Tensor.geometric_."""
    return torch.empty(size).geometric_(p)


def random_negative_binomial(n: int, p: float, size: Size) -> Tensor:
    """torch.distributions.NegativeBinomial, whose probability is that of a failure."""
    return torch.distributions.NegativeBinomial(float(n), 1.0 - p).sample(size)


def random_poisson(rate: float, size: Size) -> Tensor:
    """torch.poisson."""
    return torch.poisson(torch.full(size, float(rate)))


def random_integers(n: int, size: Size) -> Tensor:
    """torch.randint."""
    return torch.randint(0, n, size)


def random_categorical(logits: Tensor, size: Size) -> Tensor:
    """torch.distributions.Categorical."""
    return torch.distributions.Categorical(logits=logits).sample(size)


def random_permutation(n: int) -> Tensor:
    """torch.randperm."""
    return torch.randperm(n)


def random_multinomial(n: int, p: Tensor) -> Tensor:
    """torch.distributions.Multinomial."""
    return torch.distributions.Multinomial(n, p).sample()


def random_dirichlet(a: Tensor) -> Tensor:
    """torch.distributions.Dirichlet."""
    return torch.distributions.Dirichlet(a).sample()


def random_multivariate_normal(mean: Tensor, cov: Tensor) -> Tensor:
    """torch.distributions.MultivariateNormal."""
    return torch.distributions.MultivariateNormal(mean, cov).sample()
