"""Responses that are a PDF."""

from collections.abc import Sequence

from django.http import HttpResponse
from django.utils.http import content_disposition_header

from storefront.documents.models import Document
from storefront.documents.records import Record


def document_response(document: Document) -> HttpResponse:
    return pdf_response([document.record], document.file_name)


def pdf_response(records: Sequence[Record], name: str) -> HttpResponse:
    """One PDF of these documents, which the browser shows in its viewer and saves under this name."""
    # Importing it takes most of a second, and most processes never draw.
    from storefront.documents.drawing import pdf_of

    headers = {
        "Content-Type": "application/pdf",
        "Content-Disposition": content_disposition_header(False, name) or "inline",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
    return HttpResponse(pdf_of(records), headers=headers)
