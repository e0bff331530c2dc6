"""Each picture is fetched by one worker at a time, and by another one if that is killed."""

import asyncio
import io
import threading
from datetime import timedelta

import pytest
from aiohttp import web
from django.core.files.storage import FileSystemStorage, default_storage

from storefront.catalogue.models import Media
from storefront.kit import clock, outbound
from storefront.pictures import claiming, rules
from storefront.pictures.downloading import inspect
from storefront.pictures.fetching import Fetcher
from storefront.pictures.models import PictureFetch, StoredPicture
from storefront.pictures.storing import store
from tests.catalogue.factories import make_product
from tests.pictures.hosts import drawn, fetch_waiting, picture_host, requested, state_of
from tests.races import run_concurrently
from tests.shops.factories import NOW

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
OLD = "https://old.example.com"


def addresses(count: int, host: str = OLD) -> list[str]:
    return [f"{host}/{number}.png" for number in range(count)]


def claim(shop, most: int = 100, lease: str = "ours", now=NOW, host: str = "old.example.com") -> list[int]:
    return [job.media_id for job in claiming.claim(shop.pk, host, most, lease=lease, now=now)]


def test_a_claimed_picture_is_claimed_again_only_after_its_lease(shop, other_shop):
    media = requested(shop, *addresses(3))
    requested(other_shop, *addresses(1))
    assert claim(shop) == [row.pk for row in media]
    assert claim(shop, lease="theirs", now=NOW + rules.LEASE - timedelta(seconds=1)) == []
    assert len(claim(shop, lease="theirs", now=NOW + rules.LEASE)) == 3
    assert len(claim(other_shop)) == 1


def test_workers_that_claim_at_once_get_different_pictures(shop):
    media = requested(shop, *addresses(200))

    def work(name: str) -> list[int]:
        found: list[int] = []
        while claimed := claim(shop, 7, name):
            found += claimed
        return found

    first, second, third = run_concurrently(*(lambda name=name: work(name) for name in "abc"))
    assert sorted(first + second + third) == [row.pk for row in media]


def test_workers_that_fetch_at_once_fetch_each_picture_once(shop):
    """Also of one content, which they then store at the same time."""
    with picture_host(**{str(number): drawn() for number in range(40)}) as host:
        media = requested(shop, *[host.url(f"/{number}") for number in range(40)])
        run_concurrently(*[lambda: fetch_waiting(shop)] * 3)
    assert set(host.calls.values()) == {1}
    assert {state_of(row) for row in media} == {("fetched", "")}
    assert set(Media.objects.values_list("file", flat=True)) == {StoredPicture.objects.get().file}
    assert len(default_storage.listdir(f"products/{shop.pk}")[1]) == 1


def test_one_content_that_two_workers_store_at_once_is_one_file(shop, monkeypatch):
    both, save = threading.Barrier(2), FileSystemStorage.save

    def save_at_once(*given):
        name = save(*given)
        both.wait(10)
        return name

    monkeypatch.setattr(FileSystemStorage, "save", save_at_once)
    pictures = [inspect(io.BytesIO(drawn())) for _ in range(2)]
    names = run_concurrently(*(lambda picture=picture: store(shop=shop, picture=picture) for picture in pictures))
    (name,) = set(names)
    assert default_storage.listdir(f"products/{shop.pk}")[1] == [name.rpartition("/")[2]]


def test_a_picture_that_another_worker_fetches_is_waited_for(shop):
    requested(shop, OLD)
    assert claiming.is_any_left(shop, besides=(), now=NOW)
    assert not claiming.is_any_left(shop, besides={"old.example.com"}, now=NOW)
    claim(shop)
    assert claiming.is_any_left(shop, besides={"old.example.com"}, now=NOW)
    PictureFetch.objects.update(lease=None)
    assert not claiming.is_any_left(shop, besides=(), now=NOW)


def test_a_turn_begins_four_of_a_host_and_sixteen_in_all(shop):
    for number in range(6):
        requested(shop, *addresses(10, f"https://host{number}.example.com"))
    fetcher = Fetcher(shop)
    jobs, is_done = fetcher._record_and_claim([])
    assert not is_done
    by_host = [sum(job.host == f"host{number}.example.com" for job in jobs) for number in range(6)]
    assert by_host == [4, 4, 4, 4, 0, 0]


def test_hosts_and_shops_take_turns(shop, other_shop):
    requested(shop, *addresses(50, "https://a.example.com"))
    requested(shop, *addresses(1, "https://b.example.com"))
    requested(other_shop, *addresses(50, "https://c.example.com"))
    found = [(job.shop.domain, job.host) for job in Fetcher()._record_and_claim([])[0]]
    assert {host for _, host in found} == {"a.example.com", "b.example.com", "c.example.com"}
    assert {domain for domain, _ in found} == {shop.domain, other_shop.domain}


def test_a_worker_that_was_killed_is_followed_by_another(shop):
    with picture_host(cup=drawn()) as host:
        (media,) = requested(shop, host.url("/cup"))
        assert claim(shop, lease="killed", now=clock.now(), host=media.fetch.host) == [media.pk]
        assert PictureFetch.objects.get().attempts == 1
        PictureFetch.objects.update(due_at=clock.now())
        fetch_waiting(shop)
        assert state_of(media) == ("fetched", "")
        assert PictureFetch.objects.get().attempts == 2


def test_a_worker_that_comes_back_after_its_lease_changes_nothing(shop):
    with picture_host(cup=drawn()) as host:
        (media,) = requested(shop, host.url("/cup"))
        late = Fetcher(shop)
        jobs, _ = late._record_and_claim([])
        PictureFetch.objects.update(lease="theirs")

        async def download() -> None:
            async with outbound.open_session() as session:
                await late._download(session, jobs[0])

        asyncio.run(download())
        late._record_and_claim(late.ended)
    assert PictureFetch.objects.get().lease == "theirs"
    media.refresh_from_db()
    assert not media.file
    assert not StoredPicture.objects.exists()


def test_a_picture_that_kills_its_workers_fails(shop):
    (media,) = requested(shop, OLD)
    now = NOW
    for _ in range(rules.MAX_ATTEMPTS):
        assert claim(shop, now=now) == [media.pk]
        now += rules.LEASE
    assert claim(shop, now=now) == []
    assert state_of(media) == ("failed", "The worker was stopped each time it fetched this picture.")


def test_a_stopped_worker_gives_back_what_it_has_not_fetched(shop, monkeypatch):
    monkeypatch.setattr("storefront.pictures.fetching.STOP_GRACE_SECONDS", 0.1)
    called = threading.Event()

    async def hang(_request):
        called.set()
        await asyncio.Event().wait()
        return web.Response()

    with picture_host(cup=hang) as host:
        (media,) = requested(shop, host.url("/cup"))
        fetcher = Fetcher()

        def stop_when_called() -> None:
            assert called.wait(10)
            fetcher.stop()

        run_concurrently(lambda: asyncio.run(fetcher.run()), stop_when_called)
    row = PictureFetch.objects.get(pk=media.pk)
    assert (row.state, row.lease, row.attempts) == ("waiting", None, 0)
    assert row.due_at <= clock.now()


@pytest.mark.parametrize("change", ["remove picture", "remove product", "change address", "upload", "delete product"])
def test_what_changes_while_the_picture_is_fetched(shop, change):
    """A removed picture stays away, another address or file stays; a deleted product, which can be restored, keeps its
    picture."""
    product = make_product(shop, "Cup")
    arrived, go_on = threading.Event(), threading.Event()

    async def slow(_request):
        arrived.set()
        await asyncio.to_thread(go_on.wait, 10)
        return web.Response(body=drawn())

    def meanwhile() -> None:
        assert arrived.wait(10)
        row = Media.objects.filter(pk=media.pk)
        match change:
            case "remove picture":
                media.delete()
            case "remove product":
                product.delete()
            case "change address":
                row.update(source_url=host.url("/other"))
            case "upload":
                row.update(file="products/uploaded.png", width=7, height=7)
            case "delete product":
                type(product).objects.filter(pk=product.pk).update(deleted_at=NOW)
        go_on.set()

    with picture_host(cup=slow, other=drawn(colour="red", width=7)) as host:
        (media,) = requested(shop, host.url("/cup"), product=product)
        pk = media.pk
        run_concurrently(lambda: fetch_waiting(shop), meanwhile)
    left = Media.objects.filter(pk=pk).first()
    if change.startswith("remove"):
        assert left is None
        assert not PictureFetch.objects.exists()
        return
    assert left is not None
    assert PictureFetch.objects.get().state == "fetched"
    if change == "upload":
        assert left.file.name == "products/uploaded.png"
    elif change == "change address":
        assert left.width == 7
    else:
        assert left.width == 60
        product.refresh_from_db()
        assert product.updated_at == NOW
