"""The packs as files: named, read, checked; and their slots, which code is given for."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from slots_made import OfFunctions

from dropcheck.claims.reader import read_registries
from dropcheck.claims.registry import Registry
from dropcheck.cli import main
from dropcheck.code.adapters.adapter import FORMATS_OF_NUMPY
from dropcheck.code.slots import implementations_of, with_columns
from dropcheck.errors import DropcheckError
from dropcheck.packs import PACK, pack_file

CODE = Path(pack_file("dropout")).parent / "implementations"
NAMES = (
    "attention", "diffusion-noise", "dropout", "initialisers", "noise-layers", "normalisation",
    "samplers", "stochastic-depth",
)  # fmt: skip


def pack(name: str) -> Registry:
    return read_registries([f"{PACK}{name}"])


@pytest.mark.parametrize("name", NAMES)
def test_a_pack_has_no_errors_and_no_notes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Its parameters `seed` and `dtype` are those of slots, named so on purpose."""
    assert main(["check", f"{PACK}{name}"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(f"pack:{name}: ")
    assert printed.out.endswith("cases, no errors\n")
    assert printed.err == ""
    assert all(claim.slots for claim in pack(name).claims.values())


def test_a_claim_of_one_number_format_is_not_made_of_a_coarser_one() -> None:
    """Which formats are looked at is said on the command line, and not what is claimed of them."""
    implementations = [OfFunctions({"layer_norm": abs, "rms_norm": abs}, dtypes=FORMATS_OF_NUMPY)]
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
