"""The quotas that the operator sets for one shop hold instead of the deployment's, for that shop alone."""

import pytest
from django.core.files.base import ContentFile

from storefront.catalogue.actions import create_product
from storefront.catalogue.digital_files import store_file
from storefront.deployment.usage import MAX_LIMIT, set_limits, usage_of
from storefront.kit.refusals import InvalidFields
from storefront.server.metrics.database import read
from storefront.shops import quotas
from storefront.shops.models import QuotaUse
from storefront.shops.quotas import QuotaReached
from storefront.shops.task_quota import check_tasks
from tests.races import run_concurrently
from tests.shops.factories import NOW


@pytest.fixture(autouse=True)
def few(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    settings.QUOTAS = dict.fromkeys(settings.QUOTAS, 2)


def used(kind: str, shop) -> int:
    """How many uses the shop gets before one is refused; 9 without a limit."""
    for count in range(9):
        try:
            quotas.use(kind, shop_id=shop.pk, now=NOW)
        except QuotaReached:
            return count
    return 9


@pytest.mark.parametrize("kind", ["orders", "mails", "files"])
@pytest.mark.parametrize(("most", "uses"), [(5, 5), (1, 1), (0, 9), (None, 2)])
def test_what_is_counted_by_use(shop, other_shop, kind, most, uses):
    set_limits(shop=shop, limits={kind: most}, now=NOW)
    assert used(kind, shop) == uses
    assert used(kind, other_shop) == 2


def test_a_refusal_names_the_shops_own_limit(shop):
    set_limits(shop=shop, limits={"mails": 1}, now=NOW)
    quotas.use("mails", shop_id=shop.pk, now=NOW)
    with pytest.raises(QuotaReached, match="has sent the 1 emails"):
        quotas.use("mails", shop_id=shop.pk, now=NOW)


@pytest.mark.parametrize("usual", [2, 0])
def test_a_limit_holds_where_the_deployment_has_another_or_none(shop, settings, usual):
    settings.QUOTAS = dict.fromkeys(settings.QUOTAS, usual)
    set_limits(shop=shop, limits={"orders": 1, "products": 1, "tasks": 1}, now=NOW)
    assert used("orders", shop) == 1
    create_product(shop=shop, name="Mug", now=NOW)
    with pytest.raises(QuotaReached):
        create_product(shop=shop, name="Cup", now=NOW)
    check_tasks(shop=shop)
    assert read().quotas["products"] == 1


def test_products_beyond_the_deployments(shop, other_shop):
    set_limits(shop=shop, limits={"products": 3}, now=NOW)
    for name in ("Mug", "Cup", "Dish"):
        create_product(shop=shop, name=name, now=NOW)
    for name in ("Mug", "Cup"):
        create_product(shop=other_shop, name=name, now=NOW)
    with pytest.raises(QuotaReached):
        create_product(shop=other_shop, name="Dish", now=NOW)


def test_a_limit_below_what_is_used_refuses_more_and_takes_nothing_away(shop):
    store_file(shop=shop, file=ContentFile(b"01", name="a.txt"), now=NOW)
    set_limits(shop=shop, limits={"files": 1}, now=NOW)
    with pytest.raises(QuotaReached):
        store_file(shop=shop, file=ContentFile(b"2", name="b.txt"), now=NOW)
    assert "Files: 2 bytes of 1 bytes" in [str(each) for each in usage_of(shop, now=NOW)]


@pytest.mark.parametrize("limits", [{"files": -1}, {"orders": MAX_LIMIT + 1}, {"cows": 1}])
def test_what_is_no_limit_is_refused_by_name(shop, limits):
    with pytest.raises(InvalidFields) as refused:
        set_limits(shop=shop, limits=limits | {"mails": 5}, now=NOW)
    assert refused.value.errors.keys() == limits.keys()
    assert quotas.own_limits(shop.pk) == {}


@pytest.mark.django_db(transaction=True)
def test_of_many_uses_at_once_none_exceeds_the_own_limit(shop):
    set_limits(shop=shop, limits={"orders": 3}, now=NOW)
    uses = [lambda: quotas.use("orders", shop_id=shop.pk, now=NOW)] * 6
    done = run_concurrently(*uses, refusal=QuotaReached)
    assert len([each for each in done if each is None]) == 3
    assert QuotaUse.objects.get(shop=shop, kind="orders").used == 3
