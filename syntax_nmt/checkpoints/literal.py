"""Python expressions in untrusted checkpoints, which fairseq will evaluate.

Both are allow-lists of syntax: a deny-list would have to know every way in which Python runs code
(a comprehension that assigns `__class_getitem__` needs no call).
"""

import ast

_LENGTH = 2_000  # characters of an expression
_VALUES = 10_000  # that it makes
_DEPTH = 8  # of brackets in brackets
_PLAIN = (type(None), bool, int, float, str)
_LISTS = (ast.Tuple, ast.List, ast.BinOp)

# Syntax that only reads names and computes with them; it allows words such as `zh-Hans` and
# `train,train1` in options that fairseq does not evaluate.
_INERT = (
    *(ast.Expression, ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Dict),
    *(ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context),
)
_INERT_LENGTH = 100_000


def is_literal(text: str) -> bool:
    """Whether text is a literal of bounded size.

    Constants, tuples, lists, dictionaries and signs, the sum of two lists and the `[(512, 3)] * 20`
    of convolutional models. A name is not a literal. Text with a backslash is not one either: its
    meaning depends on the reader.

    Args:
        text: a Python expression, or anything else.
    """
    if len(text) > _LENGTH or "\\" in text:
        return False
    try:
        return _values(ast.parse(text.strip(" \t"), mode="eval").body, _DEPTH) <= _VALUES
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def is_inert(text: str) -> bool:
    """Whether text, read as Python, is no expression or one that neither calls nor assigns.

    Args:
        text: of an option that fairseq does not evaluate.
    """
    if len(text) > _INERT_LENGTH:
        return False
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return all(isinstance(node, _INERT) for node in ast.walk(tree))


def _values(node: ast.expr | None, depth: int) -> int:
    """How many values a literal makes; a ValueError if it is not a literal."""
    if isinstance(node, ast.Constant) and isinstance(node.value, _PLAIN):
        return 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
        if isinstance(node.operand, ast.Constant) and type(node.operand.value) in (int, float):
            return 1
    elif depth > 0:
        if isinstance(node, (ast.Tuple, ast.List)):
            return 1 + sum(_values(part, depth - 1) for part in node.elts)
        if isinstance(node, ast.Dict):
            return 1 + sum(_values(part, depth - 1) for part in [*node.keys, *node.values])
        if isinstance(node, ast.BinOp):
            return _values_of_lists(node, depth)
    raise ValueError("not a literal")


def _values_of_lists(node: ast.BinOp, depth: int) -> int:
    """The number of values in a sum of lists, or in a list that is repeated."""
    if not isinstance(node.left, _LISTS):
        raise ValueError("not a literal")
    left, right = _values(node.left, depth - 1), node.right
    if isinstance(node.op, ast.Add) and isinstance(right, _LISTS):
        return left + _values(right, depth - 1)
    times = right.value if isinstance(right, ast.Constant) else None
    if isinstance(node.op, ast.Mult) and type(times) is int and times <= _VALUES:
        return left * times
    raise ValueError("not a literal")
