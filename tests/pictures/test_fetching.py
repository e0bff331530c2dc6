"""Pictures of imported products are fetched from their addresses into the shop's own storage."""

from datetime import timedelta

import pytest
from aiohttp import web
from django.core.files.storage import default_storage

from storefront.kit import clock
from storefront.pictures import rules
from storefront.pictures.models import PictureFetch, StoredPicture
from tests.catalogue.factories import make_product
from tests.pictures.hosts import drawn, fetch_waiting, picture_host, requested, state_of

# The loop's thread has a database connection of its own.
pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.mark.rule("R-CAT-28")
def test_a_picture_is_stored_with_its_size_and_served_from_the_shop(shop, api):
    content = drawn(60, 40)
    with picture_host(cup=content) as host:
        (media,) = requested(shop, host.url("/cup"), product=make_product(shop, "Cup", slug="cup"))
        before = api.get("/products/cup")
        assert before.json()["data"]["media"][0]["url"] == host.url("/cup")
        fetch_waiting(shop)
    media.refresh_from_db()
    assert state_of(media) == ("fetched", "")
    with default_storage.open(media.file.name) as file:
        assert file.read() == content
    assert media.source_url == host.url("/cup")
    (shown,) = api.get("/products/cup").json()["data"]["media"]
    assert shown["url"] == f"{shop.base_url}/media/{media.file.name}"
    assert (shown["width"], shown["height"]) == (60, 40)


def test_the_same_content_from_two_addresses_is_stored_once_and_kept_for_the_other(shop):
    with picture_host(one=drawn(), two=drawn()) as host:
        one, two = requested(shop, host.url("/one"), host.url("/two"))
        fetch_waiting(shop)
    one.refresh_from_db()
    two.refresh_from_db()
    assert one.file.name == two.file.name
    assert StoredPicture.objects.count() == 1
    assert len(default_storage.listdir(f"products/{shop.pk}")[1]) == 1
    one.delete()
    assert default_storage.exists(two.file.name)


def test_a_shop_never_shares_a_file_with_another(shop, other_shop):
    with picture_host(cup=drawn()) as host:
        (ours,), (theirs,) = requested(shop, host.url("/cup")), requested(other_shop, host.url("/cup"))
        fetch_waiting(shop)
        assert state_of(theirs) == ("waiting", "")
        fetch_waiting(other_shop)
    ours.refresh_from_db()
    theirs.refresh_from_db()
    assert ours.file.name != theirs.file.name
    assert host.calls["/cup"] == 2


def test_a_lost_file_is_stored_again(shop):
    with picture_host(one=drawn(), two=drawn()) as host:
        (one,) = requested(shop, host.url("/one"))
        fetch_waiting(shop)
        one.refresh_from_db()
        default_storage.delete(one.file.name)
        (two,) = requested(shop, host.url("/two"))
        fetch_waiting(shop)
    two.refresh_from_db()
    assert default_storage.exists(two.file.name)
    assert StoredPicture.objects.get().file == two.file.name


@pytest.mark.parametrize("status", [404, 403, 410, 204])
def test_a_missing_picture_fails_for_good(shop, status):
    with picture_host(cup=status) as host:
        (media,) = requested(shop, host.url("/cup"))
        fetch_waiting(shop)
        fetch_waiting(shop)
    assert state_of(media) == ("failed", f"The host answered with status {status}.")
    assert host.calls["/cup"] == 1


def test_a_busy_host_gets_no_call_until_its_retry_after(shop, monkeypatch):
    monkeypatch.setattr(rules, "MAX_PER_HOST", 1)

    async def busy(_request):
        return web.Response(status=503, headers={"Retry-After": "120"})

    with picture_host(one=busy, two=drawn()) as host:
        one, *others = requested(shop, host.url("/one"), *[host.url("/two")] * 3)
        before = clock.now()
        fetch_waiting(shop)
        row = PictureFetch.objects.get(pk=one.pk)
        assert (row.state, row.reason) == ("waiting", "The host answered with status 503.")
        assert row.due_at - before >= timedelta(seconds=119)
        assert host.calls["/two"] == 0
        host.answers["/one"] = drawn(colour="red")
        PictureFetch.objects.filter(pk=one.pk).update(due_at=before)
        fetch_waiting(shop)
    assert {state_of(media)[0] for media in [one, *others]} == {"fetched"}


def test_a_call_without_a_retry_after_waits_longer_each_time(shop):
    with picture_host(cup=500) as host:
        (media,) = requested(shop, host.url("/cup"))
        waits = []
        for _ in range(5):
            PictureFetch.objects.update(due_at=clock.now())
            fetch_waiting(shop)
            waits.append(PictureFetch.objects.get(pk=media.pk).due_at - clock.now())
    assert waits == sorted(waits)
    assert timedelta(hours=23) < waits[-1] <= timedelta(hours=24)


def test_after_the_last_attempt_a_picture_fails(shop):
    with picture_host(cup=500) as host:
        (media,) = requested(shop, host.url("/cup"))
        for _ in range(7):
            PictureFetch.objects.update(due_at=clock.now())
            fetch_waiting(shop)
    assert state_of(media) == ("failed", "The host answered with status 500.")
    assert host.calls["/cup"] == 6


def test_redirects_are_followed_up_to_five(shop):
    async def onward(request):
        return web.Response(status=302, headers={"Location": str(int(request.path[-1]) - 1)})

    with picture_host(**{str(number): onward for number in range(1, 10)} | {"0": drawn()}) as host:
        near, far = requested(shop, host.url("/5"), host.url("/6"))
        fetch_waiting(shop)
    assert state_of(near) == ("fetched", "")
    assert state_of(far) == ("failed", "There are more than 5 redirects.")


def test_an_address_with_spaces_and_letters_of_other_scripts_is_fetched(shop):
    with picture_host(**{"groß 1": drawn()}) as host:
        (media,) = requested(shop, host.url("/groß 1"))
        fetch_waiting(shop)
    assert state_of(media) == ("fetched", "")
