"""The report's table, and whether a row meets its bar."""

import pytest

from benchmarks import bars, report
from benchmarks.deliveries import Result, table
from benchmarks.report import Row


def row(**given) -> Row:
    return Row(what="list", database="SQLite", products=1000, **given)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (row(cpu=30e-6, floor=15e-6, bar=bars.FROM_MEMORY), "yes"),
        (row(cpu=31e-6, floor=15e-6, bar=bars.NOT_MODIFIED), "**no**, 1.38 × the bar"),
        (row(cpu=1.2e-3, bar=bars.LIST), "yes"),
        (row(cpu=1.8e-3, bar=bars.LIST), "**no**, 1.50 × the bar"),
        (row(p50=0.014, p99=0.15, cpu=0.001, bar=bars.SEARCH), "**no**, 1.50 × the bar"),
        (row(p50=0.014, p99=0.09, cpu=0.003, database_cpu=0.009, bar=bars.SEARCH), "**no**, 1.20 × the bar"),
        (row(per_second=2500, bar=bars.FILES["import"]), "**no**, 2.00 × the bar"),
        (row(compared=1.5, bar=bars.IN_ORDER), "yes"),
        (row(memory=300, bar=bars.MEMORY), "**no**, 1.50 × the bar"),
        (row(cpu=1), ""),
    ],
)
def test_a_row_meets_its_bar_or_shows_the_ratio(given, verdict):
    assert given.verdict == verdict


def test_a_row_with_a_bar_that_was_not_measured_does_not_meet_it():
    assert row(bar=bars.LIST).verdict == "**no**, not measured"


def test_the_table_has_a_line_for_each_row_and_notes_below():
    text = report.table([row(cpu=30e-6, floor=15e-6, per_second=12345.6, p50=0.00123), row(note="10 requests failed")])
    lines = text.splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:10]] == [
        *("list", "SQLite", "1,000", "12,346", "1.23", "", "30", "", "2.00"),
    ]
    assert len({line.count("|") for line in lines[:4]}) == 1
    assert lines[-1] == "- list, SQLite, 1,000: 10 requests failed"


def test_writing_keeps_the_page_around_the_table(tmp_path, monkeypatch):
    page = tmp_path / "performance.md"
    page.write_text(f"# Title\n\n{report.BEGIN}\nold\n{report.END}\n\nAfter.\n")
    monkeypatch.setattr(report, "PAGE", page)
    report.write("new")
    report.write("newer")
    assert page.read_text() == f"# Title\n\n{report.BEGIN}\n\nnewer\n\n{report.END}\n\nAfter.\n"


def test_the_second_table_is_written_beside_the_first(tmp_path, monkeypatch):
    page, marks = tmp_path / "performance.md", report.WEBHOOKS
    page.write_text(f"{report.BEGIN}\nold\n{report.END}\n\n{marks[0]}\nold\n{marks[1]}\n")
    monkeypatch.setattr(report, "PAGE", page)
    measured = {"SQLite": [Result("deliveries", 1500.4, "/s", 1000, True), Result("idle", 1.234, "%", 1)]}
    report.write(table(measured), *marks)
    text = page.read_text()
    assert f"{report.BEGIN}\nold\n{report.END}" in text
    assert "| deliveries | SQLite | 1,500 /s | 1,000 /s | yes |\n| idle | SQLite | 1.23 % | 1 % | **no** |" in text
