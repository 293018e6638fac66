"""The layers of flax for the slots of the packs, called as its users call them."""

from __future__ import annotations

from typing import Any

from flax import linen

Array = Any


def dropout(x: Array, p: float, deterministic: bool, key: Array) -> Array:
    """flax.linen.Dropout."""
    return linen.Dropout(p).apply({}, x, deterministic=deterministic, rngs={"dropout": key})


def channel_dropout(x: Array, p: float, deterministic: bool, key: Array) -> Array:
    """flax.linen.Dropout with one mask for the last axis."""
    layer = linen.Dropout(p, broadcast_dims=(-1,))
    return layer.apply({}, x, deterministic=deterministic, rngs={"dropout": key})


def drop_path(x: Array, p: float, deterministic: bool, key: Array) -> Array:
    """flax.linen.Dropout with one mask for all axes but the first."""
    layer = linen.Dropout(p, broadcast_dims=tuple(range(1, x.ndim)))
    return layer.apply({}, x, deterministic=deterministic, rngs={"dropout": key})


def attention(q: Array, k: Array, v: Array, p: float, deterministic: bool, key: Array) -> Array:
    """flax.linen.dot_product_attention, whose heads stand before the last axis."""
    swapped = [one.swapaxes(-2, -3) for one in (q, k, v)]
    output = linen.dot_product_attention(
        *swapped, dropout_rng=key, dropout_rate=p, deterministic=deterministic
    )
    return output.swapaxes(-2, -3)


def layer_norm(x: Array, training: bool) -> Array:
    """flax.linen.LayerNorm."""
    layer = linen.LayerNorm(epsilon=1e-5, use_bias=False, use_scale=False, dtype=x.dtype)
    return layer.apply({}, x)


def rms_norm(x: Array) -> Array:
    """flax.linen.RMSNorm."""
    return linen.RMSNorm(epsilon=1e-6, use_scale=False, dtype=x.dtype).apply({}, x)
