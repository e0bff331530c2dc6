"""Two who use one link at the same moment never download more than was sold, on both databases."""

import pytest

from storefront.kit import clock
from storefront.kit.api.ranges import Span
from storefront.orders.download_links import Availability
from storefront.orders.downloads import begin_download
from storefront.orders.models import Download
from storefront.payments import actions
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.orders.files import BOOK, add_file
from tests.races import run_concurrently

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def download(shop) -> Download:
    product = make_product(shop, "Book", max_downloads=3)
    add_file(product)
    return actions.mark_paid(shop=shop, order=make_order(shop, sale_line(product)), now=clock.now()).downloads.get()


def race(download: Download, *spans: Span) -> list[Availability]:
    now = clock.now()
    return run_concurrently(
        *(lambda span=span: begin_download(download=download, span=span, now=now) for span in spans)
    )


def test_twenty_at_once_are_max_downloads(download):
    answers = race(download, *[Span(0, len(BOOK))] * 20)
    assert sorted(answers) == [Availability.READY] * 3 + [Availability.USED_UP] * 17
    assert Download.objects.get().used == 3


def test_sixteen_parts_at_once_are_one_download(download):
    parts = [Span(start, start + 64) for start in range(0, len(BOOK), 64)]
    assert set(race(download, *parts)) == {Availability.READY}
    # What was sent is counted in full: two that had read the same row would lose a part.
    assert (Download.objects.get().used, Download.objects.get().sent) == (1, len(BOOK))
