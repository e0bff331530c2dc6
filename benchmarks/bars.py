"""The bars: limits that rows must meet. CPU is that of the web server's processes."""

from benchmarks.report import Bar


def times_empty(limit: float) -> Bar:
    return Bar(f"{limit:g} × empty app", lambda row: [(row.ratio, limit)])


def cpu_ms(limit: float) -> Bar:
    return Bar(f"{limit:g} ms CPU", lambda row: [(row.cpu, limit / 1000)])


def times(limit: float, other: str) -> Bar:
    return Bar(f"{limit:g} × {other}", lambda row: [(row.compared, limit)])


def memory_mib(limit: float) -> Bar:
    return Bar(f"{limit:g} MiB", lambda row: [(row.memory, limit)])


def a_second(least: float, what: str) -> Bar:
    return Bar(f"{least:,.0f} {what}/s", lambda row: [(1 / row.per_second if row.per_second else None, 1 / least)])


def latency_ms(p50: float, p99: float) -> Bar:
    return Bar(f"p50 {p50:g} ms, p99 {p99:g} ms", lambda row: [(row.p50, p50 / 1000), (row.p99, p99 / 1000)])


def p99_ms(limit: float) -> Bar:
    return Bar(f"p99 {limit:g} ms", lambda row: [(row.p99, limit / 1000)])


FROM_MEMORY, NOT_MODIFIED = times_empty(2), times_empty(1.5)
LIST, SINGLE = cpu_ms(1.2), cpu_ms(0.9)
ANY_SIZE = times(1.3, "smallest shop")
IN_ORDER, DEEP = times(1.5, "first pages"), times(10, "page 1")
SEARCH = latency_ms(20, 200)
ADD, CART = cpu_ms(2), cpu_ms(1)
MANY_ADD, SALES = p99_ms(60), a_second(2000, "commits")
MEMORY = memory_mib(200)
IMPORT, FLAT = a_second(5000, "products"), times(1.25, "first quarter")
