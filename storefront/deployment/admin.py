"""The operator's pages: all shops of the deployment, and one of them. To everybody else they are a 404."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from unfold.admin import ModelAdmin

from storefront.deployment import actions, trouble
from storefront.deployment.forms import LIMITS, NewShopForm, QuotasForm
from storefront.deployment.models import DeployedShop, ShopFigures
from storefront.deployment.moving import MoveForm, ask_to_move, can_move, state_of_move
from storefront.deployment.usage import set_limits, usage_of
from storefront.kit import clock
from storefront.kit.format import format_bytes, format_count, format_time
from storefront.shops.models import QuotaUse, ShopDomain, StaffMember
from storefront.shops.rights import Right
from storefront.staff import closing, doors
from storefront.staff.admin_base import ShopScopedAdmin, may_operate, redirect
from storefront.staff.admin_parts import DANGER, Moves, asks, choice_filter, column, deed, layout, names, table
from storefront.staff.admin_site import work_on
from storefront.staff.admin_staff import invite

STATES = {"Open": "success", "Doors closed": "warning", "Closed": "danger"}
TROUBLED = Q(figures__failing_webhooks__gt=0) | Q(figures__dead_deliveries__gt=0) | Q(figures__failed_mails__gt=0)
OWNER = StaffMember.Role.OWNER
# Words of a search. More are left out.
MAX_WORDS = 5


def state_of(shop: Any) -> str:
    return "Closed" if not shop.is_active else "Doors closed" if doors.is_closed(shop) else "Open"


def figure(name: str, title: str) -> Any:
    """A column with one of the shop's figures; a dash until the worker has counted them."""

    def shown(shop: Any) -> str:
        figures: ShopFigures | None = getattr(shop, "figures", None)
        return "–" if figures is None else format_count(getattr(figures, name))

    return column(title, shown, by=f"figures__{name}")


def seconds(shop: Any) -> str:
    figures = getattr(shop, "figures", None)
    return "–" if figures is None else f"{format_count(round(figures.milliseconds / 1000))} s"


@admin.register(DeployedShop)
class DeployedShopAdmin(ShopScopedAdmin):
    menu_title = "All shops"
    icon = "domain"
    rights = {"view": Right.OPERATE, "add": Right.OPERATE, "change": Right.OPERATE}
    moves = Moves.IDENTITY
    opens_added = True
    actions = None
    list_display = names(
        "shop_shown state webhook_count delivery_count mail_count order_count product_count request_count server_time"
        " storage"
    )
    list_select_related = ["figures"]
    list_filter = [
        choice_filter(
            "status",
            "state",
            {
                "open": ("Open", lambda rows, _: rows.filter(is_active=True, door_password="")),
                "doors": ("Doors closed", lambda rows, _: rows.filter(is_active=True).exclude(door_password="")),
                "closed": ("Closed", lambda rows, _: rows.filter(is_active=False)),
            },
        ),
        choice_filter("deliveries", "failing", {"yes": ("Something fails", lambda rows, _: rows.filter(TROUBLED))}),
    ]
    search_fields = ["name", "domain"]
    search_help_text = "Search by name, domain or an owner's email address"
    ordering = ["name", "pk"]
    new_fields = [
        "name",
        "domain",
        "base_url",
        "owner",
        "email",
        "currency",
        "timezone",
        "language",
        "further_languages",
    ]
    fieldsets: Any = layout(
        "address state owners created move_shown figures_shown",
        "Quotas: used " + " ".join(LIMITS.values()),
        "What fails: failing_webhooks dead_deliveries failed_mails",
    )
    readonly_fields = names(
        "address state owners created move_shown figures_shown used failing_webhooks dead_deliveries failed_mails"
    )

    # None has the name of a relation of the shop, by which Django would sort instead.
    shop_shown = column("shop", lambda shop: format_html("{}<br>{}", shop.name, shop.domain), by="name")
    state = column("status", state_of, label=STATES)
    product_count = figure("products", "products")
    order_count = figure("orders", "orders, 30 d")
    request_count = figure("requests", "requests, 7 d")
    server_time = column("time, 7 d", seconds, by="figures__milliseconds")
    webhook_count = figure("failing_webhooks", "failing webhooks")
    delivery_count = figure("dead_deliveries", "lost deliveries")
    mail_count = figure("failed_mails", "lost mails")
    storage = column(
        "files",
        lambda shop: format_html('<span class="whitespace-nowrap">{}</span>', _files(shop)),
        by="files_used",
    )

    address = column("address", lambda shop: format_html('<a href="{0}" rel="noreferrer">{0}</a>', shop.base_url))
    owners = column("owners", lambda shop: ", ".join(_owners(shop)) or "Nobody has accepted an invitation yet.")
    created = column("created", lambda shop: format_time(shop.created_at, "UTC"))
    move_shown = column("move", state_of_move)
    figures_shown = column("figures", lambda shop: _figures_table(shop))
    used = column(
        "used now",
        lambda shop: format_html_join("", "<p>{}</p>", ((each,) for each in usage_of(shop, now=clock.now()))),
    )
    failing_webhooks = column("webhooks", lambda shop: trouble.webhooks_table(shop))
    dead_deliveries = column("deliveries given up, 7 days", lambda shop: trouble.deliveries_table(shop, clock.now()))
    failed_mails = column("mails given up, 7 days", lambda shop: trouble.mails_table(shop, clock.now()))

    def require(self, request: HttpRequest, action: str) -> None:
        """Raises Http404 for whoever is not the operator."""
        if not may_operate(request):
            raise Http404
        super().require(request, action)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        self.require(request, "view")
        return super().changelist_view(request, extra_context)

    def changeform_view(self, request: Any, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        self.require(request, "change" if object_id else "add")
        return super().changeform_view(request, object_id, *args, **kwargs)

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        self.require(request, "view")
        return super().delete_view(request, *args, **kwargs)

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        self.require(request, "view")
        return super().history_view(request, object_id, extra_context)

    def shop_of(self, request: Any, row: Any) -> Any:
        return row

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        files = QuotaUse.objects.filter(shop=OuterRef("pk"), kind="files")
        rows = ModelAdmin.get_queryset(self, request).annotate(
            files_used=Subquery(files.values("used")), files_most=Subquery(files.values("most"))
        )
        return rows if may_operate(request) else rows.none()

    def get_search_results(self, request: HttpRequest, queryset: QuerySet, search_term: str) -> tuple[QuerySet, bool]:
        """Shops that each word fits: by name, domain, further domain, or the email address of an owner."""
        for word in search_term.split()[:MAX_WORDS]:
            owners = StaffMember.objects.filter(shop=OuterRef("pk"), role=OWNER, user__email__icontains=word)
            domains = ShopDomain.objects.filter(shop=OuterRef("pk"), domain__icontains=word)
            named = Q(name__icontains=word) | Q(domain__icontains=word)
            queryset = queryset.filter(named | Exists(owners) | Exists(domains))
        return queryset, False

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change=change, **kwargs | {"form": QuotasForm if obj else NewShopForm})

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return super().get_fieldsets(request, obj) if obj else [(None, {"fields": self.new_fields})]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.readonly_fields if obj else []

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        if change:
            set_limits(shop=obj, limits=form.limits(), now=request.now)
            return
        given = {name: form.cleaned_data[name] for name in self.new_fields if name != "owner"}
        shop = actions.open_shop(**given, now=request.now)
        invite(request, shop=shop, email=form.cleaned_data["owner"], role=OWNER)
        obj.pk, obj._state.adding = shop.pk, False

    @deed("Work in this shop", Right.OPERATE, Moves.NOTHING, icon="login")
    @asks("Work in this shop?", "Its audit log records that you did.", "Work in this shop")
    def enter(self, request: Any, shop: Any, form: Any) -> HttpResponse:
        work_on(request, shop)
        return redirect(request, reverse("admin:index"))

    @deed("Close the shop", Right.OPERATE, Moves.MONEY, icon="block", variant=DANGER, when=lambda shop: shop.is_active)
    @asks(
        "Close this shop?",
        "Its pages say that it is closed, and its API refuses every token. Nothing is deleted: its staff can still "
        "send and refund orders and export data, and you can open it again. Its owners get an email.",
        "Close the shop",
    )
    def close_shop(self, request: Any, shop: Any, form: Any) -> str:
        closing.close_shop(shop=shop, now=request.now)
        return "The shop is closed."

    @deed("Open the shop again", Right.OPERATE, Moves.MONEY, icon="lock_open", when=lambda shop: not shop.is_active)
    @asks("Open this shop again?", "It sells again, as before it was closed. Its owners get an email.", "Open the shop")
    def reopen_shop(self, request: Any, shop: Any, form: Any) -> str:
        closing.reopen_shop(shop=shop, now=request.now)
        return "The shop is open."

    @deed("Move the shop", Right.OPERATE, Moves.NOTHING, icon="moving", when=can_move)
    @asks(
        "Move this shop to another pod?",
        "The next run of storefront moveshop --asked begins. The shop sells meanwhile; for less than five seconds at "
        "the end, what shoppers and programs send is refused, and can be sent again. Then the other pod lists it.",
        "Move the shop",
        MoveForm,
    )
    def move_shop(self, request: Any, shop: Any, form: Any) -> str:
        is_new = ask_to_move(shop=shop, pod=form.cleaned_data["pod"], now=request.now)
        return "The move is asked for." if is_new else "A move of this shop is asked for already."


def _files(shop: Any) -> str:
    most, used = settings.QUOTAS["files"] if shop.files_most is None else shop.files_most, shop.files_used or 0
    return f"{format_bytes(used)} of {format_bytes(most)}" if most else format_bytes(used)


def _owners(shop: Any) -> list[str]:
    return list(shop.staff.filter(role=OWNER).order_by("user__email").values_list("user__email", flat=True))


def _figures_table(shop: Any) -> str:
    figures: ShopFigures | None = getattr(shop, "figures", None)
    if figures is None:
        return "The worker has not counted them yet."
    counted = format_time(figures.counted_at, "UTC")
    rows = [
        ("Products", format_count(figures.products)),
        ("Orders, 30 days", format_count(figures.orders)),
        ("Requests, 7 days", format_count(figures.requests)),
        ("Server time, 7 days", seconds(shop)),
    ]
    return table(rows, ("Figure", f"{counted} UTC"))
