"""Reasons and warnings: read back, whatever a later version adds."""

from __future__ import annotations

import json

from opperf.domain.reason import Reason, Warning


def test_a_reason_is_read_back() -> None:
    reason = Reason("crash", "it died", "run it alone", "SIGSEGV", "RuntimeError", "Traceback", "last words")
    assert Reason.from_json(json.loads(json.dumps(reason.to_json()))) == reason


def test_a_reason_has_every_key_in_json() -> None:
    keys = {"slug", "message", "hint", "signal", "exception", "traceback", "stderr"}
    assert set(Reason("a", "b").to_json()) == keys


def test_keys_that_are_missing_are_none_and_those_of_later_versions_are_passed_over() -> None:
    assert Reason.from_json({"slug": "a", "message": "b", "skipped": True}) == Reason("a", "b")


def test_a_warning_is_read_back() -> None:
    warning = Warning("odd", "it is odd", None)
    assert Warning.from_json(json.loads(json.dumps(warning.to_json()))) == warning
