"""Pages for signing in and out, and for the links that the shop emails.

Only an email to an address reveals whether a customer has it: the pages respond alike, in the same time, for known and
unknown addresses. Creating an account and resetting a password require a link sent to the address.
"""

from dataclasses import asdict
from urllib.parse import urlencode

from django.contrib import messages
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_safe

from storefront.carts.session import sign_in, sign_out
from storefront.customers import actions, jobs, limits, queries
from storefront.customers import session as customers
from storefront.customers.links import LinkRefused, Proof, is_valid_proof, proof_of_link
from storefront.customers.session import customer_of
from storefront.customers.signin import customer_with_password, remember_browser_of
from storefront.kit.api.http import SeeOther, pop_query_string, posted_from
from storefront.kit.refusals import InvalidFields
from storefront.orders.history import attach_guest_orders
from storefront.shops.places import SECURE, local_path, page_url, url_via_shop
from storefront.shops.private_pages import private_page
from storefront.shops.request import Request
from storefront.shops.throttle import TooManyTries
from storefront.website.account_forms import EmailForm, NewPasswordForm, SignInForm
from storefront.website.pages import form_page, require_shop

_PROOFS = "account_links"
WRONG = gettext_lazy("The email address or password is incorrect.")


@sensitive_post_parameters("password")
@form_page
def sign_in_page(request: Request) -> HttpResponse:
    if customer_of(request):
        return SeeOther(_next_url(request))
    form = SignInForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            return _signed_in(request, form)
        except TooManyTries as refusal:
            return _too_many_tries(request, "sign_in", form, refusal)
    context = {"form": form, "next": _next_url(request)}
    return render(request, "website/account/sign_in.html", context, status=422 if form.is_bound else 200)


@sensitive_variables("password")
def _signed_in(request: Request, form: SignInForm) -> HttpResponse:
    email, password = form.cleaned_data["email"], form.cleaned_data["password"]
    customer = customer_with_password(request, email=email, password=password)
    if customer is None:
        form.add_error(None, WRONG)
        context = {"form": form, "next": _next_url(request)}
        return render(request, "website/account/sign_in.html", context, status=422)
    sign_in(request, customer)
    return remember_browser_of(request, SeeOther(url_via_shop(request, _next_url(request))), customer)


@posted_from("website:account")
@never_cache
@require_shop
def sign_out_page(request: Request) -> HttpResponse:
    """Sign out. If the account has its own host, the redirect to the shop signs out there and adds the message."""
    sign_out(request)
    if request.place != SECURE:
        messages.success(request, _("You have signed out."))
    return SeeOther(page_url(request, "website:home"))


@form_page
def register(request: Request) -> HttpResponse:
    """Request an account. The link that creates it is emailed."""
    return _request_link(request, "register")


@form_page
def forgot(request: Request) -> HttpResponse:
    """Request a link to choose a new password."""
    return _request_link(request, "reset")


def _request_link(request: Request, purpose: str) -> HttpResponse:
    form = EmailForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        email = queries.normal_email(form.cleaned_data["email"])
        try:
            _count_link(request, purpose, email)
        except TooManyTries as refusal:
            return _too_many_tries(request, purpose, form, refusal)
        jobs.send_password_link.enqueue(request.shop.pk, email, purpose, language=request.language)
        return SeeOther(reverse("website:mailed"))
    return render(request, f"website/account/{purpose}.html", {"form": form}, status=422 if form.is_bound else 200)


def _count_link(request: Request, purpose: str, email: str) -> None:
    """Raises LimitReached. Links for a new password have a counter of their own, which is closed no longer than such a
    link is valid: whoever used it up, the owner of the mailbox then has a link that works."""
    if purpose == "reset":
        limits.count(request, "accounts", f"reset {email}")
    else:
        limits.count(request, "accounts", email)
        limits.count_mail(request, email)


@require_safe
@never_cache
@require_shop
def mailed(request: Request) -> HttpResponse:
    return render(request, "website/account/mailed.html")


@require_safe
@private_page
@sensitive_variables()
def follow_link(request: Request) -> HttpResponse:
    """Follow an emailed link: store its proof in the session, and redirect to a URL without the secret."""
    query = pop_query_string(request)
    try:
        proof = proof_of_link(shop=request.shop, query=query, now=request.now)
    except LinkRefused as refusal:
        return _link_refused(request, refusal)
    # A HEAD request, such as from a link scanner, gets no session.
    if request.method == "GET":
        try:
            # By link alone, so that others in the same network do not keep its receiver out.
            limits.count_each(request, "accounts", query)
        except TooManyTries as refusal:
            return _link_refused(request, refusal)
        proofs = request.session.get(_PROOFS, {})
        request.session[_PROOFS] = proofs | {str(request.shop.pk): asdict(proof)}
    return SeeOther(reverse("website:choose_password" if proof.customer_id is None else "website:confirm_email"))


@sensitive_post_parameters("password")
@form_page
def choose_password(request: Request) -> HttpResponse:
    """Choose a password after following a link. Signs the customer in."""
    proof = _stored_proof(request)
    if proof is None or proof.customer_id is not None:
        return _link_refused(request, LinkRefused())
    customer = queries.customer_by_email(request.shop, proof.email)
    form = NewPasswordForm(
        request.POST if request.method == "POST" else None, asks_name=not (customer and customer.name)
    )
    if form.is_valid():
        try:
            return _save_password(request, proof, form)
        except LinkRefused as refusal:
            return _link_refused(request, refusal)
        except InvalidFields as refusal:
            form.add_error("password", (refusal.errors or {})["password"])
    context = {"form": form, "email": proof.email, "is_new": not (customer and customer.can_sign_in)}
    return render(request, "website/account/password.html", context, status=422 if form.is_bound else 200)


@sensitive_variables("form")
def _save_password(request: Request, proof: Proof, form: NewPasswordForm) -> HttpResponse:
    shop, now, given = request.shop, request.now, form.cleaned_data
    customer = actions.choose_password(
        shop=shop, proof=proof, password=given["password"], name=given.get("name", ""), now=now
    )
    attach_guest_orders(shop=shop, customer=customer, now=now)
    _forget_proof(request)
    sign_in(request, customer)
    messages.success(request, _("Your password has been saved. You are now signed in."))
    return remember_browser_of(request, SeeOther(url_via_shop(request, reverse("website:account"))), customer)


@form_page
def confirm_email(request: Request) -> HttpResponse:
    """Confirm a new email address after following the link sent to it. The customer must be signed in."""
    proof = _stored_proof(request)
    if proof is None or proof.customer_id is None:
        return _link_refused(request, LinkRefused())
    customer = customer_of(request)
    if customer is None:
        messages.info(request, _("Sign in with your current email address and password."))
        return redirect_to_sign_in(request, reverse("website:confirm_email"))
    if request.method != "POST" or customer.pk != proof.customer_id:
        is_theirs = customer.pk == proof.customer_id
        context = {"email": proof.email, "customer": customer, "is_theirs": is_theirs}
        return render(request, "website/account/confirm_email.html", context, status=200 if is_theirs else 403)
    try:
        customer, old_email = actions.confirm_email_change(
            shop=request.shop, customer=customer, proof=proof, now=request.now
        )
    except (LinkRefused, InvalidFields):
        return _link_refused(request, LinkRefused())
    customers.start_session(request, customer)
    attach_guest_orders(shop=request.shop, customer=customer, now=request.now)
    jobs.send_notice.enqueue(request.shop.pk, old_email, "email_changed", language=request.language)
    _forget_proof(request)
    messages.success(request, _("Your email address is now %(email)s.") % {"email": customer.email})
    return remember_browser_of(request, SeeOther(url_via_shop(request, reverse("website:account"))), customer)


def redirect_to_sign_in(request: Request, next_path: str = "") -> HttpResponse:
    """Redirect to the sign-in page, which returns to `next_path`: by default this page, or the account after a POST."""
    next_path = next_path or (request.path if request.method in ("GET", "HEAD") else reverse("website:account"))
    return SeeOther(f"{reverse('website:sign_in')}?{urlencode({'next': next_path})}")


def _next_url(request: Request) -> str:
    """The page to open after signing in: `next` if it is a path of this shop, else the account."""
    return local_path(request.POST.get("next") or request.GET.get("next")) or reverse("website:account")


def _stored_proof(request: Request) -> Proof | None:
    entry = request.session.get(_PROOFS, {}).get(str(request.shop.pk))
    proof = Proof(**entry) if entry else None
    return proof if proof and is_valid_proof(shop=request.shop, proof=proof, now=request.now) else None


def _forget_proof(request: Request) -> None:
    proofs = request.session.get(_PROOFS, {})
    request.session[_PROOFS] = {shop: proof for shop, proof in proofs.items() if shop != str(request.shop.pk)}


def _too_many_tries(request: Request, page: str, form: Form, refusal: TooManyTries) -> HttpResponse:
    form.add_error(None, refusal.text)
    context = {"form": form, "next": _next_url(request), "is_limited": True}
    response = render(request, f"website/account/{page}.html", context, status=refusal.status)
    response["Retry-After"] = refusal.retry_after
    return response


def _link_refused(request: Request, refusal: LinkRefused | TooManyTries) -> HttpResponse:
    response = render(request, "website/account/link_refused.html", {"refusal": refusal}, status=refusal.status)
    for name, value in refusal.headers.items():
        response[name] = value
    return response
