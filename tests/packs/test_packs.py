"""The packs as files: named, read, checked; and their slots, which code is given for."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from reference_code import reference

from dropcheck.claims.reader import read_registries
from dropcheck.claims.registry import Registry
from dropcheck.claims.select import select
from dropcheck.cli import main
from dropcheck.code.adapters.adapter import FORMATS_OF_NUMPY
from dropcheck.code.columns import with_columns
from dropcheck.code.slots import implementations_of
from dropcheck.errors import DropcheckError
from dropcheck.packs.pack_files import PACK, pack_file, pack_names

CODE = Path(pack_file("dropout")).parent / "implementations"
NAMES = (
    "attention", "diffusion-noise", "dropout", "initialisers", "noise-layers", "normalisation",
    "samplers", "stochastic-depth",
)  # fmt: skip


def pack(name: str) -> Registry:
    return read_registries([f"{PACK}{name}"])


def test_all_packs_are_known() -> None:
    assert pack_names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_pack_has_no_errors_and_no_notes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Its parameters `seed` and `dtype` are those of slots, named so on purpose."""
    assert main(["check", f"{PACK}{name}"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(f"pack:{name}: ")
    assert printed.out.endswith("cases, no errors\n")
    assert printed.err == ""
    assert all(claim.slots for claim in pack(name).claims.values())


def test_a_parameter_is_set_in_the_column_of_the_mathematics() -> None:
    """That column leaves `dtype` out, which the claim has as a parameter."""
    [case] = select(pack("dropout"), ["mean-kept"], (), {"p": "0.1"})
    assert case.parameters == {"p": 0.1}


def test_a_claim_of_one_number_format_is_not_made_of_a_coarser_one() -> None:
    """Which formats are looked at is said on the command line, and not what is claimed of them."""
    implementations = [reference(FORMATS_OF_NUMPY)]
    formats = ("float64", "float32", "bfloat16")
    claims = with_columns(pack("normalisation"), implementations, formats).claims
    assert claims["layer-norm.mean@numpy"].parameters["dtype"] == ("float64", "float32")
    assert claims["rms-norm-short@numpy"].parameters["dtype"] == formats


def test_a_pack_is_of_the_slots_alone_that_code_is_named_for() -> None:
    """The mathematics of the others is no news, and what ships is not asked for."""
    target = "numpy:abs"
    both = read_registries(["pack:stochastic-depth", "pack:dropout"])
    for text, few in ((f"mine:channel_dropout={target}", 5), (f"numpy:dropout={target}", 20)):
        claims = with_columns(both, implementations_of([text], CODE)).claims.values()
        assert {claim.column.name for claim in claims if claim.column} == {text.partition(":")[0]}
        assert len({claim.of for claim in claims}) == few
    assert len(with_columns(both, []).claims) == len(both.claims)


def test_no_slot_stands_in_two_packs() -> None:
    """Code that ships for packs is found by the name of the slot alone."""
    slots: list[str] = []
    for name in NAMES:
        slots += next(iter(pack(name).claims.values())).slots
    assert len(set(slots)) == len(slots)


@pytest.mark.parametrize("file", sorted(CODE.glob("[a-z]*.py")), ids=lambda file: file.stem)
def test_code_has_the_signatures_of_slots(file: Path) -> None:
    """Looked at as text: the frameworks are not installed here."""
    slots = {
        name: slot
        for pack_name in NAMES
        for name, slot in next(iter(pack(pack_name).claims.values())).slots.items()
    }
    body = ast.parse(file.read_text()).body
    functions = {one.name: one.args for one in body if isinstance(one, ast.FunctionDef)}
    (table,) = (one.value for one in body if isinstance(one, ast.AnnAssign))
    assert isinstance(table, ast.Dict)
    for key, code in zip(table.keys, table.values, strict=True):
        assert isinstance(key, ast.Constant)
        slot = slots[str(key.value)]
        takes = (*slot.takes, *(("size",) if slot.law else ()))
        arguments = code.args if isinstance(code, ast.Lambda) else None
        if isinstance(code, ast.Name):
            arguments = functions[code.id]
        if arguments is not None:
            assert tuple(one.arg for one in arguments.args)[: len(takes)] == takes, slot.name


def test_an_unknown_pack_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(DropcheckError, match="no pack 'droput'") as caught:
        pack("droput")
    assert caught.value.problems[0].hint == "did you mean 'dropout'?"
    with pytest.raises(DropcheckError, match="no pack") as caught:
        pack("../../claims")
    assert "the packs are attention" in str(caught.value.problems[0].hint)


@pytest.mark.parametrize(
    "arguments",
    [("list", "pack:dropout"), ("check", "-f", "pack:dropout"), ("show", "values", "pack:dropout")],
)
def test_a_pack_is_named_as_files_are(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments]) == 0
    printed = capsys.readouterr().out
    assert "pack:dropout" in printed


def test_a_format_whose_library_is_missing_is_left_out_unless_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numpy = implementations_of(["numpy"], CODE)
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    found = with_columns(pack("samplers"), numpy)
    assert "bfloat16" not in found.claims["uniform-end@numpy"].parameters["dtype"]
    assert [note.message for note in found.notes] == [
        "numpy is left out in bfloat16: 'ml_dtypes' is not installed"
    ]
    asked = with_columns(pack("samplers"), numpy, ["bfloat16"])
    assert asked.claims["uniform-end@numpy"].parameters["dtype"] == ("bfloat16",)
    assert not asked.notes


def test_show_says_what_a_slot_takes_and_gives(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{PACK}dropout", "mean-kept"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    at = lines.index("slots       dropout(x, p) = y")
    assert lines[at + 1 : at + 6] == [
        "m ~ bernoulli(1 - p)[shape(x)]",
        "y = where(m == 1, x / (1 - p), 0)",
        "dropout.eval(x, p) = x",
        "grad(dropout)(x, p) = m / (1 - p)",
        "elements: independent",
    ]
    assert main(["show", f"{PACK}samplers", "uniform-end"]) == 0
    assert "slots       random_uniform(" in capsys.readouterr().out
