"""The way into an account, and out of it: signing in, and the links that the shop mails.

Whether a customer has an e-mail address is told to nobody but its mailbox: each page answers alike, and takes as
long. An account begins, and a password is replaced, by a link that proves whose the address is.
"""

from dataclasses import asdict
from urllib.parse import urlencode

from django.contrib import messages
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from storefront.carts.session import sign_in, sign_out
from storefront.checkout.pages import SeeOther, private, take_query
from storefront.customers import actions, jobs, queries
from storefront.customers.links import LinkRefused, Proof, proof_of_link, still_proves
from storefront.customers.session import customer_of
from storefront.customers.throttle import TooManyTries, count_try, place_of
from storefront.kit.refusals import InvalidFields
from storefront.orders.history import attach_guest_orders
from storefront.shops.request import Request
from storefront.website.account_forms import EmailForm, NewPasswordForm, SignInForm
from storefront.website.pages import of_a_shop

_PROOFS = "account_links"
WRONG = "This e-mail address and this password do not belong together."


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@of_a_shop
def sign_in_page(request: Request) -> HttpResponse:
    if customer_of(request):
        return SeeOther(_next(request))
    form = SignInForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            return _signed_in(request, form)
        except TooManyTries as refusal:
            return _too_many(request, "sign_in", form, refusal)
    context = {"form": form, "next": _next(request)}
    return render(request, "website/account/sign_in.html", context, status=422 if form.is_bound else 200)


@sensitive_variables("password")
def _signed_in(request: Request, form: SignInForm) -> HttpResponse:
    email, password = form.cleaned_data["email"], form.cleaned_data["password"]
    count_try("sign-in", shop=request.shop, email=email, place=place_of(request))
    customer = actions.authenticate(shop=request.shop, email=email, password=password)
    if customer is None:
        form.add_error(None, WRONG)
        context = {"form": form, "next": _next(request)}
        return render(request, "website/account/sign_in.html", context, status=422)
    sign_in(request, customer)
    return SeeOther(_next(request))


@require_POST
@never_cache
@of_a_shop
def sign_out_page(request: Request) -> HttpResponse:
    sign_out(request)
    messages.success(request, "You are signed out.")
    return SeeOther(reverse("website:home"))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@of_a_shop
def register(request: Request) -> HttpResponse:
    """Ask for an account: the link that makes it goes to the e-mail address."""
    return _ask_for_link(request, "register")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@of_a_shop
def forgot(request: Request) -> HttpResponse:
    """Ask for a new password."""
    return _ask_for_link(request, "reset")


def _ask_for_link(request: Request, purpose: str) -> HttpResponse:
    form = EmailForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        email = queries.normal_email(form.cleaned_data["email"])
        try:
            count_try("mail", shop=request.shop, email=email, place=place_of(request))
        except TooManyTries as refusal:
            return _too_many(request, purpose, form, refusal)
        jobs.send_password_link.enqueue(request.shop.pk, email, purpose)
        return SeeOther(reverse("website:mailed"))
    return render(request, f"website/account/{purpose}.html", {"form": form}, status=422 if form.is_bound else 200)


@require_safe
@never_cache
@of_a_shop
def mailed(request: Request) -> HttpResponse:
    return render(request, "website/account/mailed.html")


@require_safe
@private
@sensitive_variables()
def link(request: Request) -> HttpResponse:
    """Follow a mailed link: the browser may then do what it is for, under an address without it."""
    query = take_query(request)
    try:
        proof = proof_of_link(shop=request.shop, query=query, now=request.now)
    except LinkRefused as refusal:
        return _link_refused(request, refusal)
    # A program that only looks at the link gets no session.
    if request.method == "GET":
        kept = request.session.get(_PROOFS, {})
        request.session[_PROOFS] = {**kept, str(request.shop.pk): asdict(proof)}
    return SeeOther(reverse("website:choose_password" if proof.customer_id is None else "website:confirm_email"))


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@of_a_shop
def choose_password(request: Request) -> HttpResponse:
    """The link was followed: choose a password, and be signed in."""
    proof = _proof(request)
    if proof is None or proof.customer_id is not None:
        return _link_refused(request, LinkRefused())
    known = queries.customer_by_email(request.shop, proof.email)
    form = NewPasswordForm(request.POST if request.method == "POST" else None, asks_name=not (known and known.name))
    if form.is_valid():
        try:
            return _password_chosen(request, proof, form)
        except LinkRefused as refusal:
            return _link_refused(request, refusal)
        except InvalidFields as refusal:
            form.add_error("password", (refusal.errors or {})["password"])
    context = {"form": form, "email": proof.email, "is_new": not (known and known.can_sign_in)}
    return render(request, "website/account/password.html", context, status=422 if form.is_bound else 200)


@sensitive_variables("form")
def _password_chosen(request: Request, proof: Proof, form: NewPasswordForm) -> HttpResponse:
    shop, now, given = request.shop, request.now, form.cleaned_data
    customer = actions.choose_password(
        shop=shop, proof=proof, password=given["password"], name=given.get("name", ""), now=now
    )
    attach_guest_orders(shop=shop, customer=customer, now=now)
    _forget_proof(request)
    sign_in(request, customer)
    messages.success(request, "Your password is set, and you are signed in.")
    return SeeOther(reverse("website:account"))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@of_a_shop
def confirm_email(request: Request) -> HttpResponse:
    """The link in a new mailbox was followed: make its address the customer's."""
    proof = _proof(request)
    if proof is None or proof.customer_id is None:
        return _link_refused(request, LinkRefused())
    if request.method != "POST":
        return render(request, "website/account/confirm_email.html", {"email": proof.email})
    try:
        customer, old = actions.change_email(shop=request.shop, proof=proof, now=request.now)
    except (LinkRefused, InvalidFields):
        return _link_refused(request, LinkRefused())
    attach_guest_orders(shop=request.shop, customer=customer, now=request.now)
    jobs.send_notice.enqueue(request.shop.pk, old, "email_changed")
    _forget_proof(request)
    messages.success(request, f"Your e-mail address is {customer.email} from now on.")
    return SeeOther(reverse("website:account"))


def to_sign_in(request: Request) -> HttpResponse:
    """Ask to sign in, and come back to this page afterwards; a form that was sent is not sent again."""
    wanted = request.path if request.method in ("GET", "HEAD") else reverse("website:account")
    return SeeOther(f"{reverse('website:sign_in')}?{urlencode({'next': wanted})}")


def _next(request: Request) -> str:
    """Where somebody wanted to go, if that is a page of this shop."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    if wanted.startswith("/") and url_has_allowed_host_and_scheme(wanted, allowed_hosts=None):
        return wanted
    return reverse("website:account")


def _proof(request: Request) -> Proof | None:
    kept = request.session.get(_PROOFS, {}).get(str(request.shop.pk))
    proof = Proof(**kept) if kept else None
    return proof if proof and still_proves(shop=request.shop, proof=proof, now=request.now) else None


def _forget_proof(request: Request) -> None:
    kept = request.session.get(_PROOFS, {})
    request.session[_PROOFS] = {shop: proof for shop, proof in kept.items() if shop != str(request.shop.pk)}


def _too_many(request: Request, page: str, form: Form, refusal: TooManyTries) -> HttpResponse:
    form.add_error(None, refusal.text)
    context = {"form": form, "next": _next(request)}
    response = render(request, f"website/account/{page}.html", context, status=refusal.status)
    response["Retry-After"] = refusal.retry_after
    return response


def _link_refused(request: Request, refusal: LinkRefused) -> HttpResponse:
    return render(request, "website/account/link_refused.html", {"refusal": refusal}, status=refusal.status)
