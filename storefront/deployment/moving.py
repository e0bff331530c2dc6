"""The operator asks for the move of a shop to another pod. `storefront moveshop --asked` carries it out, since this
process knows neither the other pod's database nor a user who may copy between servers."""

from datetime import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminSelectWidget

from storefront import audit
from storefront.pods import directory
from storefront.pods.models import ShopMove
from storefront.shops.models import Shop


class MoveForm(BaseDialogForm):
    """Selects the pod that gets the shop."""

    pod = forms.TypedChoiceField(coerce=int, widget=UnfoldAdminSelectWidget)

    def __init__(self, request: Any, object_id: int | str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        field: Any = self.fields["pod"]
        field.choices = [(pod, _("Pod %(pod)s") % {"pod": pod}) for pod in directory.other_pods()]


def can_move(shop: Shop) -> bool:
    """Returns True if other pods are known, and the shop is not being moved."""
    return not ShopMove.objects.filter(pk=shop.pk).exists() and bool(directory.other_pods())


@transaction.atomic
def ask_to_move(*, shop: Shop, pod: int, now: datetime) -> bool:
    """Ask for the move. Returns False if one is asked for or going on, also if two ask at once."""
    asked = {"domain": shop.domain, "source": settings.POD, "target": pod, "step": ShopMove.Step.ASKED, "step_at": now}
    _, is_new = ShopMove.objects.get_or_create(shop_id=shop.pk, defaults=asked)
    if is_new:
        after = {"pod": pod}
        audit_object = audit.Object("shop", shop.pk, shop.name)
        audit.record(shop=shop, action="shop.move_asked", object=audit_object, after=after, now=now)
    return is_new


def state_of_move(shop: Shop) -> str:
    """A sentence about the shop's move; a dash without one."""
    move = ShopMove.objects.filter(pk=shop.pk).first()
    if move is None or move.step == ShopMove.Step.SHELVED:
        return "–"
    return _("To pod %(target)s: %(get_step_display)s.") % {
        "target": move.target,
        "get_step_display": move.get_step_display(),
    }
