"""RE2: regular expressions in linear time.

Package: libre2-dev 20220601. Upstream: https://github.com/google/re2.
Licence: BSD-3-Clause.
"""

load("@baton//third_party:debian_package.bzl", "debian_package")

def repo(name):
    debian_package(
        name = name,
        package = "libre2-dev",
        build_file = Label("@baton//third_party/re2:re2.BUILD"),
        headers = {"/usr/include/re2": "re2"},
        libraries = ["re2"],
    )
