"""Every key that a method cites is in references.bib, and every entry there is whole."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from zhat.citations import bibtex, entries
from zhat.methods._base import registry


def test_every_entry_is_found_once_in_alphabetical_order():
    text = resources.files("zhat").joinpath("references.bib").read_text(encoding="utf-8")
    assert re.findall(r"@\w+\{([^,]+),", text) == list(entries()) == sorted(entries())


@pytest.mark.parametrize("key", entries())
def test_entries_are_whole(key):
    entry = entries()[key]
    assert entry.count("{") == entry.count("}")
    fields = dict(re.findall(r"^  (\w+) *= \{(.*)\},$", entry, re.MULTILINE))
    assert {"author", "title", "year"} <= set(fields)
    assert key.endswith(fields["year"])
    assert {"journal", "booktitle", "publisher", "note"} & set(fields)


@pytest.mark.parametrize("name", registry())
def test_methods_cite_what_is_there(name):
    assert bibtex(registry()[name].cites)


def test_keys_are_given_back_in_order_and_once():
    text = bibtex(["neal2001", "chib1995", "neal2001"])
    assert re.findall(r"@\w+\{([^,]+),", text) == ["neal2001", "chib1995"]
    assert bibtex([]) == ""


def test_an_unknown_key_is_answered_with_the_nearest():
    with pytest.raises(KeyError, match=r"no entry 'chib1996'; did you mean 'chib1995'\?"):
        bibtex(["chib1996"])
