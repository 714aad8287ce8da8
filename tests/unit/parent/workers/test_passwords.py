"""Passwords in URLs are hidden wherever SQLAlchemy takes them from, and wherever they spill over."""

from __future__ import annotations

import random
import sys
from urllib.parse import quote

import pytest
from sqlalchemy.engine import make_url

from opperf.domain.errors import HarnessError, InputError
from opperf.parent.commands.nightly.nightly import pin
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.planning.side_text import parse_side
from opperf.parent.store.database.connection import Address, connect
from opperf.parent.workers.passwords import environment_of, hide_passwords, own_command


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://ann:secret@db/perf", "postgresql://ann:***@db/perf"),
        ("postgresql://ann:se/cret@db/perf", "postgresql://ann:***@db/perf"),
        ("postgresql://ann:se cret@db/perf", "postgresql://ann:***@db/perf"),
        ("postgresql://ann:se@cret@db/perf", "postgresql://ann:***@db/perf"),
        ("postgresql://:secret@db/perf", "postgresql://:***@db/perf"),
        ("postgresql://ann@db/perf?password=secret", "postgresql://ann@db/perf?password=***"),
        ("postgresql://db/perf?p%61ssword=secret", "postgresql://db/perf?password=***"),
        ("postgresql://db/perf?a=1&sslpassword=secret", "postgresql://db/perf?a=1&sslpassword=***"),
        ("postgresql://ann:1@db/perf?password=secret", "postgresql://ann:***@db/perf?password=***"),
        ("postgresql://ann:1@db:port/perf?password=secret", "postgresql://ann:***@db:port/perf?***"),
        ("https://secret@host/simple", "https://***@host/simple"),
        ("torch @ git+https://u:secret@host/x", "torch @ git+https://u:***@host/x"),
        ("make A=b://u/h B=postgresql://u:secret@h/d", "make A=b://u/h B=postgresql://u:***@h/d"),
        ("http://127.0.0.1/?token=secret", "http://127.0.0.1/?token=***"),
    ],
)
def test_a_password_is_hidden(text: str, shown: str) -> None:
    assert hide_passwords(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ann@db/perf?sslmode=require", "sqlite:////a/b.db", "ray://head:10001", "numpy @ file:///a@b/x.whl",
        "torch:aten::mm", "a@b?c", "--label", "",
    ],
)  # fmt: skip
def test_what_has_no_password_stays_as_it_is(text: str) -> None:
    assert hide_passwords(text) == text


def test_whatever_the_parser_takes_for_a_password_is_hidden() -> None:
    generator = random.Random(35)
    for _ in range(2000):
        letters = [generator.choice("QZ@:/?#&=% +[]'\\") for _ in range(generator.randint(1, 12))]
        password = "".join(letters)
        word = f"--database=postgresql://ann:{generator.choice([password, quote(password, safe='')])}@db/perf"
        assert hide_passwords(word) == "--database=postgresql://ann:***@db/perf"
        url = make_url("postgresql://db/perf").update_query_dict({"password": password})
        assert hide_passwords(url.render_as_string(hide_password=False)) == "postgresql://db/perf?password=***"


@pytest.mark.parametrize(
    "url", ["postgresql://ann:hidden@127.0.0.1:1/perf", "postgresql://127.0.0.1:1/perf?password=hidden"]
)
def test_neither_an_address_nor_what_its_driver_says_has_the_password(url: str) -> None:
    address = Address.of(url)
    assert "hidden" not in f"{address} {address!r}"
    assert address.hide("the user gave hidden") == "the user gave ***"
    with pytest.raises(HarnessError) as caught:
        connect(address)
    assert "hidden" not in f"{caught.value} {caught.value.hint}"


def test_the_command_of_a_run_has_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["mine.py", "postgresql://ann:secret@db/perf"])
    assert own_command() == ("mine.py", "postgresql://ann:***@db/perf")


WHEEL = "torch @ https://ann:s3cret@wheels.example/torch.whl"


@pytest.mark.parametrize("more", ["", " + keras"])
def test_an_environment_shows_no_password_and_is_installed_with_it(more: str) -> None:
    spec = environment_of(WHEEL + more)
    assert spec.text == f"torch @ https://ann:***@wheels.example/torch.whl{more}"
    assert spec.requirements[0] == WHEEL
    assert environment_of(spec.text) == spec


@pytest.mark.parametrize("text", ["numpy==2.2.6", "current", "python=/opt/a@b/bin/python", "torch @ file:///t@1.whl"])
def test_an_environment_without_a_password_is_as_it_was(text: str) -> None:
    assert environment_of(text) == EnvironmentSpec.parse(text)


def test_a_message_about_an_environment_shows_no_password() -> None:
    with pytest.raises(InputError) as caught:
        environment_of(f"{WHEEL} ; python_version > '3'")
    assert "s3cret" not in str(caught.value)


def test_a_side_shows_no_password() -> None:
    side = parse_side(f"{WHEEL};threads=2", lambda _: None)
    assert (side.text, side.side.environment) == (hide_passwords(f"{WHEEL};threads=2"), environment_of(WHEEL).text)
    assert "s3cret" not in repr(side)


def test_a_build_of_a_night_shows_no_password() -> None:
    assert pin(f"{WHEEL};threads=2") == "torch @ https://ann:***@wheels.example/torch.whl;threads=2"
