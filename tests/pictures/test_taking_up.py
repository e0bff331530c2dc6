"""What an import asked for is taken up by the worker: one row for many pictures becomes one row of each."""

import threading
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, transaction

from storefront.catalogue.models import Media, Product
from storefront.kit import clock
from storefront.pictures import requesting, taking_up
from storefront.pictures.claiming import is_any_left
from storefront.pictures.fetching import Fetcher
from storefront.pictures.models import PictureFetch, PictureRequest
from storefront.pictures.queries import Progress, progress_of_import, waiting_and_failed, without_file
from storefront.pictures.requesting import PictureRequests, request_missing
from storefront.pictures.rules import host_of, is_fetched
from storefront.pictures.taking_up import take_up
from storefront.product_files.importing import import_products
from storefront.product_files.models import ProductImport
from storefront.server.metrics import database
from storefront.shops.models import Shop
from tests.catalogue.factories import make_media, make_product
from tests.pictures.hosts import asked_for, drawn, fetch_waiting, picture_host, state_of, take_up_all
from tests.product_files.files import as_lines
from tests.races import run_after_waiting_for, run_concurrently
from tests.shops.factories import NOW

# The threads of races have database connections of their own.
pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
OLD = "https://old.example.com"


WITH_HOST = ["http://a", "HttpS://A.b:8/", "http://a?b", "http://é/", "http://\n"]
WITHOUT_HOST = ["http://", "https:///a", "http://?a", "http://#", "httpſ://a", "http:/a", "//a", "a", "", " http://a"]


def addresses(count: int) -> list[str]:
    return [f"{OLD}/{number}.png" for number in range(count)]


def make_import(shop: Shop) -> int:
    return ProductImport.objects.create(shop=shop, created_at=NOW).pk


def fetched_ids(**filters) -> list[int]:
    return list(PictureFetch.objects.filter(**filters).order_by("pk").values_list("pk", flat=True))


def ids(media: list[Media]) -> list[int]:
    return [row.pk for row in media]


def test_each_picture_waits_as_if_the_import_had_said_so(shop):
    number = make_import(shop)
    media = asked_for(shop, *addresses(3), product_import=number)
    assert fetched_ids() == []
    assert take_up() == 1
    assert fetched_ids() == ids(media)
    for row in PictureFetch.objects.all():
        assert (row.shop, row.product_import_id, row.host, row.due_at) == (shop, number, "old.example.com", NOW)
        assert (row.state, row.attempts, row.lease) == ("waiting", 0, None)
    assert not PictureRequest.objects.exists()
    assert take_up() == 0


def test_nobody_elses_media_are_taken_up(shop, other_shop):
    """Neither another shop's within the range of ids, nor those of this shop that were added at the same time."""
    product, theirs = make_product(shop), make_product(other_shop)
    first, strange, second, added, third = (
        make_media(each, f"{OLD}/{number}") for number, each in enumerate((product, theirs, product, product, product))
    )
    new = [(row.pk, row.source_url) for row in (third, first, second)]
    PictureRequests(shop, NOW).insert(new)
    runs = PictureRequest.objects.order_by("pk").values_list("first_media", "last_media", "pictures")
    assert list(runs) == [(row.pk, row.pk, 1) for row in (first, second, third)]
    PictureRequest.objects.filter(first_media=first.pk).update(last_media=strange.pk)
    assert without_file(shop, ids([first, strange, second, added, third])) == set(ids([first, second, third]))
    take_up_all(shop)
    assert fetched_ids() == ids([first, second, third])


def test_only_what_the_worker_could_fetch_is_asked_for(shop):
    own = f"{shop.base_url}/media/products/cup.png"
    nothing = ["ftp://old.example.com/cup.jpg", own, "cup.jpg", "https:///cup.jpg"]
    asked_for(shop, *nothing)
    assert not PictureRequest.objects.exists()
    *_, upper, last = media = asked_for(shop, *nothing, "HTTPS://Old.example.com/cup.jpg", OLD)
    assert PictureRequest.objects.get().pictures == 2
    assert without_file(shop, ids(media)) == {upper.pk, last.pk}
    take_up_all(shop)
    assert fetched_ids() == [upper.pk, last.pk]
    assert without_file(shop, ids(media)) == {upper.pk, last.pk}


@pytest.mark.parametrize("url", [*WITH_HOST, *WITHOUT_HOST])
def test_an_address_that_is_counted_has_a_host(url):
    assert is_fetched(url, "https://own/") == bool(host_of(url)) == (url in WITH_HOST)


def test_one_shop_alone(shop, other_shop):
    asked_for(other_shop, OLD)
    ours = asked_for(shop, OLD)
    assert take_up(shop=shop) == 1
    assert fetched_ids() == ids(ours)
    assert PictureRequest.objects.get().shop == other_shop


def test_the_oldest_ones_first_and_some_at_a_time(shop, monkeypatch):
    monkeypatch.setattr(taking_up, "MAX_PICTURES", 5)
    first, second, _ = (asked_for(shop, *addresses(3)) for _ in range(3))
    assert take_up() == 2
    assert fetched_ids() == ids(first + second)
    assert take_up() == 1
    monkeypatch.setattr(taking_up, "MAX_REQUESTS", 1)
    for _ in range(2):
        asked_for(shop, OLD)
    assert take_up() == 1
    assert PictureRequest.objects.count() == 1


def test_each_shop_has_its_turn(shop, other_shop, monkeypatch):
    monkeypatch.setattr(taking_up, "MAX_PICTURES", 1)
    asked_for(shop, *addresses(3))
    asked_for(shop, OLD)
    theirs = asked_for(other_shop, OLD)
    assert take_up() == 2
    assert fetched_ids(shop=other_shop) == ids(theirs)
    assert PictureRequest.objects.get().shop == shop


def test_one_that_fails_is_left_for_later_and_the_others_are_taken_up(shop, monkeypatch):
    first, second = asked_for(shop, OLD), asked_for(shop, OLD)
    insert = taking_up._insert

    def failing(request, rows) -> None:
        if request.first_media == first[0].pk:
            raise OperationalError("no")
        insert(request, rows)

    monkeypatch.setattr(taking_up, "_insert", failing)
    assert take_up() == 1
    assert fetched_ids() == ids(second)
    monkeypatch.setattr(taking_up, "_insert", insert)
    assert take_up() == 1
    assert fetched_ids() == ids(first + second)


def test_a_lost_connection_loses_no_picture(shop, monkeypatch):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no connection that could be lost")
    media, insert = asked_for(shop, *addresses(3)), taking_up._insert

    def killed(*given) -> None:
        insert(*given)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    monkeypatch.setattr(taking_up, "_insert", killed)
    assert take_up() == 0
    monkeypatch.setattr(taking_up, "_insert", insert)
    assert fetched_ids() == []
    assert take_up() == 1
    assert fetched_ids() == ids(media)


def test_a_product_that_somebody_holds_is_not_waited_for(shop, monkeypatch):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    monkeypatch.setattr(taking_up, "MAX_LOCK_WAIT", "100ms")
    product = make_product(shop)
    asked_for(shop, OLD, product=product)
    held, done = threading.Event(), threading.Event()

    @transaction.atomic
    def hold() -> None:
        Product.objects.select_for_update().get(pk=product.pk)
        held.set()
        assert done.wait(10)

    def work() -> int:
        assert held.wait(10)
        try:
            return take_up()
        finally:
            done.set()

    assert run_concurrently(hold, work)[1] == 0
    assert take_up() == 1


def test_what_was_removed_or_uploaded_before_is_not_fetched(shop):
    product = make_product(shop)
    removed, uploaded, left = asked_for(shop, *addresses(3), product=product)
    removed.delete()
    Media.objects.filter(pk=uploaded.pk).update(file="products/own.png", width=1, height=1)
    assert without_file(shop, ids([uploaded, left])) == {left.pk}
    take_up_all(shop)
    assert fetched_ids() == [left.pk]


def test_a_deleted_product_keeps_its_pictures(shop):
    """It can be restored."""
    product = make_product(shop)
    media = asked_for(shop, OLD, product=product)
    Product.objects.filter(pk=product.pk).update(deleted_at=NOW)
    take_up_all(shop)
    assert fetched_ids() == ids(media)


def test_the_counts_are_the_same_before_and_after(shop, other_shop):
    number, other = make_import(shop), make_import(shop)
    asked_for(shop, *addresses(3), "ftp://old", product_import=number)
    asked_for(shop, *addresses(2), product_import=other)
    asked_for(other_shop, OLD)
    for take_up_some in (lambda: None, lambda: take_up_all(shop)):
        take_up_some()
        row = ProductImport.objects.get(pk=number)
        assert (progress_of_import(shop, number), row.awaits_pictures) == (Progress(waiting=3), True)
        assert progress_of_import(shop, other) == Progress(waiting=2)
        assert waiting_and_failed(shop) == Progress(waiting=5)
        assert waiting_and_failed(other_shop) == Progress(waiting=1)
        assert is_any_left(shop, besides=(), now=NOW)
        waiting, seconds = database.read().queues["pictures"]
        assert waiting == 6
        assert abs(seconds - (clock.now() - NOW).total_seconds()) < 60
    assert database.read().queues["pictures"][0] == 6


def test_the_oldest_request_says_how_long_pictures_wait(shop):
    assert database.read().queues["pictures"] == (0, 0.0)
    asked_for(shop, OLD)
    PictureRequest.objects.update(made_at=clock.now() - timedelta(seconds=100))
    waiting, seconds = database.read().queues["pictures"]
    assert (waiting, round(seconds, -1)) == (1, 100)


def test_workers_that_take_up_at_once_make_each_row_once(shop):
    media = [row for _ in range(30) for row in asked_for(shop, *addresses(5))]

    def work() -> int:
        taken = 0
        while PictureRequest.objects.exists():
            taken += take_up()
        return taken

    assert sum(run_concurrently(work, work, work)) == 30
    assert fetched_ids() == ids(media)


def test_a_request_that_is_taken_up_is_left_to_that_worker(shop, monkeypatch):
    """The other one neither waits nor seems to be done."""
    media, reading, go_on = asked_for(shop, OLD), threading.Event(), threading.Event()
    insert = taking_up._insert

    def slow(*given) -> None:
        reading.set()
        assert go_on.wait(10)
        insert(*given)

    monkeypatch.setattr(taking_up, "_insert", slow)

    def meanwhile() -> tuple[int, bool, int]:
        assert reading.wait(10)
        try:
            return second_take_up(), is_any_left(shop, besides=(), now=NOW), waiting_and_failed(shop).waiting
        finally:
            go_on.set()

    _, seen = run_concurrently(take_up, meanwhile)
    assert seen == (0, True, 1)
    assert fetched_ids() == ids(media)


def second_take_up() -> int:
    """SQLite has one writer, which the other one would wait for."""
    return take_up() if connection.vendor == "postgresql" else 0


def test_it_is_taken_up_while_all_that_is_missing_is_requested(shop, monkeypatch):
    """Those of the import keep its number, whoever is first."""
    monkeypatch.setattr(requesting, "BATCH_ROWS", 7)
    number = make_import(shop)
    left = [make_media(make_product(shop), url) for url in addresses(50)]
    asked = [row for _ in range(20) for row in asked_for(shop, *addresses(3), product_import=number)]
    results = run_concurrently(
        lambda: request_missing(shop=shop, now=NOW),
        lambda: take_up_all(shop),
        lambda: take_up_all(shop),
    )
    assert results[0] == 50
    take_up_all(shop)
    assert fetched_ids(product_import=number) == ids(asked)
    assert fetched_ids(product_import=None) == ids(left)


def test_a_picture_that_is_being_removed_is_not_taken_up(shop):
    """Its removal is committed first, or finds the row."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    product = make_product(shop)
    removed, left = asked_for(shop, *addresses(2), product=product)

    def remove() -> None:
        Product.objects.select_for_update(no_key=True).get(pk=product.pk)
        removed.delete()

    run_after_waiting_for(remove, take_up)
    assert fetched_ids() == [left.pk]


def test_an_idle_turn_reads_twice(shop, django_assert_num_queries):
    fetcher = Fetcher()
    with django_assert_num_queries(2):
        assert fetcher._record_and_claim([]) == ([], False)


def test_the_first_pictures_are_fetched_while_others_are_taken_up(shop, monkeypatch):
    monkeypatch.setattr(taking_up, "MAX_PICTURES", 1)
    first, _ = asked_for(shop, OLD), asked_for(shop, OLD)
    jobs, is_done = Fetcher(shop)._record_and_claim([])
    assert [job.media_id for job in jobs] == ids(first)
    assert not is_done
    assert PictureRequest.objects.count() == 1


def test_a_paused_host_does_not_keep_requests_from_being_taken_up(shop, monkeypatch):
    monkeypatch.setattr(taking_up, "MAX_PICTURES", 1)
    for _ in range(2):
        asked_for(shop, OLD)
    fetcher = Fetcher(shop)
    monkeypatch.setattr(fetcher, "_paused_hosts", lambda: {"old.example.com"})
    assert fetcher._record_and_claim([]) == ([], False)
    assert fetcher._record_and_claim([]) == ([], True)


def test_the_pictures_of_an_import_come_into_the_shop(shop, tmp_path):
    with picture_host(cup=drawn(), mug=404) as host:
        file = tmp_path / "file"
        media = [host.url("/cup"), host.url("/mug")]
        file.write_text(as_lines({"name": "Cup", "sku": "C", "price": "1", "media": media}))
        number = make_import(shop)
        import_products(shop=shop, file=file, pictures=PictureRequests(shop, NOW, number), now=NOW)
        assert fetched_ids() == []
        fetch_waiting(shop)
    cup, mug = Media.objects.order_by("pk")
    assert (state_of(cup), state_of(mug)[0]) == (("fetched", ""), "failed")
    assert cup.file
    assert progress_of_import(shop, number) == Progress(fetched=1, failed=1)
