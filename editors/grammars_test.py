#!/usr/bin/python3
"""Colors texts by the grammars of editors/, as an editor does.

Each `.relay`, `.rules` and `.patterns` file of the folders below is colored: no
character but white space may stay without a color, and names must have theirs.
What some words become is compared one by one.
"""

import json
import os
import re
import sys
import unittest

FOLDER = os.path.dirname(os.path.abspath(sys.argv[0]))
ROOT = os.path.dirname(FOLDER)
FOLDERS = ("examples", "relay/transform", "testing/passes")


class Grammars:
    """Grammars of TextMate's kind, in the part of them that is used here."""

    def __init__(self):
        self.grammars = {}
        for name in ("relay", "rules"):
            with open(f"{FOLDER}/syntaxes/{name}.tmLanguage.json") as file:
                grammar = json.load(file)
            self.grammars[grammar["scopeName"]] = grammar
        self.lists = {}  # of rules, by the rule that they are in

    def rules(self, grammar, patterns):
        """The rules that `patterns` stand for, each with its grammar."""
        for rule in patterns:
            if "include" not in rule:
                if "match" in rule or "begin" in rule:
                    yield grammar, rule
                else:
                    yield from self.rules(grammar, rule["patterns"])
                continue
            scope, _, part = rule["include"].partition("#")
            other = self.grammars.get(scope or grammar["scopeName"])
            if other is None:
                continue  # of another language
            if part:
                yield from self.rules(other, [other["repository"][part]])
            else:
                yield from self.rules(other, other["patterns"])

    def candidates(self, grammar, rule):
        """The rules within `rule`, each with its grammar and its regex."""
        key = id(rule)
        if key not in self.lists:
            self.lists[key] = [
                (inner, re.compile(inner[1].get("match") or inner[1]["begin"]))
                for inner in self.rules(grammar, rule.get("patterns", []))]
        return self.lists[key]

    def color(self, scope, text):
        """Yields the characters of `text`, each with the name of its color."""
        root = self.grammars[scope]
        stack = [(root, {"patterns": root["patterns"]})]
        for line in text.split("\n"):
            at = 0
            matches = {}  # the next one of each regex
            while True:
                grammar, rule = stack[-1]
                best = None
                if "end" in rule:
                    best = re.compile(rule["end"]).search(line, at)
                chosen = None
                for inner, regex in self.candidates(grammar, rule):
                    found = matches.get(regex)
                    if regex not in matches or (found and found.start() < at):
                        found = matches[regex] = regex.search(line, at)
                    if found and (best is None or
                                  found.start() < best.start()):
                        best, chosen = found, inner
                inside = rule.get("name") or rule.get("contentName")
                if best is None:
                    yield from ((c, inside) for c in line[at:])
                    break
                yield from ((c, inside) for c in line[at:best.start()])
                if chosen is None:
                    yield from ((c, rule.get("name")) for c in best.group())
                    stack.pop()
                else:
                    name = chosen[1].get("name")
                    captures = chosen[1].get("beginCaptures")
                    if captures:
                        name = captures["1"]["name"]
                    yield from ((c, name) for c in best.group())
                    if "begin" in chosen[1]:
                        stack.append(chosen)
                    elif best.end() == best.start():
                        raise ValueError(f"{chosen[1]} matches nothing")
                at = best.end()
            yield "\n", None

    def words(self, scope, text):
        """The pieces of `text` of one color, with the first part of its name."""
        pieces = []
        for c, color in self.color(scope, text):
            if c.isspace() and (color is None or not pieces or
                                pieces[-1][1] != color):
                pieces.append(["", None])
            elif pieces and pieces[-1][1] == color:
                pieces[-1][0] += c
            else:
                pieces.append([c, color])
        return [(word, ".".join(color.split(".")[:2]))
                for word, color in pieces if color]


def files():
    for top in FOLDERS:
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in sorted(names):
                if name.endswith((".relay", ".rules", ".patterns")):
                    yield os.path.join(folder, name)


class GrammarsTest(unittest.TestCase):

    def test_relay(self):
        self.assertEqual(
            Grammars().words("source.relay", """\
#[version = "0.0.5"]
def @f.g(%x: Tensor[(2, ?), float32], Primitive=1) -> bool {
  let %y = nn.conv2d(%x, padding=[1i64]) /* ty=/* a */ b */;
  match? (%y.0) { Cons(_, %t) => -1.5e-3f, Nil => meta[relay.Constant][0] } // c
}
"""), [
                ('#[version = "0.0.5"]', "meta.preprocessor"),
                ("def", "keyword.declaration"),
                ("@f.g", "entity.name"),
                ("(", "punctuation.relay"),
                ("%x", "variable.other"),
                (":", "keyword.operator"),
                ("Tensor", "support.type"),
                ("[(", "punctuation.relay"),
                ("2", "constant.numeric"),
                (",", "punctuation.relay"),
                ("?", "keyword.operator"),
                ("),", "punctuation.relay"),
                ("float32", "storage.type"),
                ("],", "punctuation.relay"),
                ("Primitive", "variable.parameter"),
                ("=", "keyword.operator"),
                ("1", "constant.numeric"),
                (")", "punctuation.relay"),
                ("->", "keyword.operator"),
                ("bool", "storage.type"),
                ("{", "punctuation.relay"),
                ("let", "keyword.declaration"),
                ("%y", "variable.other"),
                ("=", "keyword.operator"),
                ("nn.conv2d", "support.function"),
                ("(", "punctuation.relay"),
                ("%x", "variable.other"),
                (",", "punctuation.relay"),
                ("padding", "variable.parameter"),
                ("=", "keyword.operator"),
                ("[", "punctuation.relay"),
                ("1i64", "constant.numeric"),
                ("])", "punctuation.relay"),
                ("/* ty=/* a */ b */", "comment.block"),
                (";", "punctuation.relay"),
                ("match?", "keyword.control"),
                ("(", "punctuation.relay"),
                ("%y", "variable.other"),
                (".", "punctuation.relay"),
                ("0", "constant.numeric"),
                (")", "punctuation.relay"),
                ("{", "punctuation.relay"),
                ("Cons", "entity.name"),
                ("(", "punctuation.relay"),
                ("_", "variable.language"),
                (",", "punctuation.relay"),
                ("%t", "variable.other"),
                (")", "punctuation.relay"),
                ("=>", "keyword.operator"),
                ("-", "keyword.operator"),
                ("1.5e-3f", "constant.numeric"),
                (",", "punctuation.relay"),
                ("Nil", "entity.name"),
                ("=>", "keyword.operator"),
                ("meta[relay.Constant][0]", "constant.other"),
                ("}", "punctuation.relay"),
                ("// c", "comment.line"),
                ("}", "punctuation.relay"),
            ])

    def test_loops_within_relay(self):
        colors = Grammars().words("source.relay", """\
@T.prim_func
def f(A: T.Buffer((1,))):
    A[0] = A[0]  # %x

@T.prim_func
def g():
    T.evaluate(0)
def @main() { 1 }
""")
        python = [word for word, color in colors if color == "meta.embedded"]
        self.assertIn("def f(A: T.Buffer((1,))):", python)
        self.assertIn("T.evaluate(0)", python)
        self.assertEqual(colors[-6:], [
            ("def", "keyword.declaration"),
            ("@main", "entity.name"),
            ("()", "punctuation.relay"),
            ("{", "punctuation.relay"),
            ("1", "constant.numeric"),
            ("}", "punctuation.relay"),
        ])

    def test_rules(self):
        self.assertEqual(
            Grammars().words("source.baton-rules", """\
rule @a.b of FastMath "x." {
  match { %y = abs(%x, axis=k); either(%y, const(3)) }
  where { dtype(%x) in ["int8"] }
  promise { not nan, rtol = 1e-6f }
}
"""), [
                ("rule", "keyword.declaration"),
                ("@a.b", "entity.name"),
                ("of", "keyword.other"),
                ("FastMath", "entity.name"),
                ('"x."', "string.quoted"),
                ("{", "punctuation.relay"),
                ("match", "keyword.control"),
                ("{", "punctuation.relay"),
                ("%y", "variable.other"),
                ("=", "keyword.operator"),
                ("abs", "support.function"),
                ("(", "punctuation.relay"),
                ("%x", "variable.other"),
                (",", "punctuation.relay"),
                ("axis", "variable.parameter"),
                ("=", "keyword.operator"),
                ("k", "variable.other"),
                (");", "punctuation.relay"),
                ("either", "support.function"),
                ("(", "punctuation.relay"),
                ("%y", "variable.other"),
                (",", "punctuation.relay"),
                ("const", "support.function"),
                ("(", "punctuation.relay"),
                ("3", "constant.numeric"),
                ("))", "punctuation.relay"),
                ("}", "punctuation.relay"),
                ("where", "keyword.control"),
                ("{", "punctuation.relay"),
                ("dtype", "support.function"),
                ("(", "punctuation.relay"),
                ("%x", "variable.other"),
                (")", "punctuation.relay"),
                ("in", "keyword.other"),
                ("[", "punctuation.relay"),
                ('"int8"', "string.quoted"),
                ("]", "punctuation.relay"),
                ("}", "punctuation.relay"),
                ("promise", "keyword.control"),
                ("{", "punctuation.relay"),
                ("not", "keyword.other"),
                ("nan", "variable.other"),
                (",", "punctuation.relay"),
                ("rtol", "variable.parameter"),
                ("=", "keyword.operator"),
                ("1e-6f", "constant.numeric"),
                ("}", "punctuation.relay"),
                ("}", "punctuation.relay"),
            ])

    def test_files(self):
        grammars = Grammars()
        count = 0
        for path in files():
            count += 1
            with open(path, encoding="utf-8") as file:
                text = file.read()
            scope = ("source.relay" if path.endswith(".relay") else
                     "source.baton-rules")
            colors = list(grammars.color(scope, text))
            self.assertEqual("".join(c for c, _ in colors), text + "\n", path)
            for at, (c, color) in enumerate(colors):
                line = text.count("\n", 0, at) + 1
                if not c.isspace():
                    self.assertIsNotNone(color, f"{path}:{line}: {c!r}")
                if color is None or color.startswith(
                        ("comment", "string", "meta", "entity.name.function.d",
                         "constant.character")):
                    continue
                if c == "%":
                    self.assertEqual(color, "variable.other.relay",
                                     f"{path}:{line}")
                if c == "@":
                    self.assertEqual(color, "entity.name.function.relay",
                                     f"{path}:{line}")
        self.assertGreater(count, 20)


if __name__ == "__main__":
    unittest.main()
