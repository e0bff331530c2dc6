"""The table of faults is that of a whole run in which nothing was lost."""

import re

from tests.faults.faults import FAULTS
from tests.faults.report import BEGIN, END, PAGE


def test_the_page_has_every_fault_on_both_databases():
    table = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    rows = [
        tuple(cell.strip() for cell in line.split("|")[1:3]) for line in table.splitlines() if line.startswith("| ")
    ]
    for fault in FAULTS:
        assert {database for what, database in rows if what == fault.what} == {"SQLite", "PostgreSQL"}, fault.what
    totals = re.findall(r"orders, (\d+) lost, (\d+) doubled\. [\d,]+ webhooks, (\d+) missing, (\d+) with", table)
    assert totals == [("0", "0", "0", "0")] * 2
