"""Writes a person's data into a ZIP file: a JSON file for each kind, and the PDFs of invoices and credit notes."""

import zipfile
from collections.abc import Callable, Iterable
from typing import IO, Any

import orjson
from django.utils.translation import gettext as _

from storefront.privacy.kinds import KINDS
from storefront.privacy.person import Person
from storefront.privacy.records import paper_name
from storefront.shops.spoken import speaking


def write_export(person: Person, out: IO[bytes], beat: Callable[[], None] = lambda: None) -> dict[str, int]:
    """Write the file. Returns how many records of each kind it has. `beat` is called for each record and document, as a
    heartbeat."""
    counts: dict[str, int] = {}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for kind in KINDS:
            with archive.open(f"{kind.name}.json", "w", force_zip64=True) as entry:
                counts[kind.name] = _write_list(entry, kind.records(person), beat)
        _write_papers(archive, person, beat)
        archive.writestr("README.txt", _readme(person, counts))
    return counts


def _write_list(out: IO[bytes], records: Iterable[dict[str, Any]], beat: Callable[[], None]) -> int:
    count = 0
    out.write(b"[")
    for record in records:
        out.write(b",\n" if count else b"\n")
        out.write(orjson.dumps(record, option=orjson.OPT_INDENT_2, default=str))
        count += 1
        beat()
    out.write(b"\n]\n")
    return count


def _write_papers(archive: zipfile.ZipFile, person: Person, beat: Callable[[], None]) -> None:
    # Importing it takes most of a second, and most processes never draw.
    from storefront.documents.drawing import pdf_of

    for document in person.documents().select_related("order").iterator(chunk_size=20):
        archive.writestr(paper_name(document), pdf_of([document.record]))
        beat()


def _readme(person: Person, counts: dict[str, int]) -> str:
    """What the files are, in the person's language."""
    with speaking(person.shop, person.language):
        return "\n".join([*_lines_of_readme(person, counts), ""])


def _lines_of_readme(person: Person, counts: dict[str, int]) -> list[str]:
    return [
        person.shop.name,
        _("What this shop has stored about %(email)s.") % {"email": person.email},
        "",
        _("Each .json file is a list. Times are in UTC, and amounts are in the currency next to them."),
        "",
        *(f"{kind.name}.json: {kind.title} ({counts[kind.name]})" for kind in KINDS),
        _("papers/: the invoices and credit notes as PDF"),
    ]
