"""Opening and closing a shop in the admin, on the page of its settings."""

from typing import Any

from django.http import HttpRequest
from django.template.response import TemplateResponse

from storefront.shops import audit, doors
from storefront.shops.admin_base import ShopScopedAdmin
from storefront.shops.admin_parts import Moves, ask, deed
from storefront.shops.models import Shop
from storefront.shops.rights import Right


class WithDoors(ShopScopedAdmin):
    """The deeds about the shop's doors and its first steps."""

    door_rights = dict.fromkeys(["open_doors", "close_doors", "hide_steps"], Right.MANAGE_SETTINGS)
    actions_detail: Any = ["open_doors", "close_doors", "hide_steps"]

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Without what is done already. The first steps are hidden on the start page, which shows them."""
        offered = super().get_actions_detail(request, object_id)
        hidden = {"hide_steps"} if doors.is_closed(request.shop) else {"hide_steps", "open_doors"}  # type: ignore[attr-defined]
        return [each for each in offered if each.action_name.removeprefix("shops_shop_") not in hidden]

    @deed(
        "Open the doors",
        Right.MANAGE_SETTINGS,
        Moves.NOTHING,
        ask=ask("Open the doors?", "Everybody can then see the shop and order.", "Open the doors"),
        icon="door_open",
    )
    def open_doors(self, request: Any, shop: Any, form: Any) -> str:
        doors.open_doors(shop=shop, now=request.now)
        return "The doors are open."

    @deed("Close the doors", Right.MANAGE_SETTINGS, Moves.NOTHING, icon="door_front", url_path="close-doors")
    def close_doors(self, request: Any, shop: Any) -> Any:
        """Asks first, then shows the password in the response itself, so that it gets into no session or log."""
        context = {**self.admin_site.each_context(request), "opts": self.opts, "then": "../change/"}
        if request.method != "POST":
            context |= {"title": "Close the doors?", "is_closed": doors.is_closed(shop), "back": "../change/"}
            return TemplateResponse(request, "shops/admin/close_doors.html", context)
        password = doors.close_doors(shop=shop, now=request.now)
        use = "Anyone who has it can see the shop before its doors open."
        context |= {"title": "The shop is closed", "secret": password, "kind": "password", "use": use}
        response = TemplateResponse(request, "shops/admin/new_secret.html", context)
        response["Cache-Control"] = "no-store"
        return response

    @deed(
        "Hide the first steps",
        Right.MANAGE_SETTINGS,
        Moves.NOTHING,
        ask=ask("Hide the first steps?", "The start page will no longer show them.", "Hide"),
    )
    def hide_steps(self, request: Any, shop: Any, form: Any) -> str:
        if Shop.objects.filter(pk=shop.pk, steps_hidden_at=None).update(steps_hidden_at=request.now):
            audit.record(
                shop=shop, action="shop.updated", object=shop, after={"first_steps": "hidden"}, now=request.now
            )
        return "The first steps are hidden."
