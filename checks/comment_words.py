#!/usr/bin/env python3
"""Checks the first words of comments.

usage: comment_words.py [ROOT]

A comment says what its subject is: "The shape of the result", "Returns the
nearest name". A comment that begins with What, Of, The same, Those or Whether
leaves its subject to the reader. The check looks at each block of lines that
begin with `//`, and at each comment behind code.
Exits with 1 if a comment begins with one of these words, and names its line.
"""

import re

from include_graph import report, run_alone

_WORDS = re.compile(r"(What|Of|The same|Those|Whether)\b")
# A line that is a comment, or code and the comment behind it. Literals are
# passed over, so that `//` in them begins no comment.
_LINE = re.compile(
    r"""(?P<code>(?:[^"'/]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|'|/(?!/))*)//[/!]?<?(?P<comment>.*)"""
)


def first_words(text):
    """Yields the line and the first word of each comment that begins with one of the words."""
    column = -1  # of the comment in the line before
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.match(line) if "//" in line else None
        is_behind_code = match is not None and match["code"].strip() != ""
        if match and (is_behind_code or match.end("code") != column):
            words = _WORDS.match(match["comment"].strip())
            if words:
                yield number, words[0]
        column = match.end("code") if match else -1


def check(sources):
    """Returns what is wrong, one line each."""
    problems = []
    for source in sources:
        for number, words in first_words(source.text):
            problems.append(f"{source.path}:{number}: a comment must not begin with `{words}`: name its subject")
    return problems


def main(root, sources):
    return report(check(sources), f"{len(sources)} files")


if __name__ == "__main__":
    run_alone(main)
