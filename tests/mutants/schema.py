"""One text that holds many mutants of a file: which of them it is, WORMCUBE_MUTANT says at run time (schema.hpp).

Text alone: an operator becomes `a OP name<17>{} OP b`, whose operands the compiler finds; of && and ||, whose right side must not always
be evaluated, the whole expression is written twice, bounded by brackets, commas and the like. Where that does not compile (what
is needed at compile time, a bound that was none), the compiler names the line, and the mutant is left out. One difference: * becomes + with
its own operands, a - b * c so a - (b + c).
"""
# SPDX-License-Identifier: Apache-2.0
import re

SPACE = "wormcube_mutants::"
OPERATORS = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equal", "!=": "unequal", "+": "plus",
             "-": "minus", "*": "times", "/": "divided", "%": "modulo", "^": "exclusive_or", "<<": "left_shift", "+=": "add", "-=": "subtract"}
CLOSED_BY = {"(": ")", "[": "]", "{": "}"}
# What an expression of && and || does not reach beyond; brackets aside.
BOUND = re.compile(r"[;,?{}]|(?<!:):(?!:)|(?<![=!<>])=(?!=)|\breturn\b")


def expression(code, at):
    """Begin and end of the expression of && and || around an offset; code: the text with blanks for what is in strings and comments."""
    begin, depth = at, 0
    while begin > 0:
        character = code[begin - 1]
        if character in ")]}":
            depth += 1
        elif character in "([{":
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and (BOUND.match(code, begin - 1) or code.endswith("return", 0, begin)):
            break
        begin -= 1
    end, depth = at, 0
    while end < len(code):
        character = code[end]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and BOUND.match(code, end):
            break
        end += 1
    return begin, end


def balanced(code):
    open_ones = []
    for character in code:
        if character in CLOSED_BY:
            open_ones.append(CLOSED_BY[character])
        elif character in CLOSED_BY.values() and (not open_ones or open_ones.pop() != character):
            return False
    return not open_ones


def edits(m, number, text, code, line_start):
    """What a mutant writes into the text: [(offset, its end, what instead)], or nothing if there is no way."""
    begin, end = line_start + m.begin, line_start + m.end
    before, name = text[begin:end], f"{SPACE}%s<{number}>"
    if m.statement:
        return [(begin, begin, "{ if (" + name % "kept" + "()) "), (end, end, "}")]
    if before in OPERATORS:
        return [(begin, end, f"{before} {name % OPERATORS[before]}{{}} {before}")]
    if before in ("&&", "||"):
        first, last = expression(code, begin)
        changed = text[first:begin] + m.replacement + text[end:last]
        return [(first, first, f" ({name % 'changed'}() ? ({changed}) : ("), (last, last, "))")]
    if before == "!":
        return [(begin, end, f"!{name % 'negated'}{{}} ->* ")]
    if before in ("min(", "max(") and text.endswith("std::", 0, begin):
        return [(begin - len("std::"), end, name % before[:3] + "(")]
    if before in ("true", "false"):
        return [(begin, end, name % ("kept" if before == "true" else "changed") + "()")]
    return [(begin, end, f"{name % 'number'}({before})")] if before.isdigit() else []


def schema(text, code, mutants):
    """The text with all these, {number: mutant}, and the numbers of those that have no place in it. Each stands on lines of its own."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    pieces, left = [], set()
    for number, m in sorted(mutants.items()):
        found = edits(m, number, text, code, starts[m.line - 1])
        if not found:
            left.add(number)
        # At one place ends come first, then what is put before the text, and last what replaces it.
        pieces += [(begin, 0 if i > 0 else 1 if begin == end else 2, number, end, new) for i, (begin, end, new) in enumerate(found)]
    result, at = ['#include "wormcube/tests/mutants/schema.hpp"\n'], 0
    for begin, _, _, end, new in sorted(pieces):
        result += [text[at:begin], "\n", new, "\n"]
        at = max(at, end)
    return "".join([*result, text[at:]]), left


def named(text, lines):
    """The numbers of the mutants on these lines of a schema; where a line has none, of the nearest ones around it."""
    numbers = [{int(n) for n in re.findall(SPACE + r"\w+<(\d+)>", line)} for line in text.split("\n")]
    found = set()
    for line in lines:
        if not numbers[line - 1]:
            found |= next(filter(None, reversed(numbers[:line - 1])), set()) | next(filter(None, numbers[line:]), set())
        found |= numbers[line - 1]
    return found
