"""The functions of torch for the slots of the packs, called as its users call them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributions import Distribution

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
    """Stochastic depth as in libraries of vision models: the mask has one number an element."""
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


def _weights(fill: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    """The initialiser of torch.nn.init."""

    def weights(fan_in: int, fan_out: int, dtype: torch.dtype) -> Tensor:
        return fill(torch.empty(fan_out, fan_in, dtype=dtype))

    return weights


glorot_uniform = _weights(nn.init.xavier_uniform_)
glorot_normal = _weights(nn.init.xavier_normal_)
he_uniform = _weights(nn.init.kaiming_uniform_)
he_normal = _weights(nn.init.kaiming_normal_)


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


def _numbers(law: Callable[..., Distribution]) -> Callable[..., Tensor]:
    """A law of torch.distributions, in float32."""

    def drawn(*given: Any) -> Tensor:
        *parameters, size = given
        return law(*map(float, parameters)).sample(size)

    return drawn


def _in_format(law: Callable[..., Distribution]) -> Callable[..., Tensor]:
    """A law of torch.distributions, in the number format of its parameters."""

    def drawn(loc: float, scale: float, size: Size, dtype: torch.dtype) -> Tensor:
        own = (torch.tensor(float(one), dtype=dtype) for one in (loc, scale))
        return law(*own).sample(size).to(dtype)

    return drawn


def _filled(fill: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A method that fills a tensor."""

    def drawn(*given: Any, dtype: torch.dtype) -> Tensor:
        *parameters, size = given
        return fill(torch.empty(size, dtype=dtype), *parameters)

    return drawn


random_beta = _numbers(torch.distributions.Beta)
random_student_t = _numbers(torch.distributions.StudentT)
random_chi_square = _numbers(torch.distributions.Chi2)
random_f = _numbers(torch.distributions.FisherSnedecor)
random_von_mises = _numbers(torch.distributions.VonMises)
random_laplace = _in_format(torch.distributions.Laplace)
random_gumbel = _in_format(torch.distributions.Gumbel)
random_cauchy = _filled(Tensor.cauchy_)
random_lognormal = _filled(Tensor.log_normal_)
random_bernoulli = _filled(Tensor.bernoulli_)


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


def random_weibull(shape: float, scale: float, size: Size) -> Tensor:
    """torch.distributions.Weibull."""
    return torch.distributions.Weibull(float(scale), float(shape)).sample(size)


def random_pareto(shape: float, scale: float, size: Size) -> Tensor:
    """torch.distributions.Pareto."""
    return torch.distributions.Pareto(float(scale), float(shape)).sample(size)


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
