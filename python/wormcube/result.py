"""What all results have in common."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import difflib
import html
import keyword
from typing import Any, Callable, ClassVar, Dict, Generic, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar

from .errors import Error, Failed, UsageError

__all__ = ["Result", "Results"]

R = TypeVar("R", bound="Result")


def field_name(key: str) -> str:
    """The attribute of a JSON key: `from` is a word of Python, so its attribute is `from_`."""
    return key + "_" if keyword.iskeyword(key) else key


def cell(value: object) -> str:
    """A value as tables print it."""
    if value is None:
        return "?"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


@dataclasses.dataclass(frozen=True)
class Result:
    """The base of all results: the fields are the keys of the program's JSON."""

    _columns: ClassVar[Tuple[str, ...]] = ()
    _nested: ClassVar[Mapping[str, str]] = {}
    extra: Dict[str, Any] = dataclasses.field(default_factory=dict, repr=False, compare=False, init=False)
    _source: Dict[str, Any] = dataclasses.field(default_factory=dict, repr=False, compare=False, init=False)

    @classmethod
    def from_json(cls: Type[R], source: Mapping[str, Any]) -> R:
        """Make a result from the program's JSON; unknown keys go into `extra`."""
        known = {field.name: field for field in dataclasses.fields(cls) if field.init}
        values: Dict[str, Any] = {}
        extra: Dict[str, Any] = {}
        for key, value in source.items():
            name = field_name(key)
            if name in known:
                values[name] = cls._convert(name, value)
            else:
                extra[key] = value
        for name in known:
            values.setdefault(name, None)
        made = cls(**values)
        made.extra.update(extra)
        made._source.update(source)
        return made

    @classmethod
    def _convert(cls, name: str, value: Any) -> Any:
        if name not in cls._nested:
            return value
        kind: Type[Result] = _kinds[cls._nested[name]]
        if isinstance(value, list):
            return [kind.from_json(item) if isinstance(item, dict) else item for item in value]
        return kind.from_json(value) if isinstance(value, dict) else value

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "passed" not in getattr(cls, "__annotations__", {}):  # best, replay, algorithms: there is nothing to pass
            setattr(cls, "passed", None)
        _kinds[cls.__name__] = cls

    def json(self) -> Dict[str, Any]:
        """The program's JSON."""
        return self._source

    def _scalars(self) -> Dict[str, Any]:
        """The numbers, words and truth values, without the reasons of missing ones; the runner-up of a ranking."""
        made = {field_name(key): value for key, value in self._source.items()
                if not isinstance(value, (dict, list)) and not key.endswith("_reason")}
        if made.get("margin") is not None and len(self._source.get("ranking", ())) > 1:
            made["runner_up"] = with_options(self._source["ranking"][1])
        return made

    def _row(self) -> Dict[str, Any]:
        """The main figures, as tables show them."""
        scalars = self._scalars()
        if self._columns:
            schedule = "schedule" in scalars  # it has no algorithm, and sizes of its own
            return {name: scalars[name] for name in self._columns if name in scalars and not (schedule and scalars[name] is None)}
        return dict(list(scalars.items())[:10])

    def require(self: R) -> R:
        """Return the result if it passed, or if its command gives no verdict (best, replay, algorithms); otherwise raise Failed with the first finding."""
        Results([self]).require()
        return self

    def _line(self) -> str:
        """The main figures in a line."""
        return "  ".join(f"{name} {cell(value)}" for name, value in self._row().items())

    def __str__(self) -> str:
        return f"{self._line()}\n{finding(self)}" if self._source.get("passed") is False else self._line()

    def _repr_html_(self) -> str:
        return table_html([self._row()])


_kinds: Dict[str, Type[Result]] = {}


def with_options(call: Mapping[str, Any]) -> str:
    """An algorithm with its options, as --algorithm takes it."""
    return ":".join([call["algorithm"], *(f"{name}={value}" for name, value in (call.get("options") or {}).items())])


def finding(result: Result) -> str:
    """The first thing that is wrong, in the program's words."""
    source = result.json()
    for key in ("first", "failures", "problems"):
        said = source.get(key)
        if said:
            return str(said[0] if isinstance(said, list) else said)
    for key in ("passed", "delivered"):
        if source.get(key) is None and source.get(key + "_reason"):
            return f"{key} is not known: {source[key + '_reason']}"
    for key in ("remark", "status"):
        if source.get(key):
            return str(source[key])
    return f"not passed: {result._line()}"


def table_html(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as an HTML table; the page's own style applies, light or dark."""
    heads = columns_of(rows)
    names = "".join(f"<th>{html.escape(head).replace('_', '_<wbr>')}</th>" for head in heads)
    lines = [f'<div style="overflow-x:auto"><table><thead><tr>{names}</tr></thead><tbody>']
    for row in rows:
        lines.append("<tr>" + "".join(f"<td>{html.escape(cell(row[head])) if head in row else ''}</td>" for head in heads) + "</tr>")
    return "".join(lines) + "</tbody></table></div>"


def table_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a table of plain text."""
    heads = columns_of(rows)
    cells = [heads] + [[cell(row[head]) if head in row else "" for head in heads] for row in rows]
    wide = [max(map(len, column)) for column in zip(*cells)]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(line, wide)).rstrip() for line in cells)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> List[str]:
    """The names of all columns, in the order in which rows first have them."""
    return list(dict.fromkeys(name for row in rows for name in row))


class Results(List[R], Generic[R]):
    """A list of results, with the table, the data frame, and groups of it."""

    def frame(self) -> Any:
        """A pandas DataFrame: one row per result, scalars only."""
        try:
            import pandas
        except ImportError:
            raise Error("frame() needs pandas: apt install python3-pandas, or pip install pandas") from None
        return pandas.DataFrame([result._scalars() for result in self])

    def by(self, key: str) -> Dict[Any, "Results[R]"]:
        """The results for each value of a key, in the order of their first."""
        groups: Dict[Any, Results[R]] = {}
        for result in self:
            if not hasattr(result, key):
                near = difflib.get_close_matches(key, [field.name for field in dataclasses.fields(result)], 1)
                raise UsageError(f"{type(result).__name__} has no key '{key}'" + (f" (did you mean '{near[0]}'?)" if near else ""))
            groups.setdefault(getattr(result, key), Results()).append(result)
        return groups

    def where(self, test: Callable[[R], bool]) -> "Results[R]":
        """The results that a function accepts."""
        return Results(result for result in self if test(result))

    @property
    def passed(self) -> Optional[bool]:
        """Whether all results passed; None if no result is wrong and some have no verdict, such as those of best and replay."""
        verdicts = [result.json().get("passed") for result in self]
        return False if False in verdicts else None if None in verdicts else True

    def require(self) -> "Results[R]":
        """Return the results if all passed, or if their command gives no verdict; otherwise raise Failed with the first finding."""
        for result in self:
            if result.json().get("passed", True) is not True:
                raise Failed(finding(result), command=str(result.json().get("provenance", {}).get("command", "")), results=self)
        return self

    def __str__(self) -> str:
        return table_text([result._row() for result in self])

    def _repr_html_(self) -> str:
        return table_html([result._row() for result in self])
