import io

import pytest

from storefront.kit.api.ranges import FilePart, Span, Unsatisfiable, requested_span

ETAG = '"1-a"'


@pytest.mark.parametrize(
    ("header", "span"),
    [
        ("bytes=0-9", Span(0, 10)),
        ("bytes=10-", Span(10, 100)),
        ("bytes=90-500", Span(90, 100)),
        ("bytes=-10", Span(90, 100)),
        ("bytes=-500", Span(0, 100)),
        ("Bytes=0-", Span(0, 100)),
        # Not understood, or several: the whole file.
        ("bytes=", None),
        ("bytes=-", None),
        ("bytes=9-3", None),
        ("bytes=0-1,5-6", None),
        ("items=0-9", None),
        ("bytes=0x1-5", None),
        ("bytes=²-5", None),
        (f"bytes={'9' * 40}-", None),
        ("", None),
    ],
)
def test_one_range_is_read(header, span):
    assert requested_span({"Range": header}, size=100, etag=ETAG) == span


@pytest.mark.parametrize("header", ["bytes=100-", "bytes=500-600", "bytes=-0"])
def test_a_range_behind_the_end_is_refused(header):
    with pytest.raises(Unsatisfiable):
        requested_span({"Range": header}, size=100, etag=ETAG)


@pytest.mark.parametrize("other", ['"2-b"', f"W/{ETAG}", "Sat, 21 Nov 2026 08:00:00 GMT"])
def test_another_version_is_sent_whole(other):
    given = {"Range": "bytes=500-", "If-Range": other}
    assert requested_span(given, size=100, etag=ETAG) is None
    assert requested_span(given | {"If-Range": ETAG, "Range": "bytes=5-"}, size=100, etag=ETAG) == Span(5, 100)


def test_a_part_ends_where_it_ends():
    part = FilePart(io.BytesIO(b"0123456789"), "", Span(2, 7))
    assert [part.read(3), part.read(3), part.read(3)] == [b"234", b"56", b""]
