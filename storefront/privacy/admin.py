"""Admin pages of one person's data: requests under *Settings > Data*, and a link from the customer's page."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.decorators import display
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminEmailInputWidget

from storefront import audit
from storefront.customers.models import Customer
from storefront.customers.queries import normal_email
from storefront.kit.format import format_bytes, format_count, format_time
from storefront.kit.ids import as_id
from storefront.orders.admin_customers import CustomerWithOrdersAdmin
from storefront.privacy import actions
from storefront.privacy.jobs import KEPT_FILE
from storefront.privacy.kinds import KINDS
from storefront.privacy.models import DataRequest
from storefront.privacy.person import Person, find_person, obstacles
from storefront.shops.rights import Right
from storefront.staff.admin_base import ShopScopedAdmin, check_own_site, is_htmx, redirect
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_parts import DANGER, PRIMARY, Moves, asks, badge, column, deed, link, moment, person

State, RIGHT = DataRequest.State, Right.MANAGE_PERSONAL_DATA
STATE_COLOURS = {"open": "", "exporting": "info", "erasing": "info", "erased": "success"}
MISSING = _lazy("The file of this export is no longer in the shop's file storage. Please make it again.")


class RequestForm(ShopScopedForm):
    """The form that opens a request. An address that was looked up before already has one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # An existing request has no field to fill in.
        if "email" in self.fields:
            self.fields["email"].required = True

    def clean_email(self) -> str:
        return normal_email(self.cleaned_data["email"])

    # An existing request is opened instead of a second one.
    def _check_constraints(self) -> None:
        pass


class EraseForm(BaseDialogForm):
    """Asks for the address as a confirmation."""

    email = forms.EmailField(label=_lazy("Type the email address to confirm"), widget=UnfoldAdminEmailInputWidget)

    def __init__(self, request: Any, object_id: int | str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        self.row = DataRequest.objects.filter(shop=request.shop, pk=as_id(str(object_id or "")) or 0).first()

    def clean_email(self) -> str:
        email = normal_email(self.cleaned_data["email"])
        if self.row is None or email != self.row.email:
            raise forms.ValidationError(_("This is not the address of this request."))
        return email


def is_open(row: DataRequest) -> bool:
    return row.state == State.OPEN


def has_file(row: DataRequest) -> bool:
    return is_open(row) and bool(row.file)


def _file(row: DataRequest) -> str:
    if row.exported_at is None:
        return "–"
    return _("%(size)s, kept until %(exported_at)s") % {
        "size": format_bytes(row.size),
        "exported_at": format_time(row.exported_at + KEPT_FILE, row.shop.timezone),
    }


@admin.register(DataRequest)
class DataRequestAdmin(ShopScopedAdmin):
    """Shows which data the shop has about one person, and offers to export or erase them."""

    empty_text = _lazy(
        "Look up an email address to export or erase what your shop has about a person, guests included."
    )
    form = RequestForm
    rights = {"view": RIGHT, "add": RIGHT}
    moves = Moves.PERSONAL_DATA
    list_display = ["who", "state_shown", "asked", "exported", "erased_on"]
    list_select_related = ["shop", "user"]
    list_filter = ["state"]
    search_fields = ["email"]
    ordering = ["-created_at", "-id"]
    new_fields = ["email"]
    opens_added = True
    change_form_outer_before_template = "privacy/admin/progress.html"

    asked = moment("created_at", _lazy("looked up"))
    exported = moment("exported_at", _lazy("exported"))
    erased_on = moment("erased_at", _lazy("erased"))
    who = column(_lazy("person"), lambda row: row.email or str(row), by="email")
    state_shown = badge("state", STATE_COLOURS, _lazy("state"))
    by = column(_lazy("by"), lambda row: person(row.user))

    file_shown = column(_lazy("file"), lambda row: _file(row) if has_file(row) else "–")
    found = column(
        _lazy("what your shop has, and what erasing does"), lambda row: _table(find_person(row.shop, row.email))
    )

    @display(description=_lazy("before erasing"))
    def open_things(self, row: DataRequest) -> SafeString:
        """The open matters that keep the person from being erased."""
        texts = [
            (link("orders_order_change", each.order_id, each.text) if each.order_id else each.text,)
            for each in obstacles(find_person(row.shop, row.email))
        ]
        if not texts:
            return format_html("{}", _("Nothing is left to do: this person can be erased."))
        return format_html('<ul class="things">{}</ul>', format_html_join("", "<li>{}</li>", texts))

    @display(description=_lazy("what there was"))
    def counts(self, row: DataRequest) -> SafeString:
        titles = {kind.name: kind.title for kind in KINDS} | {"orders_left": "Orders that could not be erased"}
        rows = [(titles.get(name, name), format_count(count)) for name, count in row.erased.items() if count]
        return format_html("<ul>{}</ul>", format_html_join("", "<li>{}: {}</li>", rows)) if rows else format_html("–")

    reason_shown = column(_lazy("note"), lambda row: row.reason)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        if obj is None:
            return super().get_fields(request)
        reason = ["reason_shown"] if obj.reason else []
        if obj.state == State.ERASED:
            return [*reason, "counts", "asked", "erased_on", "by"]
        if obj.state == State.ERASING:
            return [*reason, "email", "state", "asked", "by"]
        return [*reason, "email", "open_things", "found", "file_shown", "asked", "by"]

    def change_view(self, request: Any, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """The page. While the work runs, it polls this view, which then answers only whether to reload the page."""
        if request.method != "GET" or not is_htmx(request):
            return super().change_view(request, object_id, *args, **kwargs)
        row = self.row_or_404(request, object_id)
        return HttpResponse(status=204, headers={} if row.is_at_work else {"HX-Refresh": "true"})

    def save_model(self, request: Any, obj: DataRequest, form: Any, change: bool) -> None:
        row = actions.open_request(shop=request.shop, email=obj.email, user=request.user, now=request.now)
        obj.__dict__.update(row.__dict__)

    def log_addition(self, request: Any, obj: Any, message: Any) -> None:
        """Records nothing, since `actions.open_request` records each new request."""

    @deed(_lazy("Make an export"), RIGHT, Moves.PERSONAL_DATA, icon="folder_zip", when=is_open)
    @asks(
        _lazy("Make a file of this person's data?"),
        _lazy(
            "A ZIP file with everything in the table, and the PDFs of invoices. It is kept for a week. Make sure"
            " that it reaches only the person themselves."
        ),
        _lazy("Make the file"),
    )
    def make_export(self, request: Any, row: Any, form: Any) -> str:
        actions.start_export(shop=request.shop, request=row, now=request.now)
        return _("The file is being made. This page shows when it is ready.")

    @deed(
        _lazy("Download the file"),
        RIGHT,
        Moves.PERSONAL_DATA,
        url_path="data.zip",
        when=has_file,
        icon="download",
        variant=PRIMARY,
    )
    def download(self, request: Any, row: Any) -> Any:
        check_own_site(request)
        if not row.file or row.exported_at is None or row.exported_at + KEPT_FILE <= request.now:
            # The sweep that deletes it may be late.
            raise Http404(MISSING)
        try:
            file = row.file.open("rb")
        except FileNotFoundError:
            raise Http404(MISSING) from None
        audit.record(shop=request.shop, action="data_request.downloaded", object=row, now=request.now)
        name = f"{request.shop.domain}-data-{row.pk}.zip"
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        return FileResponse(file, as_attachment=True, filename=name, content_type="application/zip", headers=headers)

    @deed(_lazy("Erase this person"), RIGHT, Moves.PERSONAL_DATA, icon="delete_forever", variant=DANGER, when=is_open)
    @asks(
        _lazy("Erase this person for good?"),
        _lazy(
            "The table on this page says what is deleted and what stays. It cannot be undone. Apps that have a copy are"
            " told to erase it, too."
        ),
        _lazy("Erase"),
        EraseForm,
    )
    def erase(self, request: Any, row: Any, form: Any) -> str:
        actions.start_erasure(shop=request.shop, request=row, now=request.now)
        return _("The person is being erased. This page shows when that is done.")


@admin.register(Customer)
class CustomerWithDataAdmin(CustomerWithOrdersAdmin):
    """Customers, with what they bought and a link to their data."""

    @deed(_lazy("Export or erase"), RIGHT, Moves.PERSONAL_DATA, icon="folder_shared")
    @asks(
        _lazy("Export or erase this customer's data?"),
        _lazy(
            "The next page shows everything that your shop has under this address. Nothing changes until you choose it"
            " there."
        ),
        _lazy("Look up"),
    )
    def personal_data(self, request: Any, customer: Any, form: Any) -> Any:
        row = actions.open_request(shop=request.shop, email=customer.email, user=request.user, now=request.now)
        return redirect(request, reverse("admin:privacy_datarequest_change", args=[row.pk]))


def _table(person: Person) -> SafeString:
    counts = {kind: kind.count(person) for kind in KINDS}
    rows = [(kind.title, "" if count is None else format_count(count), kind.fate) for kind, count in counts.items()]
    lines = format_html_join("", '<tr><th scope="row">{}</th><td>{}</td><td>{}</td></tr>', rows)
    head = '<th scope="col">{}</th>'
    heads = format_html_join("", head, [(_("Kind"),), (_("Count"),), (_("When erased"),)])
    return format_html('<table class="kinds"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>', heads, lines)
