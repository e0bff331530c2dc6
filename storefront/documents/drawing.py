"""Draws documents as PDF from their records, and from the logo's file, without which they have the shop's name. The
same record gives the same bytes.

A document has as many pages as it needs: its lines flow over pages with the table's header and carried sums, and no
text leaves the page, however long it is.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from storefront.documents.lettering import ltr
from storefront.documents.logo import logo_of
from storefront.documents.paper import BODY, CARRIED, FIGURES, FOOT, SMALL, TABLE, Paper, vat_id_line
from storefront.kit.format import format_date, format_money
from storefront.kit.money import ZERO
from storefront.pricing.taxes import TAXED, tax_label

Record = dict[str, Any]

TITLES = {
    # Translators: The title of an invoice, in the words of tax law. Germany: "Rechnung".
    "invoice": gettext_lazy("Invoice"),
    # Translators: The title of a credit note, which takes back all or a part of an invoice. Germany:
    # "Rechnungskorrektur" ("Gutschrift" is an invoice that the buyer writes). France: "Avoir". Italy: "Nota di
    # credito". Spain: "Factura rectificativa". Netherlands: "Creditfactuur". Poland: "Faktura korygująca".
    "credit_note": gettext_lazy("Credit note"),
    "packing_slip": gettext_lazy("Packing slip"),
}
ROW_GAP, BLOCK_GAP = 2.2, 8.0
LOGO_WIDTH, LOGO_HEIGHT = 60.0, 16.0


def pdf_of(records: Sequence[Record]) -> bytes:
    """One PDF of these documents, each with pages of its own, and in its own language."""
    # Each page shows the number of pages, so the documents are drawn once to count them.
    trial, counts = Paper(), []
    for record in records:
        before = trial.page_no()
        _draw(trial, record, 0)
        counts.append(trial.page_no() - before)
    paper = Paper(trial.broken)
    for record, count in zip(records, counts, strict=True):
        _draw(paper, record, count)
    first = records[0]
    with translation.override(_language(first)):
        paper.set_title(f"{TITLES[first['kind']]} {first['number']}" if len(records) == 1 else _("Documents"))
    paper.set_author(first["seller"]["name"])
    paper.set_lang(_language(first))
    paper.set_creation_date(datetime.combine(date.fromisoformat(first["issued_on"]), datetime.min.time(), UTC))
    return bytes(paper.output())


def _language(record: Record) -> str:
    """The language of a document's texts. Those from before there were languages are English."""
    return str(record.get("language", "en"))


def _draw(paper: Paper, record: Record, pages: int) -> None:
    with translation.override(_language(record)):
        _draw_parts(paper, record, pages)


def _draw_parts(paper: Paper, record: Record, pages: int) -> None:
    paper.begin(record, f"{TITLES[record['kind']]} {ltr(record['number'])}", pages)
    _draw_head(paper, record)
    if record["kind"] == "packing_slip":
        _draw_packing(paper, record)
    else:
        _draw_lines(paper, record)
        _draw_sums(paper, record)
        if notes := record.get("notes"):
            paper.ln(BLOCK_GAP)
            paper.write_lines(notes, size=BODY)
        if record["footer"]:
            paper.ln(BLOCK_GAP)
            paper.write_lines(record["footer"].splitlines(), size=BODY)
    paper.end()


def _draw_head(paper: Paper, record: Record) -> None:
    """The seller, the buyer's address at the left, and dates and numbers at the right."""
    seller, start, logo = record["seller"], paper.get_y(), logo_of(record)
    if logo:
        paper.draw_logo(logo, width=LOGO_WIDTH, height=LOGO_HEIGHT)
    else:
        paper.write_lines([seller["shop"]], width=95, size=15, is_heading=True)
    left = paper.get_y()
    paper.set_y(start)
    paper.write_lines([str(TITLES[record["kind"]])], x=paper.right - 75, width=75, size=20, is_heading=True, align="R")
    paper.set_y(max(left, paper.get_y()) + 3)
    if "brand" in record:
        paper.draw_rule(is_accent=True)
    paper.ln(BLOCK_GAP - 3)
    start = paper.get_y()
    sender = " · ".join([seller["name"], *seller["address"]])
    paper.write_lines([sender], width=95, size=FOOT, is_grey=True)
    paper.ln(1.5)
    if record["kind"] == "packing_slip":
        paper.write_block(_("Ship to"), [*record["ship_to"], record["phone"]], width=88)
    else:
        vat_id = record.get("buyer_vat_id")
        paper.write_block(_("Bill to"), [*record["buyer"], *([vat_id_line(vat_id)] if vat_id else [])], width=88)
        if record["ship_to"] and record["ship_to"] != record["buyer"]:
            paper.ln(3)
            paper.write_block(_("Ship to"), record["ship_to"], width=88)
    left = paper.get_y()
    paper.set_y(start)
    paper.write_facts(_facts(record), x=paper.right - 75, width=75)
    paper.set_y(max(left, paper.get_y()) + BLOCK_GAP)


def _facts(record: Record) -> list[tuple[str, str]]:
    order = [(_("Order"), str(record["order_number"])), (_("Order date"), _day(record["ordered_on"]))]
    if record["kind"] == "packing_slip":
        return [*order, (_("Delivery"), record["method"]), (_("Printed"), _day(record["issued_on"]))]
    facts = [
        # Translators: The number of an invoice or a credit note, on the paper.
        (_("Number"), record["number"]),
        # Translators: The date on which an invoice or a credit note was issued, on the paper.
        (_("Date"), _day(record["issued_on"])),
        *order,
    ]
    if record["kind"] == "credit_note":
        credited = record["invoice"]
        facts += [(_("For invoice"), credited["number"]), (_("Invoice date"), _day(credited["issued_on"]))]
    elif record["replaces"]:
        facts.append((_("Replaces invoice"), record["replaces"]))
    return facts


def _draw_lines(paper: Paper, record: Record) -> None:
    """The table of lines. The sum so far is at the end of each page, and again at the start of the next."""
    # Older documents have no rates in their lines, so they have no such column.
    has_rates = any(line.get("rates") for line in record["lines"])
    widths = [paper.width - 100, 16, 18, 33, 33] if has_rates else [paper.width - 82, 16, 33, 33]
    header = [_("Description"), _("Qty"), *([_("Tax")] if has_rates else []), _("Unit price"), _("Amount")]
    paper.draw_header(header, widths)
    carried = ZERO
    for line in record["lines"]:
        rates = [" + ".join(line.get("rates") or ())] if has_rates else []
        figures = ["", str(line["qty"]), *rates, _money(line["unit_price"], record), _money(line["total"], record)]

        def turn(before: Decimal = carried) -> None:
            sum_row = [_("Carried forward"), _money(before, record)]
            paper.draw_sum(*sum_row, is_grey=True)
            paper.turn_page()
            paper.draw_header(header, widths)
            paper.draw_sum(_("Brought forward"), sum_row[1], is_grey=True)

        _draw_row(paper, line, figures, widths, turn)
        carried += Decimal(line["total"])
    paper.draw_rule()


def _draw_packing(paper: Paper, record: Record) -> None:
    widths = [paper.width - 40, 20, 20]
    header = [_("Item"), _("Ordered"), _("To pack")]

    def turn() -> None:
        paper.turn_page()
        paper.draw_header(header, widths)

    if record["is_cancelled"]:
        paper.write_lines([_("This order was cancelled. Do not ship it.")], size=BODY, is_bold=True)
        paper.ln(3)
    paper.draw_header(header, widths)
    for line in record["lines"]:
        _draw_row(paper, line, ["", str(line["ordered"]), str(line["qty"])], widths, turn, reserved=0)
    paper.draw_rule()
    if record["note"]:
        paper.ln(BLOCK_GAP)
        paper.write_block(_("Note from the customer"), record["note"].splitlines(), width=paper.width)


def _draw_row(
    paper: Paper, line: Record, figures: list[str], widths: list[float], turn: Any, reserved: float = CARRIED
) -> None:
    """A row of the table: the line's name, with options and SKU below it in small type. A row is not split over pages
    unless it is longer than one."""
    small = [*line["details"], *([_("SKU %(sku)s") % {"sku": ltr(line["sku"])}] if line["sku"] else [])]
    texts = [(text, TABLE, False) for text in paper.lines_of(line["name"], widths[0] - 3, TABLE)]
    texts += [(text, SMALL, True) for each in small for text in paper.lines_of(each, widths[0] - 3, SMALL)]
    height = sum(paper.line_height(size) for _, size, _ in texts) + ROW_GAP
    if height > paper.left_on_page - reserved and height < paper.page_height / 2:
        turn()
    paper.ln(ROW_GAP / 2)
    for text, size, is_grey in texts:
        if paper.line_height(size) > paper.left_on_page - reserved:
            turn()
        if figures:
            paper.draw_figures(figures, widths, size=FIGURES)
            figures = []
        paper.write_line(text, size=size, is_grey=is_grey, width=widths[0])
    paper.ln(ROW_GAP / 2)


def _draw_sums(paper: Paper, record: Record) -> None:
    """Totals and taxes, on one page."""
    rows, taxes = [], []
    if record["subtotal"] is not None:
        rows.append((_("Subtotal"), _money(record["subtotal"], record)))
    for discount in record["discounts"]:
        off = Decimal(discount["amount"])
        rows.append((discount["name"], _money(-off, record) if off else _("Free delivery")))
    if delivery := record["delivery"]:
        rows.append((_("Delivery: %(method)s") % {"method": delivery["name"]}, _money(delivery["amount"], record)))
    included = record["tax_included"]
    for tax in record["taxes"]:
        taxes.append((_tax_name(tax, record), _money(tax["amount"], record)))
    # Translators: The total without tax on an invoice. Germany: "Nettobetrag".
    net = (_("Net amount"), _money(record["net"], record))
    above = [] if included or not taxes else [net, *taxes]
    below = [*taxes, net] if included and taxes else []
    total = _("Total credited") if record["kind"] == "credit_note" else _("Total")
    paid = [
        (_("Paid: %(method)s") % {"method": each["name"]}, _money(each["amount"], record))
        for each in record["payments"]
    ]
    count = len(rows) + len(above) + len(below) + len(paid) + 2
    if count * paper.line_height(TABLE) * 1.3 > paper.left_on_page:
        paper.turn_page()
    paper.ln(2)
    for name, amount in [*rows, *above]:
        paper.draw_sum(name, amount)
    paper.draw_total(total, _money(record["total"], record))
    for name, amount in [*below, *paid]:
        paper.draw_sum(name, amount, is_grey=True)


def _tax_name(tax: Record, record: Record) -> str:
    """The tax with its rate and, if the record has it, the amount that it is charged on."""
    treatment = tax.get("treatment", TAXED)
    given = {"tax": tax_label(tax["name"], tax["percent"], treatment)}
    is_included = record["tax_included"] and treatment == TAXED
    if not tax.get("base"):
        return _("Includes %(tax)s") % given if is_included else given["tax"]
    given["amount"] = _money(tax["base"], record)
    # Translators: A tax on an invoice with the amount that it is charged on, such as "VAT 19% on €100.00".
    return (_("Includes %(tax)s on %(amount)s") if is_included else _("%(tax)s on %(amount)s")) % given


def _money(amount: str | Decimal, record: Record) -> str:
    return format_money(Decimal(amount), record["currency"])


def _day(text: str) -> str:
    return format_date(date.fromisoformat(text))
