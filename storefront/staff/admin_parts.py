"""What a page of the admin is declared with: columns, groups of fields, and actions.

Each action is declared once, where it is written: its button, the right that it needs, what it can move, and when it is
offered. `ShopScopedAdmin` collects them: its lists of actions and its `rights` follow from the declarations.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from typing import Any

from django.contrib import admin, messages
from django.http import HttpResponse, HttpResponseNotAllowed
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext_lazy
from unfold.decorators import action, display
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm

from storefront.kit.format import format_money, format_time
from storefront.kit.plain_names import plain_name
from storefront.kit.text import Text
from storefront.shops.rights import Right

PRIMARY, DANGER = ActionVariant.PRIMARY, ActionVariant.DANGER
ON_ROW, ON_LIST, ON_CHOSEN, OWN_PAGE = "actions_detail", "actions_list", "actions", "own_pages"


class Moves(StrEnum):
    """What a form or an action can move. Whatever moves something is to be confirmed by the person who does it."""

    MONEY = "money"
    PERSONAL_DATA = "personal data"
    IDENTITY = "identity"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Deed:
    """The declaration of an action. `place` is the list of the page on which it stands. It is offered on rows for which
    `when` is true. A page of its own has a `route`. With `asks`, a GET only asks whether to do it."""

    place: str
    right: Right | None
    moves: Moves
    when: Callable[[Any], Any] | None = None
    route: str = ""
    asks: bool = False


def deed(title: Text, right: Right, moves: Moves, **given: Any) -> Callable:
    """An action on a row's page, which gets the request, the row, and with `asks` the dialog's form.

    The text that it returns is shown on the row's page; it can return a response instead. `when` decides on
    which rows it is offered; `url_path`, `icon` and `variant` are the theme's.
    """
    return _button(ON_ROW, title, right, moves, **given)


def list_deed(title: Text, right: Right | None, moves: Moves, **given: Any) -> Callable:
    """An action of the list, which gets the request, and the form of its dialog."""
    return _button(ON_LIST, title, right, moves, **given)


def chosen_deed(title: Text, right: Right, moves: Moves) -> Callable:
    """An action on chosen rows of the list, which gets the request and the rows. The text that it returns is shown."""

    def declared(act: Callable) -> Callable:
        @admin.action(description=title)  # type: ignore[arg-type]
        @wraps(act)
        def carry_out(page: Any, request: Any, rows: Any) -> HttpResponse | None:
            done = act(page, request, rows)
            if isinstance(done, str):
                page.message_user(request, done, messages.SUCCESS)
                return None
            return done

        return _declare(carry_out, Deed(ON_CHOSEN, right, moves))

    return declared


def own_page(route: str, needs: str, moves: Moves) -> Callable:
    """A page at an address of its own, for whoever may do what `needs` names: `view` or `change`."""

    def declared(act: Callable) -> Callable:
        @wraps(act)
        def shown(page: Any, request: Any, object_id: str | None = None) -> HttpResponse:
            if request.method not in ("GET", "HEAD", "POST"):
                return HttpResponseNotAllowed(["GET", "POST"])
            page.require(request, needs)
            return act(page, request) if object_id is None else act(page, request, page.row_or_404(request, object_id))

        return _declare(shown, Deed(OWN_PAGE, None, moves, route=route))

    return declared


def _button(
    place: str, title: Text, right: Right | None, moves: Moves, *, when: Callable[[Any], Any] | None = None, **look: Any
) -> Callable:
    def declared(act: Callable) -> Callable:
        question, dialog = getattr(act, "question", None), getattr(act, "dialog", None)

        @action(description=title, dialog=dialog, **look)
        @wraps(act)
        def carry_out(page: Any, request: Any, *form: Any, object_id: str | None = None) -> HttpResponse:
            row = None if object_id is None else page.row_or_404(request, object_id)
            of_row = [] if object_id is None else [row]

            def run() -> HttpResponse:
                done = act(page, request, *of_row, *form)
                return page.done(request, row, done) if isinstance(done, str) else done

            return page.once_sure(request, question(request, row), run) if question else run()

        return _declare(carry_out, Deed(place, right, moves, when, asks=bool(question or dialog)))

    return declared


def _declare(act: Any, deed: Deed) -> Callable:
    act.deed = deed
    return act


def deeds_of(page: type) -> dict[str, Deed]:
    """The actions of a page by their names, those of its base classes first."""
    found: dict[str, Deed] = {}
    for owner in reversed(page.__mro__):
        declared = {name: getattr(each, "deed", None) for name, each in vars(owner).items()}
        found |= {name: deed for name, deed in declared.items() if isinstance(deed, Deed)}
    return found


def asks(title: Text, description: Text, submit: Text, form: type[BaseDialogForm] | None = None) -> Callable:
    """A dialog that asks before an action, below `deed`. `submit` is its button's text; a form has further fields."""

    def declared(act: Any) -> Callable:
        act.dialog = {"title": title, "description": description, "form_class": form, "form_submit_text": submit}
        return act

    return declared


def sure(title: Text, button: Text, *sentences: Text, more: Callable[..., dict[str, Any]] | None = None) -> Callable:
    """A page that asks before an action, below `deed`: its title, in which `{}` is the row, what will happen, and the
    button's text. `more` is given the request and the row, and returns further context of the page."""

    def declared(act: Any) -> Callable:
        act.question = lambda request, row: {
            "title": str(title).format(row),
            "sentences": sentences,
            "button": button,
            **(more(request, row) if more else {}),
        }
        return act

    return declared


class Labelled(tuple):
    """A value and its text: a list colours the text by the value, a read-only field has only the text."""

    def __str__(self) -> str:
        return str(self[1])


def column(
    title: Text, show: Callable[[Any], Any], *, by: str | None = None, label: Any = None, empty: str | None = None
) -> Callable:
    """A list column or read-only field with what `show` returns of a row, sorted by the database's column `by`.

    With `label`, colours by value, `show` returns the value, or the value and its text.
    """

    @display(description=title, ordering=by, label=label, empty_value=empty)
    def shown(self: Any, row: Any) -> Any:
        value = show(row)
        return Labelled(value) if isinstance(value, tuple) else value

    return shown


def badge(field: str, colours: Mapping[str, str], title: Text | None = None, *, by: str | None = None) -> Callable:
    """A column with the text of a column of choices, coloured by its value."""
    return column(
        title or gettext_lazy("status"),
        lambda row: (getattr(row, field), getattr(row, f"get_{field}_display")()),
        by=by,
        label=colours,
    )


def money(field: str, title: Text | None = None) -> Callable:
    """A column that shows an amount with its currency."""
    return column(
        title or gettext_lazy(plain_name(field)),
        lambda row: format_money(getattr(row, field), getattr(row, "currency", None) or row.shop.currency),
        by=field,
    )


def moment(field: str, title: Text | None = None, *, by: str | None = None) -> Callable:
    """A column that shows a time in the shop's time zone, sorted by itself or by the column `by`."""
    return column(
        title or gettext_lazy(field.removesuffix("_at").replace("_", " ")),
        lambda row: format_time(getattr(row, field), row.shop.timezone) or "–",
        by=by or field,
    )


def person(user: Any, nobody: str = "–") -> str:
    """The name of a member of staff."""
    return (user.get_full_name() or user.get_username()) if user else nobody


def link(page: str, key: Any, text: Any) -> str:
    """A link to the admin's page `page` of the row with this key."""
    return format_html('<a href="{}">{}</a>', reverse(f"admin:{page}", args=[key]), text)


def table(rows: Iterable[Iterable[Any]], headings: Iterable[Text] = ()) -> str:
    """A table for a read-only field."""
    lines = (
        format_html(
            "<tr>{}</tr>", format_html_join("", '<td class="pr-4 py-1 align-top">{}</td>', ((each,) for each in row))
        )
        for row in rows
    )
    head = format_html_join("", '<th class="pr-4">{}</th>', ((each,) for each in headings))
    return format_html(
        '<table class="text-left">{}<tbody>{}</tbody></table>',
        format_html("<thead><tr>{}</tr></thead>", head) if head else "",
        format_html_join("", "{}", ((line,) for line in lines)),
    )


def names(text: str) -> list[Any]:
    """Names that are separated by spaces. Those that are joined by `+` stand on one line of a form."""
    return [tuple(each.split("+")) if "+" in each else each for each in text.split()]


def layout(*groups: str) -> list[tuple[Text | None, dict[str, Any]]]:
    """The groups of a form's fields: `Price: price sale_price`, or the fields of a group without a title."""
    parts = [group.rpartition(": ") for group in groups]
    return [(gettext_lazy(title) if title else None, {"fields": names(fields)}) for title, _, fields in parts]


def choice_filter(
    title: Text, parameter: str, options: Mapping[str, tuple[Text, Callable]], otherwise: Any = None
) -> Any:
    """A filter of a list. Each option has its text and the function that narrows the rows, which is given the request,
    too. Without a choice, the rows are those that `otherwise` returns, or all."""

    class Choices(admin.SimpleListFilter):
        def lookups(self, request: Any, model_admin: Any) -> list[tuple[str, str]]:
            return [(value, str(text)) for value, (text, _) in options.items()]

        def queryset(self, request: Any, queryset: Any) -> Any:
            _, narrow = options.get(self.value() or "", ("", otherwise))
            return narrow(queryset, request) if narrow else queryset

    Choices.title, Choices.parameter_name = title, parameter  # type: ignore[assignment]
    return Choices


def view_and_edit(view: Right, change: Right) -> dict[str, Right]:
    """The `rights` of a page where one right covers adding, changing and deleting."""
    return {"view": view, "add": change, "change": change, "delete": change}
