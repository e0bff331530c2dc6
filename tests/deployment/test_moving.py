"""The operator asks for the move of a shop; a command carries it out (tests/pods/test_moveshop.py)."""

from django.urls import reverse

from storefront.pods.models import HostElsewhere, ShopMove
from storefront.shops.models import AuditEntry, Shop


def know_pod(number: int) -> None:
    HostElsewhere.objects.create(host=f"pod{number}.example.com", shop_id=number * 2**40, pod=number, is_domain=True)


def ask(client, shop: Shop, pod: int):
    place = reverse("admin:deployment_deployedshop_move_shop", args=[shop.pk])
    return client.post(place, {"_form_submitted": "on", "pod": str(pod)})


def page(client, shop: Shop) -> str:
    return client.get(reverse("admin:deployment_deployedshop_change", args=[shop.pk])).content.decode()


def test_a_move_is_asked_for_once(operator, shop, other_shop):
    know_pod(5)
    assert "Move the shop" in page(operator, other_shop)
    ask(operator, other_shop, 5)
    move = ShopMove.objects.get()
    assert (move.pk, move.domain, move.source, move.target) == (other_shop.pk, other_shop.domain, 0, 5)
    assert move.step == ShopMove.Step.ASKED
    assert AuditEntry.objects.filter(shop=other_shop, action="shop.move_asked").count() == 1
    shown = page(operator, other_shop)
    assert "To pod 5: the operator has asked for it." in shown
    assert "Move the shop" not in shown
    ask(operator, other_shop, 5)
    assert AuditEntry.objects.filter(shop=other_shop, action="shop.move_asked").count() == 1


def test_to_no_unknown_pod(operator, other_shop):
    know_pod(5)
    ask(operator, other_shop, 6)
    assert not ShopMove.objects.exists()


def test_a_deployment_of_one_pod_offers_none(operator, shop):
    assert "Move the shop" not in page(operator, shop)


def test_staff_of_a_shop_cannot(client, shop):
    know_pod(5)
    assert ask(client, shop, 5).status_code in (302, 404)
    assert not ShopMove.objects.exists()
