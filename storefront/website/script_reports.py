"""Where browsers report what the policy of the shop's pages kept from running."""

from django.http import HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from storefront.apps import script_reports
from storefront.customers.throttle import place_of
from storefront.shops.ratelimit import count_call
from storefront.shops.request import Request
from storefront.website.pages import of_a_shop

# Reports that are read in a minute: from one place, and of one shop. More of the same would tell nothing new.
MOST_OF_A_PLACE, MOST_OF_A_SHOP = 20, 120


@csrf_exempt
@require_POST
@of_a_shop
def script_reports_page(request: Request) -> HttpResponse:
    """Browsers do not look at the answer; its status is for whoever looks into the log."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if request.content_type not in (script_reports.ONE, script_reports.MANY):
        return HttpResponse(status=415)
    if not (length.isascii() and length.isdigit() and len(length) < 10):
        return HttpResponse(status=411)
    if int(length) > script_reports.LARGEST:
        return HttpResponse(status=413)
    if not _is_within_limits(request):
        return HttpResponse(status=429)
    try:
        told = script_reports.read_reports(request.content_type, request.body, host=request.get_host())
    except script_reports.Unreadable:
        return HttpResponse(status=400)
    script_reports.record_violations(shop=request.shop, violations=told, now=request.now)
    return HttpResponse(status=204)


def _is_within_limits(request: Request) -> bool:
    shop = f"script-reports:{request.shop.pk}"
    counted = ((f"{shop}:{place_of(request)}", MOST_OF_A_PLACE), (shop, MOST_OF_A_SHOP))
    return all(count_call(name, per_minute=limit)[0] for name, limit in counted)
