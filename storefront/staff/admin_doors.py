"""Opening and closing a shop in the admin, on the page of its settings."""

from typing import Any

from storefront import audit
from storefront.shops.models import Shop
from storefront.shops.rights import Right
from storefront.staff import doors
from storefront.staff.admin_base import OneRowAdmin
from storefront.staff.admin_parts import Moves, asks, deed


class WithDoors(OneRowAdmin):
    """The deeds about the shop's doors and its first steps."""

    def offers(self, row: Any, name: str) -> bool:
        """Leaves out what is done already. The first steps are hidden on the start page, which shows them."""
        return name != "hide_steps" and (name != "open_doors" or doors.is_closed(row))

    @deed("Open the doors", Right.MANAGE_SETTINGS, Moves.NOTHING, icon="door_open")
    @asks("Open the doors?", "Everybody can then see the shop and order.", "Open the doors")
    def open_doors(self, request: Any, shop: Any, form: Any) -> str:
        doors.open_doors(shop=shop, now=request.now)
        return "The doors are open."

    @deed("Close the doors", Right.MANAGE_SETTINGS, Moves.IDENTITY, icon="door_front", url_path="close-doors")
    def close_doors(self, request: Any, shop: Any) -> Any:
        """Asks first, then shows the password in the response itself, so that it gets into no session or log."""
        if request.method != "POST":
            context = {"title": "Close the doors?", "is_closed": doors.is_closed(shop), "back": "../change/"}
            return self.page(request, "shops/admin/close_doors.html", **context)
        return self.show_secret(
            request,
            doors.close_doors(shop=shop, now=request.now),
            title="The shop is closed",
            kind="password",
            use="Anyone who has it can see the shop before its doors open.",
            then="../change/",
        )

    @deed("Hide the first steps", Right.MANAGE_SETTINGS, Moves.NOTHING)
    @asks("Hide the first steps?", "The start page will no longer show them.", "Hide")
    def hide_steps(self, request: Any, shop: Any, form: Any) -> str:
        if Shop.objects.filter(pk=shop.pk, steps_hidden_at=None).update(steps_hidden_at=request.now):
            audit.record(
                shop=shop, action="shop.updated", object=shop, after={"first_steps": "hidden"}, now=request.now
            )
        return "The first steps are hidden."
