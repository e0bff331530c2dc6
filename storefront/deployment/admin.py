"""The operator's pages: all shops of the deployment, and one of them. To everybody else they are a 404."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.admin import ModelAdmin

from storefront.deployment import actions, trouble
from storefront.deployment.forms import LIMITS, NewShopForm, QuotasForm
from storefront.deployment.models import DeployedShop, ShopFigures
from storefront.deployment.moving import MoveForm, ask_to_move, can_move, state_of_move
from storefront.deployment.usage import set_limits, usage_of
from storefront.kit import clock
from storefront.kit.format import format_bytes, format_count, format_time
from storefront.kit.text import Text
from storefront.shops.models import QuotaUse, ShopDomain, StaffMember
from storefront.shops.rights import Right
from storefront.staff import closing, doors
from storefront.staff.admin_base import ShopScopedAdmin, may_operate, redirect
from storefront.staff.admin_parts import DANGER, Moves, asks, choice_filter, column, deed, layout, names, table
from storefront.staff.admin_site import work_on
from storefront.staff.admin_staff import invite

STATES = {"open": "success", "doors": "warning", "closed": "danger"}
TROUBLED = Q(figures__failing_webhooks__gt=0) | Q(figures__dead_deliveries__gt=0) | Q(figures__failed_mails__gt=0)
OWNER = StaffMember.Role.OWNER
# Words of a search. More are left out.
MAX_WORDS = 5


def state_of(shop: Any) -> tuple[str, str]:
    if not shop.is_active:
        return "closed", _("Closed")
    return ("doors", _("Doors closed")) if doors.is_closed(shop) else ("open", _("Open"))


def figure(name: str, title: Text) -> Any:
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
    menu_title = _lazy("All shops")
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
            _lazy("status"),
            "state",
            {
                "open": (_lazy("Open"), lambda rows, _: rows.filter(is_active=True, door_password="")),
                "doors": (_lazy("Doors closed"), lambda rows, _: rows.filter(is_active=True).exclude(door_password="")),
                "closed": (_lazy("Closed"), lambda rows, _: rows.filter(is_active=False)),
            },
        ),
        choice_filter(
            _lazy("deliveries"), "failing", {"yes": (_lazy("Something fails"), lambda rows, _: rows.filter(TROUBLED))}
        ),
    ]
    search_fields = ["name", "domain"]
    search_help_text = _lazy("Search by name, domain or an owner's email address")
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
    shop_shown = column(_lazy("shop"), lambda shop: format_html("{}<br>{}", shop.name, shop.domain), by="name")
    state = column(_lazy("status"), state_of, label=STATES)
    product_count = figure("products", _lazy("products"))
    order_count = figure("orders", _lazy("orders, 30 d"))
    request_count = figure("requests", _lazy("requests, 7 d"))
    server_time = column(_lazy("time, 7 d"), seconds, by="figures__milliseconds")
    webhook_count = figure("failing_webhooks", _lazy("failing webhooks"))
    delivery_count = figure("dead_deliveries", _lazy("lost deliveries"))
    mail_count = figure("failed_mails", _lazy("lost emails"))
    storage = column(
        _lazy("files"),
        lambda shop: format_html('<span class="whitespace-nowrap">{}</span>', _files(shop)),
        by="files_used",
    )

    address = column(
        _lazy("address"), lambda shop: format_html('<a href="{0}" rel="noreferrer">{0}</a>', shop.base_url)
    )
    owners = column(
        _lazy("owners"), lambda shop: ", ".join(_owners(shop)) or _("Nobody has accepted an invitation yet.")
    )
    created = column(_lazy("created"), lambda shop: format_time(shop.created_at, "UTC"))
    move_shown = column(_lazy("move"), state_of_move)
    figures_shown = column(_lazy("figures"), lambda shop: _figures_table(shop))
    used = column(
        _lazy("used now"),
        lambda shop: format_html_join("", "<p>{}</p>", ((each,) for each in usage_of(shop, now=clock.now()))),
    )
    failing_webhooks = column(_lazy("webhooks"), lambda shop: trouble.webhooks_table(shop))
    dead_deliveries = column(
        _lazy("deliveries given up, 7 days"), lambda shop: trouble.deliveries_table(shop, clock.now())
    )
    failed_mails = column(_lazy("emails given up, 7 days"), lambda shop: trouble.mails_table(shop, clock.now()))

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

    @deed(_lazy("Work in this shop"), Right.OPERATE, Moves.NOTHING, icon="login")
    @asks(_lazy("Work in this shop?"), _lazy("Its audit log records that you did."), _lazy("Work in this shop"))
    def enter(self, request: Any, shop: Any, form: Any) -> HttpResponse:
        work_on(request, shop)
        return redirect(request, reverse("admin:index"))

    @deed(
        _lazy("Close the shop"),
        Right.OPERATE,
        Moves.MONEY,
        icon="block",
        variant=DANGER,
        when=lambda shop: shop.is_active,
    )
    @asks(
        _lazy("Close this shop?"),
        _lazy(
            "Its pages say that it is closed, and its API refuses every token. Nothing is deleted: its staff can still "
            "send and refund orders and export data, and you can open it again. Its owners get an email."
        ),
        _lazy("Close the shop"),
    )
    def close_shop(self, request: Any, shop: Any, form: Any) -> str:
        closing.close_shop(shop=shop, now=request.now)
        return _("The shop is closed.")

    @deed(
        _lazy("Open the shop again"), Right.OPERATE, Moves.MONEY, icon="lock_open", when=lambda shop: not shop.is_active
    )
    @asks(
        _lazy("Open this shop again?"),
        _lazy("It sells again, as before it was closed. Its owners get an email."),
        _lazy("Open the shop"),
    )
    def reopen_shop(self, request: Any, shop: Any, form: Any) -> str:
        closing.reopen_shop(shop=shop, now=request.now)
        return _("The shop is open.")

    @deed(_lazy("Move the shop"), Right.OPERATE, Moves.NOTHING, icon="moving", when=can_move)
    @asks(
        _lazy("Move this shop to another pod?"),
        _lazy(
            "The next run of storefront moveshop --asked begins. The shop sells meanwhile; for less than five seconds "
            "at the end, what shoppers and programs send is refused, and can be sent again. Then the other pod "
            "lists it."
        ),
        _lazy("Move the shop"),
        MoveForm,
    )
    def move_shop(self, request: Any, shop: Any, form: Any) -> str:
        is_new = ask_to_move(shop=shop, pod=form.cleaned_data["pod"], now=request.now)
        return _("The move is asked for.") if is_new else _("A move of this shop is asked for already.")


def _files(shop: Any) -> str:
    most, used = settings.QUOTAS["files"] if shop.files_most is None else shop.files_most, shop.files_used or 0
    if not most:
        return format_bytes(used)
    return _("%(used)s of %(most)s") % {"used": format_bytes(used), "most": format_bytes(most)}


def _owners(shop: Any) -> list[str]:
    return list(shop.staff.filter(role=OWNER).order_by("user__email").values_list("user__email", flat=True))


def _figures_table(shop: Any) -> str:
    figures: ShopFigures | None = getattr(shop, "figures", None)
    if figures is None:
        return _("The worker has not counted them yet.")
    counted = format_time(figures.counted_at, "UTC")
    rows = [
        (_("Products"), format_count(figures.products)),
        (_("Orders, 30 days"), format_count(figures.orders)),
        (_("Requests, 7 days"), format_count(figures.requests)),
        (_("Server time, 7 days"), seconds(shop)),
    ]
    return table(rows, (_("Figure"), f"{counted} UTC"))
