"""The libraries that Baton is built with."""

load("@baton//third_party/absl:workspace.bzl", absl = "repo")
load("@baton//third_party/benchmark:workspace.bzl", benchmark = "repo")
load("@baton//third_party/googletest:workspace.bzl", googletest = "repo")
load("@baton//third_party/onnx:workspace.bzl", onnx = "repo")
load("@baton//third_party/protobuf:workspace.bzl", protobuf = "repo")
load("@baton//third_party/re2:workspace.bzl", re2 = "repo")
load("@baton//third_party/rules:workspace.bzl", rules = "repo")

_REPOSITORIES = {
    "baton_rules": rules,
    "com_github_google_benchmark": benchmark,
    "com_github_onnx_onnx": onnx,
    "com_google_absl": absl,
    "com_google_googletest": googletest,
    "com_google_protobuf": protobuf,
    "com_googlesource_code_re2": re2,
}

def baton_dependencies():
    """Declares the libraries that Baton needs, from Debian's packages.

    A repository that the WORKSPACE declared before is left as it is: to use
    another Abseil, say, declare `com_google_absl` above the call. All names and
    targets are upstream's (`@com_google_absl//absl/strings`).
    """
    for name, repo in _REPOSITORIES.items():
        if not native.existing_rule(name):
            repo(name)
