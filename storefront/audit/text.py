"""Entries of the audit log as text for people."""

from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from storefront.audit.known_actions import ACTIONS
from storefront.kit.plain_names import plain_name
from storefront.shops.audit_models import AuditEntry

NOTHING = "–"


def action_text(entry: AuditEntry) -> str:
    return str(ACTIONS.get(entry.action, entry.action))


def actor_text(entry: AuditEntry) -> str:
    if entry.actor_kind == AuditEntry.Kind.CUSTOMER and entry.actor_id is None:
        return _("Guest")
    if entry.actor_kind == AuditEntry.Kind.STAFF and entry.actor_name:
        return entry.actor_name
    name = entry.actor_name or (f"#{entry.actor_id}" if entry.actor_id else "")
    return f"{entry.get_actor_kind_display()} {name}".strip()


def object_text(entry: AuditEntry) -> str:
    number = f"(id {entry.object_id})" if entry.object_id else ""
    return " ".join(filter(None, [entry.object_type.replace("_", " "), entry.object_name, number])) or NOTHING


def changes_table(entry: AuditEntry) -> SafeString | str:
    """An HTML table of the changed values, before and after."""
    before, after = entry.before or {}, entry.after or {}
    names = [*before, *(name for name in after if name not in before)]
    if not names:
        return NOTHING
    lines = format_html_join(
        "",
        '<tr><th scope="row" class="pr-4 py-1 align-top font-normal">{}</th><td class="pr-4 py-1 align-top">{}</td>'
        '<td class="py-1 align-top">{}</td></tr>',
        ((plain_name(name), _cell(before.get(name)), _cell(after.get(name))) for name in names),
    )
    return format_html(
        '<table class="text-left"><thead><tr><th class="pr-4">{}</th><th class="pr-4">{}</th><th>{}</th></tr>'
        "</thead><tbody>{}</tbody></table>",
        _("What"),
        _("Before"),
        _("After"),
        lines,
    )


def _cell(value: Any) -> str:
    """The value as HTML; a list with one line for each item."""
    if isinstance(value, list) and value:
        return format_html_join(mark_safe("<br>"), "{}", ((_text(each),) for each in value))
    return _text(value)


def _text(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return NOTHING
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, dict):
        return ", ".join(f"{plain_name(name)}: {_text(each)}" for name, each in value.items())
    return "; ".join(map(_text, value)) if isinstance(value, list) else str(value)
