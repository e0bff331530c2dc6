"""The bars: limits that rows must meet. CPU is that of the web server's processes."""

from benchmarks.report import Bar, Row


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


def search(p50: float, p99: float, cpu: float) -> Bar:
    """Milliseconds; the CPU is that of the web server and the database together."""

    def limits(row: Row) -> list[tuple[float | None, float]]:
        together = None if row.cpu is None else row.cpu + (row.database_cpu or 0)
        return [(row.p50, p50 / 1000), (row.p99, p99 / 1000), (together, cpu / 1000)]

    return Bar(f"p50 {p50:g} ms, p99 {p99:g} ms, CPU {cpu:g} ms", limits)


def p99_ms(limit: float) -> Bar:
    return Bar(f"p99 {limit:g} ms", lambda row: [(row.p99, limit / 1000)])


FROM_MEMORY, NOT_MODIFIED = times_empty(2), times_empty(1.5)
LIST, SINGLE = cpu_ms(1.2), cpu_ms(0.9)
ANY_SIZE = times(1.3, "smallest shop")
IN_ORDER, DEEP = times(1.5, "first pages"), times(10, "page 1")
SEARCH = search(15, 100, 10)
ADD, CART = cpu_ms(2), cpu_ms(1)
MANY_ADD, SALES = p99_ms(60), a_second(2000, "commits")
MEMORY = memory_mib(200)
FLAT = times(1.25, "first quarter")
# An update that changes nothing: 92,331 products in 25 s.
FILES = {
    "import": a_second(5000, "products"),
    "update": a_second(3693, "products"),
    "export": a_second(5000, "products"),
}
