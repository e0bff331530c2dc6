"""Texts for people: as they are, or looked up in the language of whoever reads them, when they are shown."""

from django.utils.functional import Promise

Text = str | Promise
