"""The URL to which browsers report scripts that the Content-Security-Policy of the shop's pages blocked."""

from django.http import HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from storefront.apps import script_reports
from storefront.kit.callers import client_network
from storefront.shops.ratelimit import count_call
from storefront.shops.request import Request
from storefront.website.pages import require_shop

# Reports accepted per minute: from one network, and for one shop. More of them would add no information.
MAX_PER_PLACE, MAX_PER_SHOP = 20, 120


@csrf_exempt
@require_POST
@require_shop
def script_reports_page(request: Request) -> HttpResponse:
    """Browsers ignore the response; its status is for the request log."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if request.content_type not in (script_reports.ONE, script_reports.MANY):
        return HttpResponse(status=415)
    if not (length.isascii() and length.isdigit() and len(length) < 10):
        return HttpResponse(status=411)
    if int(length) > script_reports.MAX_REPORT_BYTES:
        return HttpResponse(status=413)
    if not _is_within_limits(request):
        return HttpResponse(status=429)
    try:
        violations = script_reports.read_reports(request.content_type, request.body, host=request.get_host())
    except script_reports.Unreadable:
        return HttpResponse(status=400)
    script_reports.record_violations(shop=request.shop, violations=violations, now=request.now)
    return HttpResponse(status=204)


def _is_within_limits(request: Request) -> bool:
    shop = f"script-reports:{request.shop.pk}"
    counted = ((f"{shop}:{client_network(request)}", MAX_PER_PLACE), (shop, MAX_PER_SHOP))
    return all(count_call(name, per_minute=limit)[0] for name, limit in counted)
