"""Parsing wrk's output."""

import pytest

from benchmarks import wrk
from benchmarks.processes import Broken

QUIET = """Running 2s test @ http://127.0.0.1:8000/
  1 threads and 16 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.35ms    3.51ms  48.20ms   95.60%
    Req/Sec    28.97k     4.12k   35.44k    75.00%
  Latency Distribution
     50%  412.00us
     75%    0.89ms
     90%    2.20ms
     99%    1.02s
  57731 requests in 2.00s, 130.12MB read
Requests/sec:  28831.40
Transfer/sec:     64.98MB
"""
TROUBLED = QUIET.replace(
    "Requests/sec",
    "  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: 20\nRequests/sec",
)


def test_requests_rate_and_percentiles_in_seconds():
    assert wrk.parse(QUIET) == wrk.Load(requests=57731, per_second=28831.40, p50=412e-6, p99=1.02, failed=0)


def test_refused_and_broken_requests_are_failures():
    assert wrk.parse(TROUBLED).failed == 30


@pytest.mark.parametrize("text", ["", "unable to connect to 127.0.0.1:1 Connection refused"])
def test_other_output_is_not_a_measurement(text):
    with pytest.raises(Broken, match=f"wrk said: {text}"):
        wrk.parse(text)


def test_output_without_percentiles_is_not_a_measurement():
    with pytest.raises(Broken, match="how long"):
        wrk.parse("  10 requests in 1.00s, 1KB read\nRequests/sec:  10.00\n")
