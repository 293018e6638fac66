"""The functions of torch for the slots of the packs, called as its users call them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, distributions, nn
from torch.nn import init

Size = tuple[int, ...]


def _drop_path(x: Tensor, p: float, training: bool) -> Tensor:
    """Stochastic depth as in libraries of vision models: the mask has one number an element."""
    if not training or p == 0:
        return x
    mask = x.new_empty(x.shape[0], *(1,) * (x.ndim - 1)).bernoulli_(1 - p)
    return x * mask.div_(1 - p)


def _weights(fill: Callable[..., Tensor], **options: Any) -> Callable[..., Tensor]:
    """An initialiser of torch.nn.init."""

    def weights(fan_in: int, fan_out: int, dtype: torch.dtype) -> Tensor:
        return fill(torch.empty(fan_out, fan_in, dtype=dtype), **options)

    return weights


def _numbers(law: Callable[..., distributions.Distribution]) -> Callable[..., Tensor]:
    """A law of torch.distributions, in float32."""

    def drawn(*given: Any) -> Tensor:
        *parameters, size = given
        return law(*map(float, parameters)).sample(size)

    return drawn


def _in_format(law: Callable[..., distributions.Distribution]) -> Callable[..., Tensor]:
    """A law of torch.distributions, in the number format of its parameters."""

    def drawn(loc: float, scale: float, size: Size, dtype: torch.dtype) -> Tensor:
        own = (torch.tensor(float(one), dtype=dtype) for one in (loc, scale))
        return law(*own).sample(size).to(dtype)

    return drawn


def _filled(
    fill: Callable[..., Tensor], standard: Callable[..., Tensor] | None = None
) -> Callable[..., Tensor]:
    """A method that fills a tensor; `standard` makes one for the parameters (0, 1)."""

    def drawn(*given: Any, dtype: torch.dtype) -> Tensor:
        *parameters, size = given
        if standard is not None and parameters == [0, 1]:
            return standard(size, dtype=dtype)
        return fill(torch.empty(size, dtype=dtype), *parameters)

    return drawn


FUNCTIONS: Mapping[str, Callable[..., Tensor]] = {
    "dropout": F.dropout,
    "channel_dropout": F.dropout1d,
    "alpha_dropout": F.alpha_dropout,
    "gaussian_noise": lambda x, sd, training: x + sd * torch.randn_like(x) if training else x,
    "gaussian_dropout": lambda x, p, training: (
        x * (1 + math.sqrt(p / (1 - p)) * torch.randn_like(x)) if training else x
    ),
    "attention": lambda q, k, v, p, training: F.scaled_dot_product_attention(
        q,
        k,
        v,
        dropout_p=p if training else 0.0,  # it does not know of modes
    ),
    "causal_attention": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    "gumbel_softmax": F.gumbel_softmax,
    "linear": F.linear,
    "drop_path": _drop_path,
    "add_noise": lambda x, a: math.sqrt(a) * x + math.sqrt(1 - a) * torch.randn_like(x),
    "layer_norm": lambda x, training: F.layer_norm(x, x.shape[-1:]),
    "rms_norm": lambda x: F.rms_norm(x, x.shape[-1:], eps=1e-6),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    # initialisers
    "glorot_uniform": _weights(init.xavier_uniform_),
    "glorot_normal": _weights(init.xavier_normal_),
    "he_uniform": _weights(init.kaiming_uniform_),
    "he_normal": _weights(init.kaiming_normal_),
    "lecun_normal": _weights(init.kaiming_normal_, nonlinearity="linear"),  # no gain of a ReLU
    "conv_he_normal": lambda inputs, outputs, size, dtype: init.kaiming_normal_(
        torch.empty(outputs, inputs, size, size, dtype=dtype)
    ),
    "depthwise_he_normal": lambda channels, size, dtype: init.kaiming_normal_(
        torch.empty(channels, 1, size, size, dtype=dtype)
    ),
    "attention_projection": lambda n: nn.MultiheadAttention(n, 1).in_proj_weight,
    "truncated_normal_weights": lambda sd, n, dtype: init.trunc_normal_(
        torch.empty(n, dtype=dtype), 0.0, sd, -2 * sd, 2 * sd
    ),
    "orthogonal": lambda n: init.orthogonal_(torch.empty(n, n)),
    # samplers
    "random_uniform": _filled(Tensor.uniform_, standard=torch.rand),
    "random_normal": _filled(Tensor.normal_, standard=torch.randn),
    "random_cauchy": _filled(Tensor.cauchy_),
    "random_lognormal": _filled(Tensor.log_normal_),
    "random_bernoulli": _filled(Tensor.bernoulli_),
    "random_truncated_normal": lambda low, high, size, dtype: init.trunc_normal_(
        torch.empty(size, dtype=dtype), 0.0, 1.0, low, high
    ),
    "random_exponential": lambda scale, size, dtype: torch.empty(size, dtype=dtype).exponential_(
        1 / scale
    ),
    "random_laplace": _in_format(distributions.Laplace),
    "random_gumbel": _in_format(distributions.Gumbel),
    "random_beta": _numbers(distributions.Beta),
    "random_student_t": _numbers(distributions.StudentT),
    "random_chi_square": _numbers(distributions.Chi2),
    "random_f": _numbers(distributions.FisherSnedecor),
    "random_von_mises": _numbers(distributions.VonMises),
    "random_gamma": _numbers(lambda shape: distributions.Gamma(shape, 1.0)),
    "random_weibull": _numbers(lambda shape, scale: distributions.Weibull(scale, shape)),
    "random_pareto": _numbers(lambda shape, scale: distributions.Pareto(scale, shape)),
    "random_negative_binomial": _numbers(  # its probability is that of a failure
        lambda n, p: distributions.NegativeBinomial(n, 1.0 - p)
    ),
    "random_binomial": lambda n, p, size: torch.binomial(
        torch.full(size, float(n)), torch.full(size, float(p))
    ),
    "random_geometric": lambda p, size: torch.empty(size).geometric_(p),
    "random_poisson": lambda rate, size: torch.poisson(torch.full(size, float(rate))),
    "random_integers": lambda n, size: torch.randint(0, n, size),
    "random_categorical": lambda logits, size: distributions.Categorical(logits=logits).sample(
        size
    ),
    "random_permutation": torch.randperm,
    "random_multinomial": lambda n, p: distributions.Multinomial(n, p).sample(),
    "random_dirichlet": lambda a: distributions.Dirichlet(a).sample(),
    "random_multivariate_normal": lambda mean, cov: distributions.MultivariateNormal(
        mean, cov
    ).sample(),
}
"""By slot."""
