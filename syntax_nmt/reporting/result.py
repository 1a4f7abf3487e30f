"""Results of commands: attributes for Python, an object for JSON, and tables for readers.

A result is a dataclass of numbers, texts, lists, dictionaries and other results. Its JSON object
has the fields in their order, under their own names (`from` of `from_`). None is null, but a field
with the default None is left out: it is of something that was not asked for. A field with any
default may be missing in JSON that is read, as older versions wrote it; all others are required.
"""

import json
import types
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from syntax_nmt.reporting.findings import JSON, TEXT, Findings

_R = TypeVar("_R", bound="Result")


class Result:
    """A result, or a part of one; its subclasses are dataclasses."""

    def to_json(self) -> dict[str, Any]:
        """The object that JSON has of it."""
        values = [(key, each, getattr(self, each.name)) for key, each in keyed_fields(type(self))]
        return {
            key: _to_json(value)
            for key, each, value in values
            if value is not None or each.default is not None
        }

    @classmethod
    def from_json(cls: type[_R], figures: Any) -> _R:
        """The result that a JSON object holds. What else it holds is not read.

        Raises:
            ValueError: a figure is missing or of another type; the message says which.
        """
        if not isinstance(figures, Mapping):
            raise ValueError(f"{figures!r:.40} is no object")
        types_of = get_type_hints(cls)
        given = {}
        for key, each in keyed_fields(cls):
            if key in figures:
                try:
                    given[each.name] = _from_json(types_of[each.name], figures[key])
                except ValueError as error:
                    raise ValueError(f"{key}: {error}") from None
            elif _is_required(each):
                raise ValueError(f"has no {key}")
        return cls(**given)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON Schema of :meth:`to_json`."""
        types_of = get_type_hints(cls)
        return {
            "title": cls.__name__,
            "description": (cls.__doc__ or "").partition("\n")[0],
            "type": "object",
            "properties": {key: _schema(types_of[each.name]) for key, each in keyed_fields(cls)},
            "required": [key for key, each in keyed_fields(cls) if _is_required(each)],
            "additionalProperties": False,
        }


class CommandResult(Result):
    """What a command found."""

    @abstractmethod
    def findings(self, digits: int = 1) -> Findings:
        """Tables and notes for readers.

        Args:
            digits: after the point of scores.
        """

    def text(self, form: str = TEXT, digits: int = 1) -> str:
        """The result in a form of :data:`~syntax_nmt.reporting.findings.FORMATS`.

        Args:
            digits: after the point of scores in tables; JSON has all.
        """
        return json_text(self.to_json()) if form == JSON else self.findings(digits).text(form)

    def __str__(self) -> str:
        return self.text()


def json_text(figures: Any) -> str:
    """Figures as JSON for readers and programs.

    Raises:
        ValueError: one is infinite or NaN, which JSON cannot say.
    """
    return json.dumps(figures, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def keyed_fields(result: type[Result]) -> Iterator[tuple[str, "Field[Any]"]]:
    """The fields of a result, with their keys in JSON."""
    assert is_dataclass(result)
    return ((each.name.removesuffix("_"), each) for each in fields(result))


def _is_required(field: "Field[Any]") -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _to_json(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_json()
    if isinstance(value, Mapping):
        return {key: _to_json(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_json(each) for each in value]
    return value


def _from_json(wanted: Any, value: Any) -> Any:
    """The value of a field of a wanted type."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        (of_value,) = (part for part in parts if part is not type(None))
        return None if value is None and type(None) in parts else _from_json(of_value, value)
    if origin in (list, tuple) and isinstance(value, list):
        return origin(_from_json(parts[0], each) for each in value)
    if origin is dict and isinstance(value, dict):
        return {key: _from_json(parts[1], each) for key, each in value.items()}
    if origin is None and issubclass(wanted, Result):
        return wanted.from_json(value)
    if origin is None and _IS_OF[wanted](value):
        return value
    raise ValueError(f"{value!r:.40} is no {getattr(wanted, '__name__', wanted)}")


def _schema(wanted: Any) -> dict[str, Any]:
    """The JSON Schema of a field's type."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(part) for part in parts]}
    if origin in (list, tuple):
        return {"type": "array", "items": _schema(parts[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(parts[1])}
    return wanted.schema() if issubclass(wanted, Result) else {"type": _NAMES[wanted]}


_NAMES = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
_IS_OF: dict[type, Callable[[Any], bool]] = {
    bool: lambda value: isinstance(value, bool),
    int: lambda value: type(value) is int,
    float: lambda value: type(value) in (int, float),
    str: lambda value: isinstance(value, str),
}
