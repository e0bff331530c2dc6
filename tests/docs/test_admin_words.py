"""The check of the admin's words finds what Django derives, what code marks, and what Django and Unfold say."""

import importlib
import sys
from pathlib import Path

import pytest
from django import forms
from django.db import models
from django.utils.translation import override

from storefront.kit.plain_names import PLAIN_NAMES, plain_name

sys.path.insert(0, str(Path(__file__).parents[2] / "bin"))
admin_words = importlib.import_module("admin_words")


@pytest.mark.parametrize(
    "text",
    [
        "is active",
        "Is active",
        "base url",
        "sort order",
        "Change order",
        "View %s",
        "Select Record",
        "Username",
        "The {name} “{obj}” was changed successfully.",
        "Add another %(model)s",
        "Hold down “Control”, or “Command” on a Mac, to select more than one.",
        "Select this object for an action - {}",
        "Delete selected %(verbose_name_plural)s",
        "History",
        "Save as new",
        "0 of %(cnt)s selected",
        "Currently",
        "Clear",
        "---------",
        "Whether shoppers can see the page.",
        "Of buttons and links.",
    ],
)
def test_a_text_as_django_makes_it_is_found_with_its_place(text):
    assert [line.split(":")[0] for line in admin_words.problems([("here", text)])] == ["here"]


def test_plain_texts_are_not_found():
    texts = ["Active", "Position", "Of these orders, %(count)s can be printed.", "Saved.", "Two objects in one"]
    assert list(admin_words.problems(("here", text) for text in texts)) == []


def test_names_that_django_derives_are_among_the_texts():
    field = models.BooleanField()
    field.set_attributes_from_name("is_active")
    assert plain_name(field.verbose_name) == PLAIN_NAMES["is active"]
    found = list(admin_words.problems([("Product.is_active", field.verbose_name)]))
    assert [line.split(": write")[0] for line in found] == ["Product.is_active: 'is active'"]


def test_the_name_of_a_forms_field_is_its_label():
    class PlantedForm(forms.Form):
        is_active = forms.BooleanField()

    PlantedForm.__module__ = "storefront.planted"
    lines = list(admin_words.problems(admin_words.labels_of_forms()))
    assert [line for line in lines if "PlantedForm.is_active: 'Is active'" in line] == lines != []


def test_django_and_unfold_speak_the_projects_english():
    shown = {text for _place, text in admin_words.others()}
    assert {"“{obj}” saved.", "Choose", "What will be deleted"} <= shown
    assert not {"The {name} “{obj}” was changed successfully.", "Select record", "Objects"} & shown
    with override("en"):
        from django.utils.translation import gettext

        assert gettext("The {name} “{obj}” was changed successfully.") == "“{obj}” saved."
