"""Abseil: Google's C++ library.

Package: libabsl-dev 20220623.1. Upstream: https://github.com/abseil/abseil-cpp.
Licence: Apache-2.0.
"""

load("@baton//third_party/absl:debian_abseil.bzl", "debian_abseil")

def repo(name):
    debian_abseil(name = name)
