"""Baton's dependencies."""

load("//third_party:system_repository.bzl", "system_repository")
load("//third_party/absl:repository.bzl", "absl_repository")

def baton_dependencies():
    """Declares what Baton depends on, each unless the workspace has one of that name."""
    if not native.existing_rule("com_google_absl"):
        absl_repository(name = "com_google_absl")

    if not native.existing_rule("com_googlesource_code_re2"):
        system_repository(
            name = "com_googlesource_code_re2",
            build_file = Label("@baton//third_party/re2:re2.BUILD"),
            libraries = ["re2"],
            package = "libre2-dev",
        )

    if not native.existing_rule("com_google_protobuf"):
        system_repository(
            name = "com_google_protobuf",
            build_file = Label("@baton//third_party/protobuf:protobuf.BUILD"),
            libraries = ["protobuf", "protobuf-lite"],
            links = {"/usr/bin/protoc": "bin/protoc"},
            package = "libprotobuf-dev protobuf-compiler",
        )

    if not native.existing_rule("com_google_googletest"):
        system_repository(
            name = "com_google_googletest",
            build_file = Label("@baton//third_party/googletest:googletest.BUILD"),
            libraries = ["gtest", "gmock", "gmock_main"],
            package = "libgtest-dev libgmock-dev",
        )

    if not native.existing_rule("com_github_google_benchmark"):
        system_repository(
            name = "com_github_google_benchmark",
            build_file = Label("@baton//third_party/benchmark:benchmark.BUILD"),
            libraries = ["benchmark", "benchmark_main"],
            package = "libbenchmark-dev",
        )

    if not native.existing_rule("eigen"):
        system_repository(
            name = "eigen",
            build_file = Label("@baton//third_party/eigen:eigen.BUILD"),
            links = {
                "/usr/include/eigen3/Eigen": "Eigen",
                "/usr/include/eigen3/unsupported": "unsupported",
            },
            package = "libeigen3-dev",
        )
