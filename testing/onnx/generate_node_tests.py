"""Makes the cases of ONNX's backend tests that Debian's python3-onnx generates.

usage: generate_node_tests.py OUTPUT.tar

The archive has a folder `node` and a folder `simple` with a folder for each
case, in the layout of ONNX's repository. It is the same in every run.
"""

import io
import os
import pathlib
import sys
import tarfile
import tempfile

import numpy

# onnx 1.12 uses aliases that numpy 1.24 no longer has.
for _name, _type in (
    ("float", float),
    ("int", int),
    ("bool", bool),
    ("object", object),
    ("str", str),
    ("complex", complex),
):
    if _name not in numpy.__dict__:
        setattr(numpy, _name, _type)

# The tool imports the tests of models, which ask for the home folder.
os.environ.setdefault("HOME", tempfile.gettempdir())
numpy.random.seed(0)

from onnx.backend.test import cmd_tools  # noqa: E402


def _add(archive, root, path):
    content = path.read_bytes()
    entry = tarfile.TarInfo(path.relative_to(root).as_posix())
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


def main():
    output = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        sys.argv = ["backend-test-tools", "generate-data", "-o", folder]
        # The tool says on standard output what it makes.
        with open(os.devnull, "w", encoding="utf-8") as nothing:
            said, sys.stdout = sys.stdout, nothing
            try:
                cmd_tools.main()
            finally:
                sys.stdout = said
        with tarfile.open(output, "w") as archive:
            for kind in ("node", "simple"):
                for path in sorted((root / kind).rglob("*")):
                    if path.is_file() and path.suffix in (".onnx", ".pb"):
                        _add(archive, root, path)


if __name__ == "__main__":
    main()
