"""The tables of load and of shops are those of whole runs, in which nothing was lost."""

import re

import pytest

from tests.load import costs, report

pytestmark = pytest.mark.any_database


def part(begin: str, end: str) -> str:
    return report.PAGE.read_text().partition(begin)[2].partition(end)[0]


def test_the_load_killed_each_program_and_lost_nothing():
    written = part(report.BEGIN, report.END)
    killed = ("web server", "PostgreSQL", "worker of pod", "PgBouncer", "worker process of nginx", "Redis")
    for what in killed:
        assert re.search(rf"^\| .*{what}", written, re.MULTILINE), what
    assert re.search(
        r"^- [1-9][\d,]* orders, 0 lost, 0 doubled; [\d,]+ confirmed by mail, 0 not", written, re.MULTILINE
    )
    assert "0 differ; 0 products with a wrong stock." in written
    assert "0 of them after a 5xx without `Retry-After`" in written
    assert "**" not in written, "a problem is listed"


def test_costs_are_those_of_one_shop_and_of_many():
    (head, *_) = [line for line in part(costs.BEGIN, costs.END).splitlines() if line.startswith("| What")]
    one, some, many = (int(number.replace(",", "")) for number in re.findall(r"([\d,]+) shop", head))
    assert (one, some) == costs.SIZES[:2]
    assert many >= 1000


def test_the_plan_is_of_these_costs():
    assert "| Pods, with 8 cores for PostgreSQL in each |" in part(costs.PLAN_BEGIN, costs.PLAN_END)
