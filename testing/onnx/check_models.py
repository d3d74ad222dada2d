#!/usr/bin/python3
"""Runs ONNX's checker and its strict shape inference over models.

usage: check_models.py FOLDER

Prints what is wrong with each model; the exit code is 1 if anything is.
"""

import glob
import os
import sys
import warnings

warnings.simplefilter("ignore")
import onnx  # pylint: disable=wrong-import-position


def main():
    paths = sorted(glob.glob(os.path.join(sys.argv[1], "*.onnx")))
    wrong = 0
    for path in paths:
        try:
            onnx.checker.check_model(onnx.load(path), full_check=True)
        except Exception as error:  # pylint: disable=broad-except
            wrong += 1
            print("%s: %s" % (os.path.basename(path), " ".join(str(error).split())))
    print("%d of %d models are wrong" % (wrong, len(paths)))
    return 1 if wrong or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
