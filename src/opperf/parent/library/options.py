"""The options of the functions, as their signatures show them; `keywords` has them for a type checker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, Union, cast

from opperf.domain.errors import OpperfError
from opperf.parent.documents.tolerances import Tolerances
from opperf.parent.library.spelling import in_python
from opperf.parent.sources.option import Declaration, declarations

#: An operator by its name, or a function of your own.
Operator: TypeAlias = Union[str, Callable[..., object]]
Names: TypeAlias = Union[str, Sequence[str], None]
Paths: TypeAlias = Union[str, Path, Sequence[Union[str, Path]], None]
Inputs: TypeAlias = Union[Mapping[str, object], Sequence[Mapping[str, object]], None]

F = TypeVar("F", bound=Callable[..., object])


def with_options(*groups: Any) -> Callable[[F], F]:
    """Show the options of classes in the signature of a function; raise `TypeError` for one that is not among them."""

    def show(function: F) -> F:
        own = [one for one in signature(function).parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        more = [_parameter(one) for group in groups for one in declarations(group)]
        full_signature = Signature([*own, *more], return_annotation=signature(function).return_annotation)

        @wraps(function)
        def checked(*words: object, **keywords: object) -> object:
            from opperf.parent.workers.claims import LOCKS

            full_signature.bind(*words, **keywords)
            try:
                with LOCKS.until_end():
                    return function(*words, **keywords)
            except OpperfError as error:
                raise in_python(error, full_signature.parameters) from error.__cause__

        vars(checked)["__signature__"], vars(checked)["groups"] = full_signature, groups
        return cast("F", checked)

    return show


def _parameter(declaration: Declaration) -> Parameter:
    default = declaration.default.usual if isinstance(declaration.default, Tolerances) else declaration.default
    return Parameter(
        declaration.name,
        Parameter.KEYWORD_ONLY,
        default=Parameter.empty if declaration.is_required else default if default != () else None,
        annotation=declaration.keyword,
    )
