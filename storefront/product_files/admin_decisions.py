"""What an import would change, the question whether to import it, and its undoing, on the import's page."""

from typing import Any

from django.utils.html import format_html
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.decorators import display

from storefront.kit import clock
from storefront.kit.format import format_count
from storefront.product_files.deciding import confirm_import, decline_import, shown_rules
from storefront.product_files.gate import RULES
from storefront.product_files.impact import WORDS, change_text
from storefront.product_files.models import ProductImport
from storefront.product_files.undo_jobs import refusal_to_start, start_undo
from storefront.product_files.undoing import UNDOABLE, preview
from storefront.shops.rights import Right
from storefront.staff.admin_parts import DANGER, PRIMARY, Moves, asks, deed, sure, table

# Rows of the journal that the page looks at before an import is undone.
MAX_PREVIEWED = 500
SHOWN_REASONS = 50


def is_asking(row: ProductImport) -> bool:
    return row.state == ProductImport.State.ASKING


def can_be_undone(row: ProductImport) -> bool:
    return not refusal_to_start(row, clock.now())


def _question(request: Any, row: ProductImport) -> dict[str, Any]:
    """What the file would change, and a box to tick for each rule that it trips."""
    impact = row.impact or {}
    return {
        "sentences": [
            _("This file changes products of your shop. It is compared with them once more as it is imported.")
        ],
        "facts": [(text, format_count(impact[name])) for name, text in WORDS.items() if impact.get(name)],
        "checks": [(f"accept-{rule}", " ".join(texts)) for rule, texts in shown_rules(row).items()],
        "danger": bool(shown_rules(row)),
    }


def _what_is_undone(request: Any, row: ProductImport) -> dict[str, Any]:
    """What would be undone and what would stay, as far as the page looks."""
    found = preview(shop=request.shop, row=row, now=request.now, limit=MAX_PREVIEWED)
    looked_at = found.undone + found.left
    facts = [(_("put back or removed"), format_count(found.undone)), (_("left as they are"), format_count(found.left))]
    sentences = [
        _(
            "Each product that this import changed gets its earlier values back, and the products, "
            "categories and brands that it created are removed. What has been changed or sold since stays "
            "as it is."
        ),
    ]
    if looked_at >= MAX_PREVIEWED:
        sentences.append(
            _("These are the first %(count)s; all of them are looked at when it is undone.")
            % {"count": format_count(looked_at)}
        )
    return {"sentences": sentences, "facts": facts, "listed": found.reasons[:SHOWN_REASONS]}


class DecisionsOnImport:
    """Mixin of the imports' admin."""

    @display(description=_lazy("what it changes"))
    def impact_shown(self, row: ProductImport) -> str:
        impact = row.impact or {}
        return table((format_count(impact[name]), text) for name, text in WORDS.items() if impact.get(name))

    @display(description=_lazy("largest changes"))
    def largest_shown(self, row: ProductImport) -> str:
        return table(
            (_("Line %(line)s") % {"line": each["line"]}, change_text(each))
            for each in (row.impact or {}).get("largest", ())
        )

    @display(description=_lazy("please look at"))
    def rules_shown(self, row: ProductImport) -> str:
        return table([text] for texts in shown_rules(row).values() for text in texts)

    @display(description=_lazy("undone"))
    def undone_shown(self, row: ProductImport) -> str:
        result = row.undo_result or {"undone": 0, "left": 0, "reasons": []}
        counts = _("%(undone)s put back or removed, %(left)s left") % {
            "undone": format_count(result["undone"]),
            "left": format_count(result["left"]),
        }
        return format_html("<p>{}</p>{}", counts, table([reason] for reason in result["reasons"]))

    def decision_fields(self, row: ProductImport) -> list[str]:
        """The fields that belong to the state of the import."""
        found = ["undone_shown"] if row.undo_result else []
        if row.impact:
            found += ["rules_shown"] if is_asking(row) and shown_rules(row) else []
            found += ["impact_shown", "largest_shown"]
        return found

    @deed(
        _lazy("Import"),
        Right.IMPORT_PRODUCTS,
        Moves.NOTHING,
        icon="upload",
        variant=PRIMARY,
        url_path="confirm",
        when=is_asking,
    )
    @sure(_lazy("Import {}?"), _lazy("Import"), more=_question)
    def confirm(self, request: Any, row: Any) -> str:
        accepted = [rule for rule in RULES if request.POST.get(f"accept-{rule}")]
        confirm_import(shop=request.shop, row=row, accepted=accepted, now=request.now)
        return _("The file is imported now.")

    @deed(
        _lazy("Do not import"), Right.IMPORT_PRODUCTS, Moves.NOTHING, icon="block", url_path="decline", when=is_asking
    )
    @asks(
        _lazy("Do not import this file?"), _lazy("Nothing is changed, and the file is deleted."), _lazy("Do not import")
    )
    def decline(self, request: Any, row: Any, form: Any) -> str:
        decline_import(shop=request.shop, row=row, now=request.now)
        return _("Nothing was imported. The file is deleted.")

    @deed(
        _lazy("Undo"),
        Right.IMPORT_PRODUCTS,
        Moves.NOTHING,
        icon="undo",
        variant=DANGER,
        url_path="undo",
        when=can_be_undone,
    )
    @sure(
        _lazy("Undo the import of {}?"),
        _lazy("Undo the import"),
        format_lazy(_lazy("Imports can be undone for {days} days."), days=UNDOABLE.days),
        more=_what_is_undone,
    )
    def undo_import(self, request: Any, row: Any) -> str:
        start_undo(shop=request.shop, row=row, user=request.user, now=request.now)
        return _("The import is being undone.")
