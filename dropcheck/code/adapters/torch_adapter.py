"""PyTorch: functions of tensors, classes of modules, and modules."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from dropcheck.code.adapters.adapter import Adapter, FrameworkFunction, numbers_of
from dropcheck.vocabulary.function import Array


class TorchAdapter(Adapter):
    """torch: a parameter `generator` gets a torch.Generator; all others use the global one."""

    sources = ("generator",)
    seeds = 2**63

    def __init__(self) -> None:
        self._generator = torch.Generator("cpu")

    def begin(self, seed: int) -> None:
        """Seed torch on the CPU, and the Generator."""
        super().begin(seed)
        torch.default_generator.manual_seed(seed)  # a hundred times as fast as torch.manual_seed
        self._generator.manual_seed(seed)

    def source(self, name: str) -> torch.Generator:
        """The Generator, which goes on from call to call."""
        return self._generator

    @contextmanager
    def on_one_thread(self) -> Iterator[None]:
        """By torch.set_num_threads: the order in which torch sums depends on them."""
        before = torch.get_num_threads()
        if before > 1:
            torch.set_num_threads(1)
        try:
            yield
        finally:
            if before > 1:
                torch.set_num_threads(before)

    def dtype(self, name: str) -> torch.dtype:
        """The number format of torch, such as torch.float32."""
        dtype: torch.dtype = getattr(torch, name)
        return dtype

    def given(self, values: Array, dtype: str) -> torch.Tensor:
        """A tensor; it shares the array's memory where it has the same number format."""
        return torch.from_numpy(values).to(self.dtype(dtype))

    def returned(self, output: Any) -> Array:
        """The values; bfloat16 becomes float32, which holds all its numbers."""
        if not isinstance(output, torch.Tensor):
            return numbers_of(output)
        tensor = output.detach().cpu()
        if tensor.is_complex() or tensor.is_quantized or tensor.layout != torch.strided:
            raise TypeError(f"a tensor of {tensor.dtype}, {tensor.layout}")
        if tensor.is_floating_point() and tensor.dtype not in (torch.float64, torch.float32):
            tensor = tensor.to(torch.float32)
        values: Array = tensor.resolve_neg().numpy()
        return values

    def layer(self, target: Any, fixed: Mapping[str, Any], dtype: str) -> Any:
        """A module on the CPU, in the number format of what it is given."""
        made = super().layer(target, fixed, dtype)
        return made.to("cpu", self.dtype(dtype)) if _is_module(made) else made

    def signature(self, target: Any) -> inspect.Signature:
        """That of the `forward` of a module; by the schema of what TorchScript compiled."""
        called = target.forward if _is_module(target) else target
        schema = getattr(called, "schema", None)
        if not isinstance(schema, torch.FunctionSchema):
            return inspect.signature(called)
        own = inspect.Parameter
        kinds = own.POSITIONAL_OR_KEYWORD, own.KEYWORD_ONLY
        return inspect.Signature([
            own(one.name, kinds[one.kwarg_only],
                default=one.default_value if one.has_default_value() else own.empty)
            for one in schema.arguments if one.name != "self"
        ])  # fmt: skip

    def evaluating(self, target: Any, evaluate: bool) -> bool:
        """`train()` and `eval()` of a module."""
        if _is_module(target) and target.training == evaluate:
            target.train(not evaluate)
        return _is_module(target)

    def has_of(self, target: Any, name: str) -> list[float]:
        """The numbers of all modules in a module."""
        parts = target.modules() if _is_module(target) else [target]
        return [number for part in parts for number in super(TorchAdapter, self).has_of(part, name)]

    def with_gradient(
        self, function: FrameworkFunction, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """By torch.autograd, in one call."""
        with torch.enable_grad():
            x = arguments[0].detach().requires_grad_(True)
            output = function(x, *arguments[1:], **named)
            if not isinstance(output, torch.Tensor) or not output.requires_grad:
                raise ValueError("what it returns does not depend on its first argument by torch")
            (gradient,) = torch.autograd.grad(output.sum(), x, allow_unused=True)
        return output, torch.zeros_like(x) if gradient is None else gradient


def _is_module(value: object) -> bool:
    return isinstance(value, torch.nn.Module)
