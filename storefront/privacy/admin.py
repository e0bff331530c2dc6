"""Admin pages of one person's data: requests under *Settings > Data*, and a link from the customer's page."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import action, display
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminEmailInputWidget

from storefront.customers.admin import CustomerAdmin
from storefront.customers.models import Customer
from storefront.customers.queries import normal_email
from storefront.kit.format import format_bytes, format_count, format_time
from storefront.kit.ids import as_id
from storefront.orders.admin_export import check_own_site
from storefront.orders.admin_forms import confirm
from storefront.privacy import actions
from storefront.privacy.jobs import KEPT_FILE
from storefront.privacy.kinds import KINDS
from storefront.privacy.models import DataRequest
from storefront.privacy.person import Person, find_person, obstacles
from storefront.shops import audit
from storefront.shops.admin_base import ShopScopedAdmin, is_htmx, moment, plain_dialog
from storefront.shops.admin_forms import ShopScopedForm
from storefront.shops.rights import Right

State = DataRequest.State
STATE_COLOURS = {"open": "", "exporting": "info", "erasing": "info", "erased": "success"}
MISSING = "The file of this export is no longer in the shop's file storage. Please make it again."


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

    email = forms.EmailField(label="Type the email address to confirm", widget=UnfoldAdminEmailInputWidget)

    def __init__(self, request: Any, object_id: int | str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        self.row = DataRequest.objects.filter(shop=request.shop, pk=as_id(str(object_id or "")) or 0).first()

    def clean_email(self) -> str:
        email = normal_email(self.cleaned_data["email"])
        if self.row is None or email != self.row.email:
            raise forms.ValidationError("This is not the address of this request.")
        return email


@admin.register(DataRequest)
class DataRequestAdmin(ShopScopedAdmin):
    """Shows which data the shop has about one person, and offers to export or erase them."""

    empty_text = "Look up an email address to export or erase what your shop has about a person, guests included."
    form = RequestForm
    rights = dict.fromkeys(["view", "add", "make_export", "download", "erase"], Right.MANAGE_PERSONAL_DATA)
    list_display = ["who", "state_shown", "asked", "exported", "erased_on"]
    list_select_related = ["shop", "user"]
    list_filter = ["state"]
    search_fields = ["email"]
    ordering = ["-created_at", "-id"]
    actions_detail = ["make_export", "download", "erase"]
    change_form_outer_before_template = "privacy/admin/progress.html"

    asked = moment("created_at", "looked up")
    exported = moment("exported_at", "exported")
    erased_on = moment("erased_at", "erased")

    @display(description="person", ordering="email")
    def who(self, row: DataRequest) -> str:
        return row.email or str(row)

    @display(description="state", label=STATE_COLOURS)
    def state_shown(self, row: DataRequest) -> tuple[str, str]:
        return row.state, row.get_state_display()

    @display(description="by")
    def by(self, row: DataRequest) -> str:
        return (row.user.get_full_name() or row.user.get_username()) if row.user else "–"

    @display(description="file")
    def file_shown(self, row: DataRequest) -> str:
        if not row.file or row.exported_at is None:
            return "–"
        until = format_time(row.exported_at + KEPT_FILE, row.shop.timezone)
        return f"{format_bytes(row.size)}, kept until {until}"

    @display(description="what your shop has, and what erasing does")
    def found(self, row: DataRequest) -> SafeString:
        return _table(find_person(row.shop, row.email))

    @display(description="before erasing")
    def open_things(self, row: DataRequest) -> SafeString:
        """The open matters that keep the person from being erased."""
        texts = [
            (format_html('<a href="{}">{}</a>', _order_url(each.order_id), each.text) if each.order_id else each.text,)
            for each in obstacles(find_person(row.shop, row.email))
        ]
        if not texts:
            return format_html("{}", "Nothing is left to do: this person can be erased.")
        return format_html('<ul class="things">{}</ul>', format_html_join("", "<li>{}</li>", texts))

    @display(description="what there was")
    def counts(self, row: DataRequest) -> SafeString:
        titles = {kind.name: kind.title for kind in KINDS} | {"orders_left": "Orders that could not be erased"}
        rows = [(titles.get(name, name), format_count(count)) for name, count in row.erased.items() if count]
        return format_html("<ul>{}</ul>", format_html_join("", "<li>{}: {}</li>", rows)) if rows else format_html("–")

    @display(description="note")
    def reason_shown(self, row: DataRequest) -> str:
        return row.reason

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        if obj is None:
            return ["email"]
        reason = ["reason_shown"] if obj.reason else []
        if obj.state == State.ERASED:
            return [*reason, "counts", "asked", "erased_on", "by"]
        if obj.state == State.ERASING:
            return [*reason, "email", "state", "asked", "by"]
        return [*reason, "email", "open_things", "found", "file_shown", "asked", "by"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return self.get_fields(request, obj) if obj else []

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Only what is possible in the request's state."""
        row = self.get_object(request, str(object_id))
        possible = _possible(row) if row else set()
        offered = super().get_actions_detail(request, object_id)
        return [each for each in offered if each.action_name.removeprefix("privacy_datarequest_") in possible]

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

    def response_add(
        self, request: HttpRequest, obj: DataRequest, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self.back_to(request, obj)

    @action(
        description="Make an export",
        icon="folder_zip",
        dialog=plain_dialog(
            "Make a file of this person's data?",
            "A ZIP file with everything in the table, and the PDFs of invoices. It is kept for a week. Make sure"
            " that it reaches only the person themselves.",
            submit="Make the file",
        ),
    )
    def make_export(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)
        actions.start_export(shop=request.shop, request=row, now=request.now)
        return self.done(request, row, "The file is being made. This page shows when it is ready.")

    @action(description="Download the file", icon="download", url_path="data.zip", variant=ActionVariant.PRIMARY)
    def download(self, request: Any, object_id: str) -> FileResponse:
        check_own_site(request)
        row = self.row_or_404(request, object_id)
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

    @action(
        description="Erase this person",
        icon="delete_forever",
        variant=ActionVariant.DANGER,
        dialog=confirm(
            "Erase this person for good?",
            "The table on this page says what is deleted and what stays. It cannot be undone. Apps that have a copy are"
            " notified, so that they erase it, too.",
            "Erase",
            EraseForm,
        ),
    )
    def erase(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)
        actions.start_erasure(shop=request.shop, request=row, now=request.now)
        return self.done(request, row, "The person is being erased. This page shows when that is done.")


@admin.register(Customer)
class CustomerWithDataAdmin(CustomerAdmin):
    """Customers, with a link to their data."""

    rights = {**CustomerAdmin.rights, "personal_data": Right.MANAGE_PERSONAL_DATA}
    actions_detail = [*CustomerAdmin.actions_detail, "personal_data"]

    @action(
        description="Export or erase",
        icon="folder_shared",
        dialog=plain_dialog(
            "Export or erase this customer's data?",
            "The next page shows everything that your shop has under this address. Nothing changes until you choose it"
            " there.",
            submit="Look up",
        ),
    )
    def personal_data(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        customer = self.row_or_404(request, object_id)
        row = actions.open_request(shop=request.shop, email=customer.email, user=request.user, now=request.now)
        url = reverse("admin:privacy_datarequest_change", args=[row.pk])
        # htmx would show the target of a plain redirect inside the dialog.
        if is_htmx(request):
            return HttpResponse(status=204, headers={"HX-Redirect": url})
        return HttpResponse(status=302, headers={"Location": url})


def _possible(row: DataRequest) -> set[str]:
    if row.state != State.OPEN:
        return set()
    return {"make_export", "erase"} | ({"download"} if row.file else set())


def _table(person: Person) -> SafeString:
    rows = [(kind.title, "" if kind.count is None else format_count(kind.count(person)), kind.fate) for kind in KINDS]
    lines = format_html_join("", '<tr><th scope="row">{}</th><td>{}</td><td>{}</td></tr>', rows)
    head = '<th scope="col">{}</th>'
    heads = format_html_join("", head, [("Kind",), ("Count",), ("When erased",)])
    return format_html('<table class="kinds"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>', heads, lines)


def _order_url(order_id: int | None) -> str:
    return reverse("admin:orders_order_change", args=[order_id])
