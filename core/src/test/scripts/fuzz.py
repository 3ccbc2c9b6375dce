"""Renders random templates with Jinja2 and with Warmpath and prints where they differ.

    python3 fuzz.py --class-path CP [--seed N] [--count N] [--all]

CP holds core's classes and test classes, and Jackson. One seed always gives the same templates.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import warnings

import jinja_reference as reference

CONTEXT = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": " Hi <there> & \"you\" "},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1, "b": [True, None, 1.5]}}}]},
        {"role": "tool", "content": "r\u00e9sum\u00e9 \U0001f600\n"},
    ],
    "tools": [{"type": "function", "function": {"name": "g", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}}}],
    "n": 7,
    "m": -3,
    "zero": 0,
    "big": 2 ** 65 + 1,
    "f": 2.75,
    "g": -0.1,
    "t": True,
    "no": False,
    "nil": None,
    "s": "Hello World",
    "u": "stra\u00dfe \u01c6 \u03a3\u03a3 \U0001f600x",
    "empty": "",
    "lines": "one\n  two\r\nthree\n\n",
    "csv": "a,b,,c",
    "l": [3, 1, 2],
    "ls": ["b", "A", "c", "a"],
    "mixed": [1, "x", None, 2.5, True, [1], {"k": "v"}],
    "ll": [[1, 2], [3], []],
    "none_list": [],
    "d": {"b": 1, "a": 2, "items": 9, "C": 3, "_p": 4},
    "dd": {"x": {"y": {"z": [1, 2, 3]}}, "e": {}},
    "users": [{"name": "Bob", "age": 30, "tags": ["x"]}, {"name": "alice", "age": 25}, {"name": "Carl", "age": 30, "tags": []}],
}

FILTERS = {
    "abs": [""], "attr": ["(str)"], "batch": ["(small)", "(small, expr)"], "capitalize": [""], "center": ["", "(small)"],
    "count": [""], "d": ["(expr)", "(expr, bool)"], "default": ["(expr)", ""], "dictsort": ["", "(bool)", "(bool, 'value')", "(reverse=bool)"],
    "e": [""], "escape": [""], "filesizeformat": ["", "(bool)"], "first": [""], "float": ["", "(expr)"], "forceescape": [""],
    "format": ["(expr)", "(expr, expr)", ""], "groupby": ["(attrname)", "(attrname, default=expr)"],
    "indent": ["", "(small)", "(small, bool)", "(small, bool, bool)", "(str)"], "int": ["", "(expr)", "(small, small)"], "items": [""],
    "join": ["", "(str)", "(str, attrname)"], "last": [""], "length": [""], "list": [""], "lower": [""],
    "map": ["(attribute=attrname)", "(filtername)", "(attribute=attrname, default=expr)", "('upper')", "('default', expr)"],
    "max": ["", "(attribute=attrname)", "(bool)"], "min": ["", "(attribute=attrname)"], "pprint": [""], "reject": ["", "(testname)", "('equalto', expr)"],
    "rejectattr": ["(attrname)", "(attrname, testname)"], "replace": ["(str, str)", "(str, str, small)", "(expr, expr)"], "reverse": [""],
    "round": ["", "(small)", "(small, 'floor')", "(small, 'ceil')"], "safe": [""], "select": ["", "(testname)", "('lessthan', expr)"],
    "selectattr": ["(attrname)", "(attrname, 'equalto', expr)", "(attrname, testname)"], "slice": ["(small)", "(small, expr)"],
    "sort": ["", "(bool)", "(attribute=attrname)", "(reverse=bool, case_sensitive=bool)"], "string": [""], "striptags": [""],
    "sum": ["", "(attribute=attrname)", "(start=expr)"], "title": [""], "tojson": ["", "(indent=small)", "(ensure_ascii=bool)", "(sort_keys=true)", "(separators=(',', ':'))"],
    "trim": ["", "(str)"], "truncate": ["(small)", "(small, bool)", "(small, bool, str)", "(small, bool, str, small)"], "unique": ["", "(bool)", "(attribute=attrname)"],
    "upper": [""], "urlencode": [""], "urlize": ["", "(small)"], "wordcount": [""], "wordwrap": ["(small)", "(small, bool)", "(small, wrapstring=str)"], "xmlattr": ["", "(bool)"],
}
TESTS = ["odd", "even", "divisibleby(small)", "defined", "undefined", "none", "boolean", "false", "true", "integer", "float", "lower", "upper",
         "string", "mapping", "number", "sequence", "iterable", "callable", "escaped", "in(expr)", "eq(expr)", "ne(expr)", "gt(expr)",
         "ge(expr)", "lt(expr)", "le(expr)", "sameas(none)", "sameas(true)", "equalto(expr)", "filter", "test", "greaterthan(expr)", "lessthan(expr)"]
METHODS = {
    "str": ["upper()", "lower()", "strip()", "strip(str)", "lstrip(str)", "rstrip()", "split()", "split(str)", "split(str, small)", "rsplit(str, small)",
            "split(none, small)", "rsplit(none, small)", "splitlines()", "splitlines(true)", "join(expr)", "replace(str, str)", "replace(str, str, small)", "startswith(str)", "endswith(str)",
            "startswith((str, str))", "startswith(str, small)", "find(str)", "rfind(str)", "index(str)", "rindex(str)", "find(str, small, small)", "count(str)", "count(str, small)", "title()", "capitalize()", "swapcase()",
            "casefold()", "center(small)", "ljust(small, '*')", "rjust(small)", "zfill(small)", "partition(str)", "rpartition(str)", "expandtabs(small)",
            "isdigit()", "isalpha()", "isalnum()", "isupper()", "islower()", "isspace()", "istitle()", "isnumeric()", "isdecimal()", "isidentifier()", "isprintable()", "isascii()",
            "removeprefix(str)", "removesuffix(str)", "format(expr, expr)", "format(a=expr)", "translate({97: 'b'})"],
    "list": ["index(expr)", "count(expr)", "copy()", "append(expr)", "pop()", "sort()", "extend(expr)"],
    "dict": ["get(str)", "get(expr, expr)", "items()", "keys()", "values()", "copy()", "pop(str)", "update(expr)", "setdefault(str, expr)"],
    "int": ["bit_length()", "conjugate()", "real", "imag", "is_integer()", "as_integer_ratio()", "hex()", "numerator"],
}
ATTRIBUTES = ["role", "content", "name", "age", "tags", "x", "y", "function", "items", "nope", "0", "x.y", "name.0", "k", "tool_calls", "__class__", "_p"]


class Grammar:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.locals = []

    def pick(self, options):
        return self.r.choice(options)

    def chance(self, p):
        return self.r.random() < p

    def small(self):
        return str(self.pick([-3, -1, 0, 1, 2, 3, 4, 5, 7, 10, 16, 20]))

    def string(self):
        return self.pick(["''", "'a'", "'l'", "' '", "','", "'o W'", "'\\n'", "'ab'", "'x y'", "'é'", "'ß'", "'%s'", "'{}'", "'{0}-{1}'", "'%d%%'",
                          "'key'", "'name'", "'user'", "'role'", "'<b>'", "'&'", "\"it's\"", "'\"'", "'\\\\'", "'\\u00e9\\x41'", "'123'", "'1.5'", "' 42 '", "'0x1F'", "'1_000'",
                          "'-7'", "'1e3'", "'inf'", "'A-B c'", "'{a}'", "'%(a)s'", "'%5.1f|'", "'{:>8}|'", "'{!r:^9}'", "'%r'", "'%x'", "'{:,.2f}'", "'%-6s|'", "'{:05d}'", "'{a:#x}'", "'{0.real}'", "'{[x]}'", "'%c'", "'{:%}'", "'%e'", "'%g'"])

    def number(self):
        return self.pick(["0", "1", "2", "3", "7", "10", "255", "1000000", "-1", "-5", "0.0", "1.0", "0.5", "1.5", "2.675", "1e3", "1e16", "1e22", "1.0e-5", "123456789.125", "0.1", "12345678901234567890", "1_000"])

    def name(self):
        if self.locals and self.chance(0.3):
            return self.pick(self.locals)
        return self.pick(list(CONTEXT) + ["nope", "loop", "undefined_thing"])

    def literal(self):
        k = self.r.randrange(5)
        if k == 0:
            return self.string()
        if k == 1:
            return self.number()
        return self.pick(["true", "false", "none", "True", "None", "[]", "{}", "()"])

    def fill(self, pattern, depth):
        out = pattern
        for hole, make in (
            ("filtername", lambda: repr(self.pick(list(FILTERS)))),
            ("testname", lambda: repr(self.pick(TESTS).split("(")[0])),
            ("attrname", lambda: repr(self.pick(ATTRIBUTES)) if self.chance(0.9) else self.small()),
            ("small", self.small),
            ("expr", lambda: self.expr(depth - 1)),
            ("bool", lambda: self.pick(["true", "false"])),
            ("str", self.string),
        ):
            pieces = split_words(out, hole)
            out = pieces[0]
            for piece in pieces[1:]:
                out += make() + piece
        return out

    def of(self, kind, depth):
        """An expression that most likely is of a kind: str, num, list, dict, bool or any."""
        if kind == "any" or self.chance(0.05):
            return self.expr(depth)
        leaf = depth <= 0 or self.chance(0.25)
        d = depth - 1
        if kind == "str":
            if leaf:
                return self.pick(["s", "u", "empty", "lines", "csv", "messages[1].content", "messages[3]['content']", self.string(), self.string()])
            k = self.r.randrange(9)
            if k == 0:
                return f"({self.of('str', d)} ~ {self.expr(d)})"
            if k == 1:
                return f"({self.of('str', d)} + {self.of('str', d)})"
            if k == 2:
                return f"({self.of('str', d)}).{self.fill(self.pick([m for m in METHODS['str'] if not m.startswith('is')]), d)}"
            if k == 3:
                name = self.pick(["upper", "lower", "title", "capitalize", "trim", "indent", "center", "replace", "truncate", "wordwrap", "string", "striptags", "e", "urlize", "urlencode", "safe", "forceescape"])
                return f"({self.of('str', d)})|{name}{self.fill(self.pick(FILTERS[name]), d)}"
            if k == 4:
                return f"({self.expr(d)})|{self.pick(['tojson', 'pprint', 'string', 'tojson(indent=2)'])}"
            if k == 5:
                return f"({self.of('list', d)})|join({self.string()})"
            if k == 6:
                return self.slice(self.of("str", d) if self.chance(0.3) else self.pick(["s", "u", "lines"]))
            if k == 7:
                return f"({self.string()} * {self.small()})"
            return f"({self.string()}).join({self.of('list', d)}|map('string'))"
        if kind == "num":
            if leaf:
                return self.pick(["n", "m", "zero", "big", "f", "g", self.number(), self.number(), "users[0].age"])
            k = self.r.randrange(6)
            if k <= 1:
                return f"({self.of('num', d)} {self.pick(['+', '-', '*', '/', '//', '%'])} {self.of('num', d)})"
            if k == 2:
                return self.pick([f"-{self.of('num', d)}", f"({self.of('num', d)}) ** {self.pick(['0', '1', '2', '-1', '3'])}"])
            if k == 3:
                name = self.pick(["abs", "round", "int", "float"])
                return f"({self.of('num', d)})|{name}{self.fill(self.pick(FILTERS[name]), d)}"
            if k == 4:
                return f"({self.of(self.pick(['list', 'str', 'dict']), d)})|length"
            return f"({self.of('str', d)})|{self.pick(['int', 'float', 'int(3)', 'wordcount', 'float(2)', 'int(0, 16)'])}"
        if kind == "list":
            if leaf:
                return self.pick(["l", "ls", "mixed", "ll", "none_list", "messages", "users", "range(5)", "[1, 2, 3]", "('a', 'b')", "d.items()", "d.keys()", "d.values()", "dd.x.y.z"])
            k = self.r.randrange(7)
            if k <= 2:
                name = self.pick(["batch", "groupby", "list", "map", "reject", "rejectattr", "reverse", "select", "selectattr", "slice", "sort", "unique"])
                return f"({self.of('list', d)})|{name}{self.fill(self.pick(FILTERS[name]), d)}{self.pick(['', '|list', '|list', '|list'])}"
            if k == 3:
                return self.slice(self.pick(["l", "ls", "mixed", "messages", "range(7)", "users"]))
            if k == 4:
                return f"({self.of('list', d)} + {self.of('list', d)})"
            if k == 5:
                return "[" + ", ".join(self.expr(d) for _ in range(self.r.randrange(1, 4))) + "]"
            return self.pick([f"({self.of('str', d)}).split({self.pick(['', self.string()])})", f"({self.of('dict', d)})|{self.pick(['dictsort', 'items|list', 'list'])}", f"({self.of('str', d)})|list"])
        if kind == "dict":
            if leaf or self.chance(0.5):
                return self.pick(["d", "dd", "dd.x", "users[0]", "messages[0]", "messages[2].tool_calls[0].function", "tools[0]", "{'a': 1, 'b': [2]}", "{}", "dict(a=s, b=n)"])
            keys = [self.pick([self.string(), self.number(), "true", "none"]) for _ in range(self.r.randrange(3))]
            return "{" + ", ".join(f"{key}: {self.expr(d)}" for key in keys) + "}"
        if leaf:
            return self.pick(["t", "no", "true", "false", "nil is none", "n > 3", "s == 'x'"])
        k = self.r.randrange(6)
        same_kind = self.pick(["str", "num", "list"])
        if k == 0:
            return f"{self.of(same_kind, d)} {self.pick(['==', '!=', '<', '<=', '>', '>='])} {self.of(same_kind, d)}"
        if k == 1:
            return f"{self.expr(d)} {self.pick(['in', 'not in'])} {self.of(self.pick(['list', 'dict']), d)}"
        if k == 2:
            return f"{self.of('str', d)} {self.pick(['in', 'not in'])} {self.of('str', d)}"
        if k == 3:
            return f"({self.expr(d)} is {self.pick(['', 'not '])}{self.fill(self.pick(TESTS), d)})"
        if k == 4:
            return f"({self.of('bool', d)} {self.pick(['and', 'or'])} {self.of('bool', d)})"
        return f"({self.of('str', d)}).{self.pick([m for m in METHODS['str'] if m.startswith('is') or m.startswith('st')])}".replace("str", self.string())

    def slice(self, value):
        bound = lambda: self.pick(["", self.small(), self.small(), "n", "nil"])
        step = f":{self.pick(['', '1', '-1', '2', '-2', '0', '-3'])}" if self.chance(0.4) else ""
        return f"({value})[{bound()}:{bound()}{step}]"

    def expr(self, depth):
        if depth <= 0 or self.chance(0.12):
            return self.name() if self.chance(0.6) else self.literal()
        if self.chance(0.75):
            return self.of(self.pick(["str", "str", "num", "list", "dict", "bool"]), depth)
        k = self.r.randrange(16)
        e = lambda: self.expr(depth - 1)
        if k == 0:
            return f"({e()} {self.pick(['+', '-', '*', '/', '//', '%'])} {e()})"
        if k == 1:
            return f"{e()} {self.pick(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in'])} {e()}"
        if k == 2:
            return f"({e()} {self.pick(['and', 'or'])} {e()})"
        if k == 3:
            return f"not {e()}"
        if k == 4:
            return f"({e()} ~ {e()})"
        if k == 5:
            name = self.pick(list(FILTERS))
            return f"({e()})|{name}{self.fill(self.pick(FILTERS[name]), depth)}"
        if k == 6:
            return f"({e()} is {self.pick(['', 'not '])}{self.fill(self.pick(TESTS), depth)})"
        if k == 7:
            return f"({e()}).{self.fill(self.pick(METHODS[self.pick(list(METHODS))]), depth)}"
        if k == 8:
            return f"{self.name()}[{e()}]"
        if k == 9:
            return self.slice(self.name())
        if k == 10:
            return f"{self.name()}.{self.pick([a for a in ATTRIBUTES if '.' not in a])}"
        if k == 11:
            return f"({e()} if {e()} else {e()})" if self.chance(0.8) else f"({e()} if {e()})"
        if k == 12:
            return "(" + "".join(e() + ", " for _ in range(self.r.randrange(1, 3))) + ")"
        if k == 13:
            keys = [self.pick([self.string(), self.number(), "true", "none"]) for _ in range(self.r.randrange(3))]
            return "{" + ", ".join(f"{key}: {e()}" for key in keys) + "}"
        if k == 14:
            return self.pick([f"range({self.small()})", f"range({self.small()}, {self.small()})", f"range({e()})", f"dict(a={e()}, b={e()})", f"namespace(a={e()}).a",
                              f"dict({e()})", f"range({self.small()}, {self.small()}, {self.small()})", f"cycler({e()}, {e()}).next()", f"-{e()}", f"+{e()}", f"strftime_now({self.string()})",
                              f"{self.string()} % {e()}", f"{self.string()} % ({e()}, {e()})", f"{self.string()}.format({e()}, a={e()})", f"raise_exception({e()})" if self.chance(0.1) else "n"])
        return f"{e()} {self.pick(['<', '==', '>='])} {e()} {self.pick(['<', '!=', 'in'])} {e()}"

    def open(self):
        return "{%" + self.pick(["", "", "", "-", "+"])

    def close(self):
        return self.pick(["", "", "", "-", "+"]) + "%}"

    def tag(self, text):
        return f"{self.open()} {text} {self.close()}"

    def text(self):
        return self.pick(["", "x", " ", "\n", "  \n", "a b\n", "\n  ", "<b>", "{# c #}", "{#- c -#}\n", "{ %", "}}", "é\n", "\t", "\n\n"])

    def show(self, depth):
        return "{{" + self.pick(["", "-"]) + " " + self.expr(depth) + " " + self.pick(["", "-"]) + "}}"

    def loop_value(self):
        return self.pick(["loop.index", "loop.index0", "loop.first", "loop.last", "loop.length", "loop.revindex", "loop.revindex0", "loop.previtem", "loop.nextitem",
                          "loop.depth", "loop.depth0", "loop.cycle('a', 'b')", "loop.changed(i)", "loop", "loop.nope", "loop.cycle()"])

    def body(self, depth, loop=False):
        return "".join(self.statement(depth, loop) for _ in range(self.r.randrange(1, 4)))

    def target(self):
        name = self.pick(["a", "b", "c", "n", "s", "i", "x", "ns.v"])
        if name != "ns.v":
            self.locals = (self.locals + [name])[-8:]
        return name

    def statement(self, depth, loop=False):
        if depth <= 0:
            return self.text() + self.show(2)
        k = self.r.randrange(20)
        d = depth - 1
        if k <= 2:
            return self.text()
        if k <= 5:
            return self.text() + self.show(3)
        if k == 6:
            out = self.tag(f"if {self.expr(2)}") + self.body(d, loop)
            for _ in range(self.r.randrange(2)):
                out += self.tag(f"elif {self.expr(2)}") + self.body(d, loop)
            if self.chance(0.5):
                out += self.tag("else") + self.body(d, loop)
            return out + self.tag("endif")
        if k in (7, 8, 9):
            var = self.pick(["i", "x", "a", "i, x", "(i, x)", "i, (a, b)"])
            if "," not in var:
                self.locals = (self.locals + [var])[-8:]
            test = f" if {self.expr(2)}" if self.chance(0.2) else ""
            it = self.pick([self.expr(2), "l", "ls", "messages", "d.items()", "d|items", "users", "range(3)", "ll", "s", "dd|dictsort", "l|map('string')"])
            recursive = self.chance(0.1)
            out = self.tag(f"for {var} in {it}{test}{' recursive' if recursive else ''}")
            out += self.body(d, True)
            if self.chance(0.5):
                out += "{{ " + self.loop_value() + " }}"
            if recursive:
                out += "{{ loop(" + self.pick(["[1]", "i", "[]"]) + ") if loop.depth < 3 }}"
            if self.chance(0.3):
                out += self.tag(f"if {self.expr(2)}") + self.tag(self.pick(["break", "continue"])) + self.tag("endif") + self.text()
            if self.chance(0.3):
                out += self.tag("else") + self.body(d, loop)
            return out + self.tag("endfor")
        if k in (10, 11):
            if self.chance(0.2):
                return self.tag(f"set a, b = {self.pick(['1, 2', '[3, 4]', self.expr(2), 'ls[:2]', 'd'])}")
            value = self.expr(3)
            return self.tag(f"set {self.target()} = {value}")
        if k == 12:
            flt = self.pick(["", " | upper", " | trim | length", " | replace('a', s)"])
            body = self.body(d, loop)
            return self.tag(f"set {self.target()}{flt}") + body + self.tag("endset")
        if k == 13:
            params = self.pick(["", "a", "a, b", "a, b=n", "a=1, b=a", "x, i=none"])
            body = self.body(d)
            out = self.tag(f"macro mac({params})") + body + self.pick(["", "{{ caller() }}", "{{ varargs }}{{ kwargs }}", "{{ caller(1) }}"]) + self.tag("endmacro")
            args = self.pick(["", self.expr(1), f"{self.expr(1)}, {self.expr(1)}", f"a={self.expr(1)}", f"1, 2, 3, k={self.expr(1)}", "*l", "**d", "*ls, **{'b': 1}"])
            if self.chance(0.6):
                return out + "{{ mac(" + args + ") }}"
            return out + self.tag(f"call{self.pick(['', '(q)', '(q=5)'])} mac({args})") + self.body(d, loop) + self.pick(["", "{{ q }}"]) + self.tag("endcall")
        if k == 14:
            return self.tag(f"with {self.pick(['a', 'b', 'n'])} = {self.expr(2)}") + self.body(d, loop) + self.tag("endwith")
        if k == 15:
            return self.tag(f"filter {self.pick(['upper', 'trim', 'indent(2)', 'replace(n, s)', 'title|trim', 'e'])}") + self.body(d, loop) + self.tag("endfilter")
        if k == 16:
            return self.tag(f"set ns = namespace({self.pick(['', 'v=0', 'v=s, w=l', 'd'])})") + self.body(d, loop) + "{{ ns.v }}"
        if k == 17:
            return self.tag("generation") + self.body(d) + self.tag("endgeneration")
        if k == 18:
            name = f"blk{self.r.randrange(1000000)}"
            return self.tag(f"block {name}{self.pick(['', ' scoped'])}") + self.body(d) + self.tag("endblock") + self.pick(["", "{{ self." + name + "() }}"])
        return self.tag(f"autoescape {self.pick(['true', 'false', 't', 'no'])}") + self.body(d, loop) + self.tag("endautoescape")

    def template(self):
        self.locals = []
        if self.chance(0.5):
            return "{{ " + self.expr(4) + " }}"
        return "".join(self.statement(3) for _ in range(self.r.randrange(1, 5)))


def split_words(pattern, word):
    """Splits at a word that stands alone between brackets, commas and equals signs."""
    pieces, start = [], 0
    i = pattern.find(word)
    while i >= 0:
        before, after = pattern[i - 1 : i], pattern[i + len(word) : i + len(word) + 1]
        if (not before or before in "(,= [") and (not after or after in "),. ]"):
            pieces.append(pattern[start:i])
            start = i + len(word)
        i = pattern.find(word, i + 1)
    return pieces + [pattern[start:]]


class TooSlow(Exception):
    pass


def reference_outcome(template):
    def give_up(*_):
        raise TooSlow()

    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 2)
    try:
        result = reference.outcome(template, CONTEXT)
        return None if result.get("error") in ("TooSlow", "MemoryError") else result
    except TooSlow:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def same(expected, actual):
    keys = ["expected", "error"]
    if expected.get("error") not in ("RecursionError", "SyntaxError"):
        keys += ["message", "line"] if "line" in expected else ["message"]
    return all(expected.get(key) == actual.get(key) for key in keys)


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--class-path", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--show", type=int, default=10)
    options = parser.parse_args()
    runner = subprocess.Popen(
        ["java", "-cp", options.class_path, "dev.warmpath.prompt.template.RenderLines"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", errors="surrogatepass",
    )
    different = errors = 0
    for seed in range(options.seed, options.seed + options.count):
        template = Grammar(seed).template()
        expected = reference_outcome(template)
        if expected is None:
            continue
        errors += "error" in expected
        runner.stdin.write(json.dumps({"template": template, "context": CONTEXT}) + "\n")
        runner.stdin.flush()
        actual = json.loads(runner.stdout.readline())
        if not same(expected, actual):
            different += 1
            if different <= options.show:
                print(f"seed {seed}\n  {template!r}\n  Jinja2:   {str(expected)[:500]}\n  Warmpath: {str(actual)[:500]}")
    runner.stdin.close()
    runner.wait()
    print(f"{options.count} templates, {errors} of them errors, {different} differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
