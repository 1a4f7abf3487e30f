"""Results: their JSON, what is read of it, and its schema."""

from dataclasses import dataclass, field

import pytest

from syntax_nmt.reporting.findings import Findings, Table
from syntax_nmt.reporting.result import CommandResult, Result


@dataclass
class Part(Result):
    """A part."""

    from_: int
    share: float | None
    seeds: tuple[int, ...] = ()


@dataclass
class Whole(CommandResult):
    """A whole of parts.

    Further lines are not in the schema.
    """

    name: str
    sound: bool
    parts: dict[str, list[Part]]
    more: Part | None = None
    lines: list[str] = field(default_factory=list)

    def findings(self, digits=1):
        """A row for each part."""
        rows = [[name, f"{part.share:.{digits}f}"] for name, (part,) in self.parts.items()]
        return Findings([Table(["part", "share"], rows)])


WHOLE = Whole("a", True, {"x": [Part(0, 2.25)]}, lines=["l"])
FIGURES = {
    "name": "a",
    "sound": True,
    "parts": {"x": [{"from": 0, "share": 2.25, "seeds": []}]},
    "lines": ["l"],
}


def test_the_object_has_the_fields_in_order():
    assert WHOLE.to_json() == FIGURES
    assert list(WHOLE.to_json()) == ["name", "sound", "parts", "lines"]
    assert Part(1, None, (2,)).to_json() == {"from": 1, "share": None, "seeds": [2]}


def test_it_comes_back():
    assert Whole.from_json(FIGURES) == WHOLE
    assert Whole.from_json({**FIGURES, "of a newer version": 1}) == WHOLE
    more = {**FIGURES, "more": {"from": 3, "share": 1, "seeds": [1, 2]}}
    assert Whole.from_json(more).more == Part(3, 1, (1, 2))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": 1}, "name: 1 is no str"),
        ({"sound": 1}, "sound: 1 is no bool"),
        ({"name": None}, "name: None is no str"),
        ({"parts": []}, r"parts: \[\] is no dict"),
        ({"parts": {"x": [{"from": True, "share": 1}]}}, "parts: from: True is no int"),
        ({"parts": {"x": [{"from": 1, "share": "1"}]}}, "parts: share: '1' is no float"),
        ({"parts": {"x": [{"from": 1}]}}, "parts: has no share"),
        ({"more": 1}, "more: 1 is no object"),
        ({"lines": "l"}, "lines: 'l' is no list"),
    ],
)
def test_another_object_is_refused(changed, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        Whole.from_json({**FIGURES, **changed})


@pytest.mark.parametrize("left_out", FIGURES)
def test_what_the_schema_requires_is_what_cannot_be_read_without(left_out):
    figures = {name: value for name, value in FIGURES.items() if name != left_out}
    if left_out in Whole.schema()["required"]:
        with pytest.raises(ValueError, match=f"^has no {left_out}$"):
            Whole.from_json(figures)
    else:
        assert Whole.from_json(figures).to_json() == {**figures, left_out: []}


def test_tables_have_the_wanted_digits_and_json_has_all():
    assert WHOLE.text(digits=2).split() == ["part", "share", "------", "-------", "x", "2.25"]
    assert str(WHOLE) == WHOLE.text()
    assert '"share": 2.25' in WHOLE.text("json")


def test_the_schema():
    jsonschema = pytest.importorskip("jsonschema", reason="the extra `experiments`")
    schema = Whole.schema()
    assert schema["description"] == "A whole of parts."
    jsonschema.validate(FIGURES, schema)
    jsonschema.validate({**FIGURES, "more": {"from": 1, "share": None, "seeds": [1]}}, schema)
    for wrong in ({"sound": 1}, {"more": {"from": 1}}, {"other": 1}, {"lines": [1]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**FIGURES, **wrong}, schema)
