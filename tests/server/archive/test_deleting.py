"""`deleteshop` deletes a shop wholly, and nothing of another one."""

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import IntegrityError, connection

from storefront.catalogue.media import thumbnails
from storefront.catalogue.models import Category, Media, Product
from storefront.kit.refusals import InvalidFields
from storefront.pods.models import ShopMove
from storefront.server.archive import deleting
from storefront.server.archive.tables import rows_of_shop, shop_tables
from storefront.server.command import Failed
from storefront.server.verifying import deviations
from storefront.shops.models import AuditEntry, Shop, User
from storefront.staff import closing
from tests.catalogue.factories import make_category, make_product, make_variant
from tests.checkout.shopper import Shopper
from tests.payments.conftest import bank as bank
from tests.races import run_concurrently
from tests.reference.pictures import picture
from tests.server.archive.shops import digests
from tests.server.archive.test_apart import make_mug, put_into_basket
from tests.server.archive.test_copies import run
from tests.shops.factories import NOW

pytestmark = pytest.mark.django_db
# Feeds of changes go by their age.
STAYS = {"shops.AuditEntry", "sync.Change"}


def delete(shop: Shop, name: str = "") -> dict:
    return run("deleteshop", "--shop", shop.domain, "--confirm", name or shop.name)[0]


def files(storages) -> set[str]:
    return {str(path) for path in storages.rglob("*") if path.is_file()}


def left_of(pk: int) -> set[str]:
    return {table._meta.label for table in shop_tables() if rows_of_shop(table, pk, using="default").exists()}


def test_nothing_stays_but_its_audit_log(filled, other_shop, storages, monkeypatch):
    """A tree of categories, documents, files, a default variant, a delivery tax class, in batches of two."""
    monkeypatch.setattr(deleting, "BATCH_ROWS", 2)
    make_category(filled, "Deep", make_category(filled, "Deeper", Category.objects.get(shop=filled, name="Cups")))
    mug = Product.objects.get(shop=filled, name="Mug")
    Product.objects.filter(pk=mug.pk).update(default_variant=mug.variants.first())
    own = Media.objects.filter(shop=filled).exclude(file="").get().file.name
    default_storage.delete(own)
    default_storage.save(own, picture())
    thumbnails.make(own)
    before, theirs, users = files(storages), digests(other_shop), User.objects.count()
    closing.close_shop(shop=filled, now=NOW)
    pk = filled.pk
    done = delete(filled)
    assert left_of(pk) <= STAYS
    assert AuditEntry.objects.filter(shop=pk, action="shop.deleted").exists()
    assert (digests(other_shop), User.objects.count()) == (theirs, users)
    # Each of two shops had the same files, and one had thumbnails.
    assert len(files(storages)) == done["files"] == 3
    assert files(storages) < before
    assert list(deviations(other_shop)) == []
    connection.check_constraints()


def test_an_open_shop_is_refused_and_so_is_another_name(shop):
    with pytest.raises(Failed, match=f"{shop.domain} is open. Close it in All shops first"):
        delete(shop)
    closing.close_shop(shop=shop, now=NOW)
    with pytest.raises(InvalidFields) as error:
        delete(shop, "Another")
    assert error.value.errors == {"confirm": [f"Another is not the name of {shop.domain}: {shop.name}."]}
    assert Shop.objects.filter(pk=shop.pk).exists()


def test_money_on_its_way_is_waited_for(shop, bank):
    shopper, mug = Shopper(shop), make_mug(shop)
    put_into_basket(shopper, mug)
    shopper.post("/checkout/payment", shopper.payment_fields("bank"))
    closing.close_shop(shop=shop, now=NOW)
    with pytest.raises(Failed, match=r"1 payments or refunds of the shop .* are under way"):
        delete(shop)
    assert shop.products.exists()


def test_a_deletion_that_was_interrupted_is_continued(filled, storages, monkeypatch):
    closing.close_shop(shop=filled, now=NOW)
    pk, delete_batch, calls = filled.pk, deleting._delete_batch, []

    def dying(*given):
        calls.append(given)
        if len(calls) == 40:
            raise KeyboardInterrupt
        return delete_batch(*given)

    monkeypatch.setattr(deleting, "_delete_batch", dying)
    with pytest.raises(KeyboardInterrupt):
        delete(filled)
    assert left_of(pk)
    delete(filled)
    assert left_of(pk) <= STAYS


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_at_once_and_somebody_who_still_writes(shop, other_shop, storages):
    for number in range(30):
        make_variant(make_product(shop, f"Mug {number}"), "Blue")
    closing.close_shop(shop=shop, now=NOW)
    pk = shop.pk

    def write() -> None:
        for number in range(30):
            make_product(shop, f"Late {number}")

    command = lambda: call_command("deleteshop", shop=shop.domain, confirm=shop.name)  # noqa: E731
    first, second, _ = run_concurrently(command, command, write, refusal=(Failed, InvalidFields, IntegrityError))
    assert None in (first, second), (first, second)
    assert not Shop.objects.filter(pk=pk).exists()
    assert left_of(pk) <= STAYS
    assert Shop.objects.filter(pk=other_shop.pk).exists()


def test_a_shop_that_moves_or_opens_again_meanwhile_is_not_deleted(shop):
    closing.close_shop(shop=shop, now=NOW)
    move = ShopMove.objects.create(
        shop_id=shop.pk, domain=shop.domain, source=0, target=1, step=ShopMove.Step.COPYING, step_at=NOW
    )
    with pytest.raises(Failed, match="is being moved"):
        deleting.delete_shop(shop=shop, now=NOW, progress=lambda table: None)
    move.delete()

    def reopen(_table: str) -> None:
        Shop.objects.filter(pk=shop.pk).update(is_active=True)

    with pytest.raises(Failed, match="is open"):
        deleting.delete_shop(shop=shop, now=NOW, progress=reopen)
    assert Shop.objects.filter(pk=shop.pk).exists()
