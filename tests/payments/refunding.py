"""What providers answer to refunds, as the worker records it."""

from storefront.payments.providers.base import RefundReport, RefundStanding
from storefront.payments.refunds import record_refund


def record_refunded(*, shop, refund, reference, now) -> bool:
    """It was carried out."""
    return record_refund(shop=shop, refund=refund, reported=RefundReport(refund.amount, reference), now=now)


def record_refund_failed(*, shop, refund, why, now) -> bool:
    """It was declined."""
    told = RefundReport(refund.amount, standing=RefundStanding.FAILED, why=why)
    return record_refund(shop=shop, refund=refund, reported=told, now=now)
