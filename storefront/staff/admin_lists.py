"""The admin's lists: a table on a desk, and a compact row for each record on a phone.

Rows are rendered here instead of by the theme, whose templates for each cell took most of a list's time. What does not
differ between rows, such as the headings, is made once.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import display_for_field, display_for_value, label_for_field, lookup_field
from django.contrib.admin.views.main import ORDER_VAR, PAGE_VAR, ChangeList
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import BooleanField, Model
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from unfold.admin import ModelAdmin
from unfold.paginator import InfinitePaginator

from storefront.kit.format import format_count
from storefront.staff.list_filters import CHOICES_VAR, Chip, chips_of, with_counts

# Different labels that are kept rendered: a list has a few.
MAX_LABELS = 500
# Where a phone shows a row's columns: two to a line, at its start and its end.
PLACES = ("a", "b", "c", "d", "e", "f")
DELETE = "delete_selected"


@dataclass(frozen=True)
class Heading:
    """A column's title. `url` sorts by it; `order` is how the list is sorted by it now."""

    name: str
    text: str
    place: str
    url: str = ""
    order: str = ""


@dataclass(frozen=True)
class Bulk:
    """An action on chosen rows."""

    name: str
    text: str


@dataclass
class ListPage:
    """What the template of a list shows."""

    headings: list[Heading]
    rows: list[SafeString]
    actions: list[Bulk]
    chips: list[Chip]
    # The number of all that match, if it is known and more than the page shows.
    all_that_match: str = ""
    previous_url: str = ""
    next_url: str = ""
    place_text: str = ""
    sorted_by: str = ""
    can_delete: bool = False
    add_text: str = ""
    hidden: list[tuple[str, str]] = field(default_factory=list)


class IdsFirst(ChangeList):
    """Finds the ids of a page's rows first, and then reads the rows: sorting whole rows of a large table, with their
    texts and what is joined to them, takes databases ten times as long."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        if not self.result_list.query.is_sliced:
            return
        keys = list(self.result_list.values_list("pk", flat=True))
        rows = self.apply_select_related(self.root_queryset.filter(pk__in=keys)).in_bulk()
        self.result_list = [rows[key] for key in keys if key in rows]


class OnlyFilters(ChangeList):
    """A list of which only the filters are asked for."""

    def get_results(self, request: HttpRequest) -> None:
        self.result_list, self.result_count, self.full_result_count = [], 0, None
        self.can_show_all, self.multi_page, self.show_full_result_count = False, False, False
        self.show_admin_actions, self.paginator = False, None


class WithLists(ModelAdmin):
    """A list of its own template. Subclasses say with `on_phone` which columns a phone shows: the first two in the
    row's first line, at its start and end, the others two by two below. By default: the linked column, the first with
    coloured labels, and the next two."""

    change_list_template = "shops/admin/list.html"
    on_phone: tuple[str, ...] = ()
    # Columns whose values need their column's name there.
    named_on_phone: tuple[str, ...] = ()
    # Columns that are drawn rather than read, before the first line of a row.
    pictures: tuple[str, ...] = ("picture",)

    # For lists of tables with very many or wide rows.
    reads_ids_first = False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        if getattr(request, "asks_for_choices", False):
            return OnlyFilters
        return IdsFirst if self.reads_ids_first else super().get_changelist(request, **kwargs)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        if CHOICES_VAR in request.GET:
            return self._choices_view(request)
        response = super().changelist_view(request, extra_context)
        context = getattr(response, "context_data", None) or {}
        if "cl" in context:
            context["list"] = _list_page(self, request, context["cl"], context["action_form"])
        return response

    def _choices_view(self, request: Any) -> TemplateResponse:
        """The choices of one filter with the number of rows that each would leave, for the list as it is.

        Raises Http404 for a filter that the list does not have."""
        self.require(request, "view")
        request.GET = request.GET.copy()
        number = request.GET.pop(CHOICES_VAR)[-1]
        request.asks_for_choices = True
        try:
            chip = with_counts(request, self.get_changelist_instance(request), number)
        except IncorrectLookupParameters:
            raise Http404 from None
        is_part = request.headers.get("HX-Request") == "true"
        template = "shops/admin/list_choices.html" if is_part else "shops/admin/list_choices_page.html"
        return self.page(request, template, chip=chip, title=chip.title)

    def offers_chosen(self, request: Any, name: str) -> bool:
        """Returns False for an action that makes no sense on the rows of the list as it is filtered."""
        return True

    def cell(self, request: Any, name: str, row: Any) -> SafeString:
        """A column's value in this row of the list as HTML."""
        return _shown(self, name, row)


def _list_page(page: Any, request: Any, cl: Any, action_form: Any) -> ListPage:
    given = action_form.fields["action"].choices if action_form else []
    actions = [Bulk(name, str(text)) for name, text in given if name and name != DELETE]
    actions = [each for each in actions if page.offers_chosen(request, each.name)]
    can_delete = any(name == DELETE for name, _text in given) and page.offers_chosen(request, DELETE)
    headings, may_add = list(_headings(cl)), page.has_add_permission(request)
    found = ListPage(
        headings=headings,
        rows=list(_rows(request, cl, headings, has_boxes=bool(actions or can_delete))),
        actions=actions,
        chips=chips_of(cl),
        can_delete=can_delete,
        sorted_by=next((heading.text for heading in headings if heading.order), ""),
        add_text=_("Add %(verbose_name)s") % {"verbose_name": cl.opts.verbose_name} if may_add else "",
        hidden=[(name, value) for name, values in cl.filter_params.items() if name != "q" for value in values],
    )
    _paginate(found, cl)
    return found


def _paginate(found: ListPage, cl: Any) -> None:
    count, size, number = len(found.rows), cl.list_per_page, cl.page_num
    is_endless = isinstance(cl.paginator, InfinitePaginator)
    first = (number - 1) * size + 1
    has_next = count == size if is_endless else first - 1 + count < cl.result_count
    if number > 1:
        found.previous_url = cl.get_query_string({PAGE_VAR: number - 1})
    if has_next and not cl.show_all:
        found.next_url = cl.get_query_string({PAGE_VAR: number + 1})
    shown = {"first": format_count(first), "last": format_count(first + count - 1)}
    if is_endless:
        found.place_text = "{first}–{last}".format(**shown)
    else:
        total = format_count(cl.result_count)
        found.place_text = _("%(first)s–%(last)s of %(total)s") % {**shown, "total": total}
        found.all_that_match = total if cl.result_count > count else ""


def _headings(cl: Any) -> Iterator[Heading]:
    places = _places(cl)
    sorted_by = cl.get_ordering_field_columns()
    for number, name in enumerate(cl.list_display):
        if name == "action_checkbox":
            continue
        text = capfirst(str(label_for_field(name, cl.model, model_admin=cl.model_admin)))
        is_sortable = (cl.sortable_by is None or name in cl.sortable_by) and cl.get_ordering_field(name)
        if not is_sortable:
            yield Heading(str(name), text, places.get(name, ""))
            continue
        order = sorted_by.get(number, "")
        url = cl.get_query_string({ORDER_VAR: f"-{number}" if order == "asc" else str(number)})
        yield Heading(str(name), text, places.get(name, ""), url, order and f"{order}ending")


def _places(cl: Any) -> dict[str, str]:
    """The place of each column on a phone."""
    page = cl.model_admin
    columns = [name for name in cl.list_display if name != "action_checkbox"]
    pictures = [name for name in columns if name in page.pictures]
    title = _title_of(cl)
    shown = [name for name in page.on_phone if name in columns]
    if not shown:
        others = [name for name in columns if name not in pictures and name != title]
        labelled = [name for name in others if getattr(getattr(page, str(name), None), "label", None)][:1]
        shown = [title, *(labelled or others[:1])]
        shown += [name for name in others if name not in shown][:2]
    return {**dict.fromkeys(pictures, "picture"), **dict(zip(shown, PLACES, strict=False))}


def _title_of(cl: Any) -> str:
    """The column that is the row's link."""
    columns = [name for name in cl.list_display if name != "action_checkbox"]
    linked = [name for name in cl.list_display_links or () if name not in cl.model_admin.pictures]
    return str((linked or [name for name in columns if name not in cl.model_admin.pictures])[0])


def _rows(request: Any, cl: Any, headings: list[Heading], *, has_boxes: bool) -> Iterator[SafeString]:
    title = _title_of(cl)
    has_links = cl.list_display_links is not None
    address = _addresses(cl) if has_links else None
    starts = {heading.name: _attributes_of(cl.model_admin, heading) for heading in headings}
    for number, row in enumerate(cl.result_list):
        cells = []
        if has_boxes:
            cells.append(
                f'<td class="col-box"><input type="checkbox" class="list-box" name="_selected_action" form="chosen" '
                f'value="{conditional_escape(row.pk)}" aria-labelledby="choose-row row-{number}"></td>'
            )
        for heading in headings:
            shown = cl.model_admin.cell(request, heading.name, row)
            if heading.name != title:
                cells.append(f"<td {starts[heading.name]}>{shown}</td>")
                continue
            url = address(row) if address else None
            link = f'<a href="{conditional_escape(url)}" id="row-{number}">{shown}</a>' if url else None
            inner = link or f'<span id="row-{number}">{shown}</span>'
            cells.append(f'<th scope="row" {starts[heading.name]}>{inner}</th>')
        yield mark_safe(f"<tr>{''.join(cells)}</tr>")  # noqa: S308, each cell is escaped


def _attributes_of(page: Any, heading: Heading) -> SafeString:
    """The attributes of a column's cells."""
    place = f"at-{heading.place}" if heading.place else "not-on-phone"
    is_named = heading.name in page.named_on_phone or (not page.on_phone and heading.place in ("b", "c", "d"))
    name = format_html(' data-name="{}"', heading.text) if is_named else ""
    return format_html('class="col-{} {}"{}', heading.name, place, name)


def _addresses(cl: Any) -> Callable[[Model], str | None]:
    """The address of a row's page, which leads back to the list as it is."""
    back = f"?{cl.preserved_filters}" if cl.preserved_filters else ""

    def address(row: Model) -> str | None:
        try:
            return f"{cl.url_for_result(row)}{back}"
        except NoReverseMatch:
            return None

    return address


def _shown(page: Any, name: str, row: Model) -> SafeString:
    empty = page.get_empty_value_display()
    try:
        column, attribute, value = lookup_field(name, row, page)
    except ObjectDoesNotExist:
        return conditional_escape(empty)
    empty = getattr(attribute, "empty_value_display", empty)
    if column is None or column.auto_created:
        if label := getattr(attribute, "label", None):
            return _label_of(value, empty, label)
        if getattr(attribute, "boolean", False):
            return _yes_or_no(value)
        return conditional_escape(display_for_value(value, empty))
    if isinstance(column, BooleanField):
        return _yes_or_no(value)
    if column.remote_field:
        related = getattr(row, column.name)
        return conditional_escape(empty if related is None else related)
    return conditional_escape(display_for_field(value, column, empty))


def _yes_or_no(value: bool | None) -> SafeString:
    """Yes is a mark, no is a dash: most things that are off are not wrong."""
    text = _("Yes") if value else _("Not known") if value is None else _("No")
    return format_html('<span role="img" aria-label="{}" title="{}">{}</span>', text, text, "✓" if value else "–")


def _label_of(value: Any, empty: Any, colours: Any) -> SafeString:
    """The coloured label of a state, which is a text or a pair of key and text."""
    key, text = value if isinstance(value, tuple) else (value, value)
    if not text:
        return conditional_escape(empty)
    colour = colours.get(key, "") if isinstance(colours, dict) else ""
    # Texts of another language are others.
    return _label(str(text), str(colour))


@lru_cache(MAX_LABELS)
def _label(text: str, colour: str) -> SafeString:
    return format_html('<span class="mark{}">{}</span>', f" mark--{colour}" if colour else "", text)
