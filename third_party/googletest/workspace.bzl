"""GoogleTest and GoogleMock.

Packages: libgtest-dev, libgmock-dev 1.12.1.
Upstream: https://github.com/google/googletest. Licence: BSD-3-Clause.
"""

load("@baton//third_party:debian_package.bzl", "debian_package")

def repo(name):
    debian_package(
        name = name,
        package = "libgmock-dev",
        build_file = Label("@baton//third_party/googletest:googletest.BUILD"),
        headers = {
            "/usr/include/gmock": "gmock",
            "/usr/include/gtest": "gtest",
        },
        libraries = [
            "gmock",
            "gmock_main",
            "gtest",
        ],
    )
