"""What text may say that fairseq evaluates; everything else is refused."""

import ast
import random

import pytest

from syntax_nmt.checkpoints.literal import is_inert, is_literal

LITERALS = [
    *("1", "-1.5", "+2", "True", "None", "'word'", " 3", "\t3", "1e9", "0.9, 0.98", "()", "[]"),
    *("(0.9, 0.98)", "[(512, 3)] * 20", "[(512, 3)] * 9 + [(1024, 3)] * 4", "(1, 2) + (3,)"),
    *("{'name': 'scaled_dot_product', 'dropout': 0.1}", "[True, False]", "[[[1]]]", "{}"),
]
OTHERS = [
    *("name", "a.b", "print(1)", "1 + 1", "2 ** 9", "[1] * n", "20 * [1]", "[1] * -1", "[1] - [2]"),
    *("--1", "-True", "-'a'", "~1", "not 1", "1 if 1 else 2", "[*[1]]", "{**{}}", "{1}", "f'{1}'"),
    *("[x for x in [1]]", "lambda: 0", "(x := 1)", "[1][0]", "1 < 2", "1 and 2", "b'a'", "1j"),
    *("...", "", " ", "1;2", "x = 1", "(", "\\", "'\\x41'", "1 2", "\x00", "'a"),
    *("await x", "yield"),
]


@pytest.mark.parametrize("text", LITERALS)
def test_literals(text):
    assert is_literal(text)
    eval(text, {"__builtins__": {}})  # what fairseq does with it


@pytest.mark.parametrize("text", OTHERS)
def test_no_literals(text):
    assert not is_literal(text)


@pytest.mark.parametrize(
    "text",
    [
        *("[1] * 10001", "[1] * 100 * 100 * 100", "[[[0] * 999] * 999] * 999", "[0, 0] * 5001"),
        *("[" * 9 + "]" * 9, "[" * 10**6, "-" * 10**6 + "1", "1" * 5000, "(1,)" + " + (1,)" * 9),
    ],
)
def test_no_literal_of_any_size(text):
    assert not is_literal(text)


@pytest.mark.parametrize("text", ["zh-Hans", "en-de,de-fr", "NP VP O", "@@ ", "{'a': true}", "a.b"])
def test_words_do_nothing(text):
    assert is_inert(text)


ATOMS = ("1", "-2.5", "'a'", "None", "True", "x", "os", "os.system", "b'a'", "1j", "...")
SHAPES = (
    *("({},)", "[{}, {}]", "{{{}: {}}}", "{} + {}", "{} * {}", "-{}", "({})", "{}({})", "{}[{}]"),
    *("{}.a", "[{} for {} in {}]", "f'{{{}}}'", "({} if {} else {})", "(lambda: {})", "{{{}}}"),
    *("[*{}]", "{{**{}}}", "({} := {})", "{} and {}", "{} < {}", "not {}", "{} ** {}", "{}[{}:]"),
    *("{{{}: {} for {} in {}}}", "({} for {} in {})", "{}({}, *{}, **{})", "{} | {}", "{} if {}"),
)
ALLOWED = (ast.Expression, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Load)
ALLOWED += (ast.UnaryOp, ast.USub, ast.UAdd, ast.BinOp, ast.Add, ast.Mult)


def expression(generator: random.Random, depth: int) -> str:
    """Something like Python, nested up to a depth."""
    if depth == 0 or generator.random() < 0.2:
        return generator.choice(ATOMS)
    shape = generator.choice(SHAPES)
    holes = shape.replace("{{", "").replace("}}", "").count("{}")
    return shape.format(*(expression(generator, depth - 1) for _ in range(holes)))


def check_generated(count: int, seed: int) -> int:
    """Holds the allow-lists to what they promise; gives the number of literals."""
    generator = random.Random(seed)
    literals = 0
    for _ in range(count):
        text = expression(generator, generator.randint(1, 4))
        try:
            nodes = list(ast.walk(ast.parse(text, mode="eval")))
        except SyntaxError:
            assert not is_literal(text)
            continue
        runs = (ast.Call, ast.comprehension, ast.NamedExpr, ast.Subscript, ast.Lambda)
        if any(isinstance(node, (*runs, ast.FormattedValue, ast.Starred)) for node in nodes):
            assert not is_inert(text), text
        if is_literal(text):
            literals += 1
            assert all(isinstance(node, ALLOWED) for node in nodes), text
            try:
                value = eval(text, {"__builtins__": {}})
            except TypeError:  # a list and a tuple added, a list as a key
                continue
            assert value == eval(repr(value), {"__builtins__": {}}), text
    return literals


def test_generated_expressions():
    assert check_generated(5_000, seed=1) > 100


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_generated_expressions(seed):
    assert check_generated(100_000, seed) > 100
