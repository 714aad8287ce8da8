"""Write the options of the library's functions for a type checker: `opperf.parent.library.keywords`.

Python has no way to say that a function takes the fields of a class as keywords, but for a `TypedDict`. So those are
written from the classes that declare the options; `tests/docs` fails where the module is not what it would be.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import opperf
from opperf.parent.library import options
from opperf.parent.sources.option import Declaration, declarations

HEAD = '''"""The options of the functions for a type checker; `make generate` writes it from `sources/options`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from typing_extensions import Required

from opperf.parent.library.options import Inputs, Names, Operator, Paths
from opperf.parent.library.results import Suite
'''


def text() -> str:
    """Return the module."""
    functions = {
        name: function.groups
        for name in opperf.__all__
        if inspect.isfunction(function := getattr(opperf, name)) and hasattr(function, "groups")
    }
    whole = {group.__name__: group for groups in functions.values() for group in groups if isinstance(group, type)}
    classes = [_class(name, [], declarations(group), group.__doc__) for name, group in sorted(whole.items())]
    for name, groups in functions.items():
        bases = [group.__name__ for group in groups if isinstance(group, type)]
        more = [one for group in groups if not isinstance(group, type) for one in declarations(group)]
        classes.append(_class(f"{name.title()}Options", bases, more, f"The options of `{name}`."))
    return "\n\n".join([HEAD, *classes])


def _class(name: str, bases: Iterable[str], options: Iterable[Declaration], doc: Any) -> str:
    lines = [f"    {one.name}: {f'Required[{one.keyword}]' if one.is_required else one.keyword}\n" for one in options]
    head = f"class {name}({', '.join([*bases] or ['TypedDict'])}, total=False):\n"
    return f'{head}    """{str(doc).partition(chr(10))[0]}"""\n' + (f"\n{''.join(lines)}" if lines else "")


if __name__ == "__main__":
    Path(options.__file__).with_name("keywords.py").write_text(text(), encoding="utf-8")
