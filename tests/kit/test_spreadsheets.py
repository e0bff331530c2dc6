"""Texts of CSV cells: never a formula, and the same again once they are read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.kit.files.spreadsheets import escape_formula, unescape_formulas

CELLS = st.one_of(st.text(), st.text("'=+-@\t\r\n1a.,", max_size=6))


@given(CELLS)
def test_unescaping_undoes_escaping(cell):
    assert unescape_formulas([escape_formula(cell)]) == [cell]


@given(CELLS)
def test_no_escaped_cell_is_a_formula_except_numbers(cell):
    written = escape_formula(cell)
    if written[:1] in ("=", "+", "-", "@", "\t", "\r", "\n"):
        float(written.replace(",", "."))


@pytest.mark.parametrize("cell", ["", "Mug", "-2", "+1.50", "12", "'quoted'", "a=b"])
def test_harmless_cells_stay_unchanged(cell):
    assert escape_formula(cell) == cell


@pytest.mark.parametrize("cell", ["=1+1", "-2+3", "+cmd|' /C calc'!A0", "@SUM(1)", "\t=1", "-", "＝1"])
def test_a_formula_gets_an_apostrophe(cell):
    assert escape_formula(cell) == f"'{cell}"
