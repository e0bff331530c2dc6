"""Audit entries for the admin's forms, and each row's history page.

A form that saves its row itself is recorded here, together with its inlines as one entry. A form that calls an action
is recorded by the action, and not again here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import override

from storefront import audit
from storefront.audit.text import action_text, actor_text, changes_table
from storefront.audit.values import Values, column_values, differences, plain, secrets_changed, without_empty
from storefront.shops.audit_models import AuditEntry

HISTORY_PAGE = 50


@dataclass(frozen=True)
class Change:
    """What a form changed. Django passes it to `log_change` as the message of its own log, which is not used."""

    before: Values
    after: Values


class AuditedAdmin:
    """Records saves and deletions in the shop's audit log instead of Django's log."""

    # False for rows that belong to no shop; these use Django's log and history.
    audited = True
    admin_site: Any
    model: Any

    def save_form(self, request: Any, form: Any, change: bool) -> Any:
        if change and self.audited:
            rows = self.model._base_manager.select_for_update(no_key=True, of=("self",))
            request.row_before = rows.get(pk=form.instance.pk)
        return super().save_form(request, form, change)  # type: ignore[misc]

    def construct_change_message(self, request: Any, form: Any, formsets: Any, add: bool = False) -> Any:
        if not self.audited:
            return super().construct_change_message(request, form, formsets, add)  # type: ignore[misc]
        row = self.model._base_manager.get(pk=form.instance.pk)
        before: Values = {}
        after: Values = without_empty(column_values(row))
        if not add:
            before, after = differences(column_values(request.row_before), column_values(row))
            secrets = secrets_changed(request.row_before, row)
            before, after = before | secrets, after | secrets
        for formset in formsets:
            was, became = _inline_changes(formset)
            with override(None):
                name = "_".join(str(formset.model._meta.verbose_name_plural).lower().split())
            before |= {name: was} if was else {}
            after |= {name: became} if became else {}
        return Change(before, after)

    def log_addition(self, request: Any, obj: Any, message: Any) -> Any:
        if not self.audited:
            return super().log_addition(request, obj, message)  # type: ignore[misc]
        return self._log(request, obj, message, "created")

    def log_change(self, request: Any, obj: Any, message: Any) -> Any:
        if not self.audited:
            return super().log_change(request, obj, message)  # type: ignore[misc]
        return self._log(request, obj, message, "updated")

    def log_deletions(self, request: Any, queryset: Any) -> Any:
        """Does nothing: Django calls it before the deleting transaction. `record_deletion` runs inside it."""
        return None if self.audited else super().log_deletions(request, queryset)  # type: ignore[misc]

    def record_deletion(self, request: Any, rows: Iterable[models.Model]) -> None:
        if self.audited:
            audit.record_deleted(shop=request.shop, rows=rows, now=request.now)

    def _log(self, request: Any, row: models.Model, change: Any, verb: str) -> None:
        # A message that is not a Change describes an action, which has recorded itself.
        about = self.history_of(row)
        if not isinstance(change, Change) or audit.is_recorded(about) or not (change.before or change.after):
            return
        audit.record(
            shop=request.shop,
            action=f"{audit.type_of(row)}.{verb}",
            object=about,
            before=change.before or None,
            after=change.after or None,
            now=request.now,
        )

    def history_of(self, row: Any) -> audit.Object:
        """The audit log's object for this row."""
        return audit.object_of(row)

    def shop_of(self, request: Any, row: Any) -> Any:
        """The shop whose log has the row's entries."""
        return request.shop

    def history_view(self, request: Any, object_id: str, extra_context: Any = None) -> HttpResponse:
        """The row's entries, newest first. Only users who may read the whole log see the places."""
        if not self.audited:
            return super().history_view(request, object_id, extra_context)  # type: ignore[misc]
        row = self.get_object(request, unquote(object_id))  # type: ignore[attr-defined]
        if row is None:
            raise Http404
        if not self.has_view_permission(request, row):  # type: ignore[attr-defined]
            raise PermissionDenied
        about = self.history_of(row)
        entries = AuditEntry.objects.filter(shop=self.shop_of(request, row), object_type=about.type, object_id=about.id)
        page = Paginator(entries, HISTORY_PAGE).get_page(request.GET.get("p", 1))
        history = [
            {"at": entry.at, "who": actor_text(entry), "what": action_text(entry), "changes": changes_table(entry)}
            | ({"place": entry.place} if self._may_read_the_log(request) else {})
            for entry in page
        ]
        context = {
            **self.admin_site.each_context(request),
            "title": _("Changes: %(row)s") % {"row": row},
            "object": row,
            "opts": self.model._meta,
            "page": page,
            "history": history,
            **(extra_context or {}),
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(request, "shops/admin/history.html", context)

    def _may_read_the_log(self, request: HttpRequest) -> bool:
        return self.admin_site.get_model_admin(AuditEntry).has_view_permission(request)


def _inline_changes(formset: Any) -> tuple[list[Values], list[Values]]:
    """Values of an inline's changed, created and deleted rows, before and after."""
    was, became = [], []
    for form in formset.forms:
        id = form.fields["id"].initial if "id" in form.fields else None
        columns = [name for name in form.fields if name not in ("id", "DELETE", formset.fk.name)]
        if id is not None and form in formset.deleted_forms:
            was.append({"id": id} | without_empty({name: plain(form.initial.get(name)) for name in columns}))
        elif form in formset.deleted_forms or not form.has_changed():
            continue
        elif id is None:
            after = {name: _after(form, name) for name in columns}
            became.append({"id": form.instance.pk} | without_empty(after))
        else:
            changed = [name for name in columns if name in form.changed_data]
            was.append({"id": id} | {name: plain(form.initial.get(name)) for name in changed})
            became.append({"id": id} | {name: _after(form, name) for name in changed})
    return was, became


def _after(form: Any, name: str) -> Any:
    """The value of a field after the form: of the row's column, or of a field that is none."""
    return plain(getattr(form.instance, name, form.cleaned_data.get(name)))
