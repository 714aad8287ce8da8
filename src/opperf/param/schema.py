"""The JSON schema of PARAM's configs, made of the grammar.

It describes single values. What hangs together (a `__copy__` that points somewhere, sweeps of one length) is checked by
`opperf config check` alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from opperf.param import grammar
from opperf.param.grammar import ARGUMENTS, COPY, LIST, RANGE, SHARED, ZIP, ArgumentType

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, object]:
    """Return the schema."""
    properties = {"args": _list({"$ref": "#/$defs/argument"}), "kwargs": _object_of({"$ref": "#/$defs/argument"})}
    return {
        "$schema": DRAFT,
        "title": "PARAM benchmark config, as opperf reads it",
        "anyOf": [{**_object_of({"$ref": "#/$defs/operator"}), "minProperties": 1}, {"$ref": "#/$defs/batch"}],
        "$defs": {
            "operator": {
                **_object(
                    {
                        "config": {**_list({"$ref": "#/$defs/entry"}), "minItems": 1},
                        "input_data_generator": _words(grammar.GENERATORS),
                        "build_data_generator": _or_null(grammar.GENERATORS),
                        "input_iterator": _or_null(grammar.ITERATORS),
                        "build_iterator": _or_null(grammar.ITERATORS),
                        "configs": {**_list({"$ref": "#/$defs/entry"}), "deprecated": True},
                    },
                    grammar.OPERATOR_KEYS,
                ),
                "required": ["input_data_generator"],
                "oneOf": [{"required": ["config"]}, {"required": ["configs"]}],
            },
            "entry": {
                **_object(
                    {
                        "build": _list({"$ref": "#/$defs/spec"}),
                        "input": {**_list({"$ref": "#/$defs/spec"}), "minItems": 1},
                    },
                    grammar.CONFIG_KEYS,
                ),
                "minProperties": 1,
            },
            "spec": _object({**properties, "id": {"type": "string"}}, grammar.SPEC_KEYS),
            "batch": {
                **_object(
                    {
                        "op_name": {"type": "string"},
                        "op_info": {"$ref": "#/$defs/operator"},
                        "build_id": {"type": "string"},
                        "run_options": {},
                    },
                    grammar.BATCH_KEYS,
                ),
                "required": ["op_name", "op_info"],
            },
            "argument": {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in ARGUMENTS]},
            **{name: _argument(name, argument) for name, argument in ARGUMENTS.items()},
        },
    }


def _argument(name: str, argument: ArgumentType) -> dict[str, object]:
    """Return the schema of one type: for each key, a single value, a range and a list."""
    keys: dict[str, Mapping[str, object]] = {"type": {"const": name}, "name": {}}
    for word, declaration in argument.keys.items():
        result = dict(declaration.kind.schema)
        if declaration.ranged is not None:
            array = _list(dict(declaration.kind.schema))
            result = {"anyOf": [result, *(one for one in (dict(declaration.ranged.schema), array) if one != result)]}
        keys[word] = {"description": declaration.meaning, **result}
    able = [word for word, one in argument.keys.items() if one.ranged is not None]
    if able:
        keys |= {macro: _list({"enum": able}) for macro in (RANGE, LIST)} | {ZIP: {"type": "string"}}
    if name == "tensor":
        keys[COPY] = _list(_object({"shape": {"type": "array"}}, {}))
    result = _object(keys, {word: text for word, text in SHARED.items() if word in keys})
    required = ["type", *(word for word, one in argument.keys.items() if one.required)]
    either = {"oneOf": [{"required": [word]} for word in argument.either]} if argument.either else {}
    return {"description": argument.meaning, **result, "required": required, **either}


def _object(keys: Mapping[str, Mapping[str, object]], meanings: Mapping[str, str]) -> dict[str, object]:
    properties = {
        name: ({"description": meanings[name], **one} if name in meanings else one) for name, one in keys.items()
    }
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _list(items: dict[str, object]) -> dict[str, object]:
    return {"type": "array", "items": items}


def _object_of(values: dict[str, object]) -> dict[str, object]:
    return {"type": "object", "additionalProperties": values}


def _words(names: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the schema of names, and of what older configs called them."""
    return {"enum": [*names, *(old for old, new in grammar.OLD_NAMES.items() if new in names)]}


def _or_null(names: tuple[str, ...]) -> dict[str, object]:
    """Return the schema of names where nothing may be said."""
    return {"enum": [*_words(names)["enum"], None]}
