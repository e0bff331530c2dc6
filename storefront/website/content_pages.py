"""The pages that the merchant wrote, and the contact form."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from storefront.checkout.forms import CheckoutForm, persons_name
from storefront.content import jobs, queries
from storefront.customers import limits
from storefront.customers.session import customer_of
from storefront.kit.api.http import SeeOther
from storefront.shops.request import Request
from storefront.shops.throttle import TooManyTries
from storefront.website.account_forms import email_field
from storefront.website.moved import lead_on
from storefront.website.pages import form_page, require_shop

MAX_MESSAGE_LENGTH = 5000


class MessageForm(CheckoutForm):
    name = forms.CharField(
        label=gettext_lazy("Your name"),
        max_length=200,
        validators=[persons_name],
        widget=forms.TextInput({"autocomplete": "name"}),
    )
    email = email_field(gettext_lazy("Your email address"), is_new=True)
    text = forms.CharField(
        label=gettext_lazy("Message"),
        max_length=MAX_MESSAGE_LENGTH,
        widget=forms.Textarea({"rows": 8, "autocomplete": "off"}),
    )


@require_safe
@require_shop
def page(request: Request, slug: str) -> HttpResponse:
    found = queries.published_page(request.shop, slug, request.language)
    if found is None:
        raise Http404(_("This page does not exist or is no longer available."))
    if found.slug != slug:
        return lead_on(request, "website:page", found.slug)
    canonical = request.shop.base_url + reverse("website:page", args=[found.slug])
    return render(request, "website/page.html", {"page": found, "canonical": canonical, "slugs": found.slugs})


@form_page
def contact(request: Request) -> HttpResponse:
    """The contact form, which mails its message to the shop; 404 if the shop cannot receive mail. It shows personal
    data, so apps' scripts do not run on it."""
    if not jobs.can_receive(request.shop):
        raise Http404(_("This shop has no contact form."))
    form = MessageForm(request.POST if request.method == "POST" else None, initial=_known(request))
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            limits.count(request, "messages", request.shop.domain)
        except TooManyTries as refused:
            form.add_error(None, refused.text)
            return _contact_page(request, form, status=429)
        jobs.send_message.enqueue(request.shop.pk, given["name"], given["email"], given["text"])
        messages.success(request, _("Thank you. Your message is on its way, and we will answer by email."))
        return SeeOther(reverse("website:contact"))
    return _contact_page(request, form, status=422 if form.is_bound else 200)


def _contact_page(request: Request, form: MessageForm, *, status: int) -> HttpResponse:
    return render(request, "website/contact.html", {"form": form}, status=status)


def _known(request: Request) -> dict[str, Any]:
    """The name and email address of the signed-in customer, to fill in the form."""
    customer = customer_of(request)
    return {"name": customer.name, "email": customer.email} if customer else {}
