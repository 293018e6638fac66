"""Variants of programs, which draw or compute in another way."""

from __future__ import annotations

from dataclasses import replace

from dropcheck.simulation.program import Program


def step_by_step(program: Program) -> Program:
    """The program without shortcuts, and without others that make the same draws."""
    return replace(program, paired=False, separations=None, apart=(), shared=False)
