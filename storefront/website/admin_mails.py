"""Admin pages of the shop's mail texts, with a preview of a sample order. The first visit creates the rows."""

from base64 import b64encode
from email.mime.image import MIMEImage
from email.utils import parseaddr
from typing import Any, cast

from django import forms
from django.contrib import admin
from django.core.mail import EmailMultiAlternatives
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.content import mail_words
from storefront.content.mail_kinds import KINDS, MAX_TEXT_LENGTH
from storefront.content.mail_words import PARTS, Words
from storefront.content.models import MailText
from storefront.shops import mail
from storefront.shops.places import origin_of
from storefront.shops.rights import Right
from storefront.shops.senders import deployment_address, is_proved
from storefront.staff import shown_fields
from storefront.staff.admin_base import ShopScopedAdmin
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_parts import Moves, asks, column, deed, own_page
from storefront.staff.admin_security import POLICY
from storefront.website import mail_samples
from storefront.website.mail_samples import sample_mail

NO_PLACE = _lazy("This deployment has a template of its own for this email, which has no place for this text.")
TEXT_ROWS = 5
NOT_SENT = _lazy("This deployment sends no email, so nobody gets this one, nor a test email.")


class MailTextForm(ShopScopedForm):
    """Shows the standard text where the shop has no text of its own, and does not store a text that equals it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        words = Words()
        sample_mail(self.instance.kind, shop=self.shop, words=words, now=self.now)
        self.standard = words.standard
        for part in PARTS:
            field = self.fields.get(part)
            if field is None:
                continue
            field.required = part != "closing"
            field.disabled = part not in words.standard
            field.help_text = NO_PLACE if field.disabled else ""
            if part != "subject":
                field.widget.attrs["rows"] = TEXT_ROWS
            if getattr(self.instance, part) is None:
                self.initial[part] = words.standard.get(part, "")

    def clean_subject(self) -> str | None:
        return self._own("subject")

    def clean_opening(self) -> str | None:
        return self._own("opening")

    def clean_closing(self) -> str | None:
        return self._own("closing")

    def _own(self, part: str) -> str | None:
        if self.fields[part].disabled:
            return getattr(self.instance, part)
        text = mail_words.tidy(self.cleaned_data[part], is_line=part == "subject")
        if text == self.standard[part]:
            return None
        if problem := mail_words.problem(self.instance.kind, part, text):
            raise forms.ValidationError(problem)
        return text

    def clean_translation(self, name: str, text: str) -> str:
        text = mail_words.tidy(text, is_line=name == "subject")
        if text and (problem := mail_words.problem(self.instance.kind, name, text)):
            raise forms.ValidationError(problem)
        return text


def _with_pictures(mail: EmailMultiAlternatives) -> str:
    """The HTML of a mail as a page shows it: pictures that are attached to the mail are in the page itself."""
    html = str(mail.alternatives[0][0])
    for part in mail.attachments:
        if isinstance(part, MIMEImage):
            content = b64encode(cast(bytes, part.get_payload(decode=True))).decode()
            html = html.replace(f"cid:{part['Content-ID'].strip('<>')}", f"data:image/png;base64,{content}")
    return html


@admin.register(MailText)
class MailTextAdmin(ShopScopedAdmin):
    menu_title = _lazy("Emails")
    form = MailTextForm
    rights = {"view": Right.MANAGE_SETTINGS, "change": Right.MANAGE_SETTINGS}
    # Words of a mail can name another bank account.
    moves = Moves.MONEY
    list_display = ["title", "when", "state"]
    sortable_by = ()
    compressed_fields = False
    ordering = ["id"]
    fields = list(PARTS)
    translated = PARTS
    change_form_before_template = "website/admin/mail_shown.html"
    change_form_outer_before_template = "website/admin/mail_facts.html"
    change_form_outer_after_template = "website/admin/mail_preview.html"

    class Media:
        js = ("website/mail-preview.js",)

    title = column(_lazy("mail"), str)
    when = column(_lazy("sent when"), lambda row: KINDS[row.kind].when)
    state = column(
        _lazy("text"),
        lambda row: ("changed", _("Changed")) if row.is_changed else ("standard", _("Standard")),
        label={"standard": "info", "changed": "success"},
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).filter(kind__in=KINDS)

    def changelist_view(self, request: Any, extra_context: Any = None) -> HttpResponse:
        if self.has_view_permission(request):
            mail_samples.make_rows(shop=request.shop, now=request.now)
        return super().changelist_view(request, {"title": _("Emails"), **(extra_context or {})})

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        cast(Any, request).admin_policy = {"frame-src": "'self'"}
        return super().changeform_view(request, *args, **kwargs)

    def render_change_form(self, request: Any, context: Any, *args: Any, obj: Any = None, **kwargs: Any) -> Any:
        if obj is not None:
            kind, form = KINDS[obj.kind], context["adminform"].form
            # After a refusal, the form keeps the values that the page first showed.
            shown = request.POST.get(shown_fields.NAME, "") if form.is_bound else shown_fields.shown_in([form])
            sample = sample_mail(obj.kind, shop=request.shop, words=Words(), now=request.now)
            name, email = parseaddr(sample.from_email)
            context |= {
                "shown": shown,
                "kind": kind,
                "sender": {"name": name, "email": email},
                "is_own_sender": is_proved(request.shop) and email != deployment_address(),
                "replies_to": ", ".join(sample.reply_to),
                "not_sent": "" if mail.is_sent() else NOT_SENT,
                "placeholders": [
                    {"name": f"{{{name}}}", "meaning": meaning, "is_required": name in kind.required}
                    for name, meaning in kind.meanings.items()
                ],
            }
        return super().render_change_form(request, context, *args, obj=obj, **kwargs)

    @own_page("<path:object_id>/frame/", "view", Moves.NOTHING)
    def frame(self, request: Any, row: MailText) -> HttpResponse:
        """Render the mail with the posted texts, or else with the saved ones. Stores nothing."""
        given = {part: mail_words.tidy(request.POST[part][:MAX_TEXT_LENGTH]) for part in PARTS if part in request.POST}
        problems = [found for part, text in given.items() if (found := mail_words.problem(row.kind, part, text))]
        words = Words(**{part: given.get(part, getattr(row, part)) for part in PARTS})
        shown = cast(EmailMultiAlternatives, sample_mail(row.kind, shop=request.shop, words=words, now=request.now))
        # A mail has inline styles, and shows the shop's pictures by absolute URLs.
        request.admin_policy = {
            "frame-ancestors": "'self'",
            "frame-src": "'self'",
            "img-src": f"{POLICY['img-src']} {origin_of(request.shop.base_url)}",
            "style-src": "'self' 'unsafe-inline'",
            "script-src": "'none'",
        }
        context = {
            "mail": shown,
            "html": _with_pictures(shown),
            "problems": problems,
            "is_text": request.POST.get("form") == "text",
        }
        answer = TemplateResponse(request, "website/admin/mail_frame.html", context)
        answer.headers["X-Frame-Options"] = "SAMEORIGIN"
        return answer

    @deed(_lazy("Send a test email"), Right.MANAGE_SETTINGS, Moves.NOTHING, icon="outgoing_mail")
    @asks(
        _lazy("Send a test email?"),
        _lazy("Sent to the address of your own account, with a sample order and the saved texts."),
        _lazy("Send"),
    )
    def send_sample(self, request: Any, row: Any, form: Any) -> str:
        mail_samples.send_sample(shop=request.shop, text=row, user=request.user, now=request.now)
        return _("The test email is on its way to %(email)s.") % {"email": request.user.email}

    @deed(
        _lazy("Use the standard text again"),
        Right.MANAGE_SETTINGS,
        Moves.NOTHING,
        icon="undo",
        when=lambda row: row.is_changed,
    )
    @asks(
        _lazy("Use the standard text again?"),
        _lazy("Your own subject, opening and closing text of this email are removed."),
        _lazy("Use the standard text"),
    )
    def use_standard(self, request: Any, row: Any, form: Any) -> str:
        mail_samples.use_standard(shop=request.shop, text=row, now=request.now)
        return _("This email has the standard text again.")
