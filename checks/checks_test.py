#!/usr/bin/env python3
"""Tests of the checks themselves, on small trees of sources."""

import pathlib
import tempfile
import unittest

import comment_words
import direct_includes
import hash_tables
import header_first
import header_names
import include_graph
import public_targets
import shipped_sources

PAGE = """
# Architecture

| package | holds | may include |
|---|---|---|
| `testing/` | for tests | all below |
| `relay/` | the language | `ir`, `base` |
| `relay/op/` | operators | `ir` |
| `ir/` | nodes | `base`, protobuf |
| `base/` | the rest | Abseil |
| `third_party/` | dependencies | |

| another | table |
|---|---|
| `ir/` | `testing` |
"""


class ChecksTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.rule = include_graph.parse_rule(PAGE)
        self.write("base/status.h")
        self.write("ir/node.h", "baton/base/status.h")
        self.write("relay/op/nn.h", "baton/ir/node.h", "baton/ir/module.pb.h")
        self.write("relay/bind.h", "vector", "baton/ir/node.h")
        self.write("testing/matchers.h", "baton/relay/bind.h")

    def write(self, path, *includes):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [f'#include "{name}"\n' if "/" in name else f"#include <{name}>\n" for name in includes]
        file.write_text("// A comment.\n" + "".join(lines), encoding="utf-8")

    def check(self, known=""):
        sources = include_graph.read_sources(self.root)
        return include_graph.check(sources, self.rule, include_graph.parse_known(known))

    def test_reads_the_first_table(self):
        self.assertEqual(self.rule["testing"], {"relay", "relay/op", "ir", "base"})
        self.assertEqual(self.rule["ir"], {"base"})
        self.assertNotIn("third_party", self.rule)

    def test_refuses_a_row_that_may_include_what_is_above(self):
        with self.assertRaisesRegex(ValueError, "`base` may include what is not below it"):
            include_graph.parse_rule("| a | b |\n|---|---|\n| `ir/` | all below |\n| `base/` | `ir` |\n")

    def test_accepts_what_the_table_allows(self):
        self.assertEqual(self.check(), [])

    def test_finds_an_upward_edge(self):
        self.write("ir/type.cc", "baton/relay/op/nn.h")
        self.assertEqual(self.check(), ["ir -> relay/op: ir/type.cc includes relay/op/nn.h"])

    def test_finds_an_edge_that_is_downward_and_not_allowed(self):
        self.write("relay/op/nn.cc", "baton/base/status.h")
        self.assertEqual(self.check(), ["relay/op -> base: relay/op/nn.cc includes base/status.h"])

    def test_a_package_may_not_include_its_parent_unless_the_table_says_so(self):
        self.write("relay/op/nn.cc", "baton/relay/bind.h")
        self.assertEqual(self.check(), ["relay/op -> relay: relay/op/nn.cc includes relay/bind.h"])

    def test_a_folder_without_a_row_belongs_to_the_row_above(self):
        self.write("ir/internal/arena.h", "baton/base/status.h", "baton/relay/bind.h")
        self.assertEqual(self.check(), ["ir -> relay: ir/internal/arena.h includes relay/bind.h"])

    def test_tests_may_include_testing_and_nothing_else_above(self):
        for name in ("node_test.cc", "node_fuzz_test.cc", "node_test_util.h", "node_benchmark.cc", "testing/toy.h"):
            self.write(f"ir/{name}", "baton/testing/matchers.h", "baton/relay/bind.h")
            self.assertEqual(self.check(), [f"ir tests -> relay: ir/{name} includes relay/bind.h"])
            (self.root / "ir" / name).unlink()

    def test_code_may_not_include_testing(self):
        self.write("ir/node.cc", "baton/testing/matchers.h")
        self.assertEqual(self.check(), ["ir -> testing: ir/node.cc includes testing/matchers.h"])

    def test_folders_beside_the_table_include_everything_and_are_included_by_nothing(self):
        self.write("examples/main.h", "baton/testing/matchers.h", "baton/base/status.h")
        self.assertEqual(self.check(), [])
        self.write("testing/example.cc", "baton/examples/main.h")
        self.assertEqual(self.check(), ["testing -> examples: testing/example.cc includes examples/main.h"])

    def test_a_known_violation_is_accepted_until_it_is_gone(self):
        known = "# A comment.\nir tests -> relay  # another\n"
        self.write("ir/node_test.cc", "baton/relay/bind.h")
        self.assertEqual(self.check(known), [])
        self.write("ir/node.cc", "baton/relay/bind.h")
        self.assertEqual(self.check(known), ["ir -> relay: ir/node.cc includes relay/bind.h"])
        (self.root / "ir/node.cc").unlink()
        (self.root / "ir/node_test.cc").unlink()
        self.assertEqual(
            self.check(known),
            ["checks/known_include_violations.txt: no longer needed: ir tests -> relay"],
        )

    def test_finds_that_sources_are_missing(self):
        (self.root / "base/status.h").unlink()
        self.assertEqual(
            self.check(),
            [
                "docs/architecture.md: the package base has no sources",
                "ir/node.h: includes base/status.h, which is not among the sources",
            ],
        )

    def test_other_repositories_inside_this_one_are_left_out(self):
        self.write("examples/external/main.cc", "baton/no/such.h")
        self.write("examples/external/WORKSPACE")
        self.write("bazel-out/main.cc", "baton/no/such.h")
        self.assertEqual(self.check(), [])

    def test_prints_the_graph(self):
        self.write("ir/node_test.cc", "baton/testing/matchers.h", "baton/base/status.h")
        self.assertEqual(
            include_graph.table(include_graph.read_sources(self.root), self.rule),
            "| package | includes | its tests also include |\n"
            "|---|---|---|\n"
            "| `testing` | `relay` |  |\n"
            "| `relay` | `ir` |  |\n"
            "| `relay/op` | `ir` |  |\n"
            "| `ir` | `base` | `testing` |",
        )

    def test_a_source_includes_its_own_header_first(self):
        self.write("relay/bind.cc", "baton/relay/bind.h", "vector")
        self.write("ir/other.cc", "vector")
        self.assertEqual(header_first.check(include_graph.read_sources(self.root)), [])
        self.write("relay/bind.cc", "vector", "baton/relay/bind.h")
        self.assertEqual(
            header_first.check(include_graph.read_sources(self.root)),
            ['relay/bind.cc: the first include must be "baton/relay/bind.h"'],
        )

    def test_headers_have_names_of_their_own(self):
        check = lambda: header_names.check(include_graph.read_sources(self.root))
        for path in ("ir/expr.h", "relay/expr.h", "ir/bind.h", "relay/bind.cc"):
            self.write(path)
        (self.root / "relay/bind.h").write_text("// Forwards to baton/ir/bind.h.\n")
        self.assertEqual(check(), [])
        self.write("base/bind.h")
        self.assertEqual(check(), ["bind.h is the name of base/bind.h and ir/bind.h"])

    def test_files_include_the_headers_of_the_names_in_code(self):
        check = lambda: direct_includes.check(
            [source for source in include_graph.read_sources(self.root) if source.path.startswith("ir/node.")]
        )
        (self.root / "ir/node.h").write_text("#include <cstddef>\n\nsize_t Count();\n")
        (self.root / "ir/node.cc").write_text(
            '#include "baton/ir/node.h"\n\n'
            '#include <vector>\n\n'
            '#include "absl/strings/str_cat.h"\n'
            '// A std::string.\n'
            'const char kText[] = R"(#include <map>\n'
            'std::map)";\n'
            'std::vector<size_t> counts{1\'000};  // absl::Span\n'
            'auto text = absl::StrCat("std::pair");\n'
        )
        self.assertEqual(check(), [])
        (self.root / "ir/node.cc").write_text(
            '#include <vector>\n'
            '#include "absl/strings/str_cat.h"\n'
            'std::string text;\n'
            'const auto* found = std::get<0>(entry);\n'
            'auto next = absl::StatusOr<size_t>(std::string::npos);\n'
        )
        self.assertEqual(
            check(),
            [
                "ir/node.cc:3: std::string needs #include <string>",
                "ir/node.cc:4: std::get needs #include <array>, <tuple>, <utility> or <variant>",
                'ir/node.cc:5: absl::StatusOr needs #include "absl/status/statusor.h"',
                "ir/node.cc:1: no name of <vector> is used",
                'ir/node.cc:2: no name of "absl/strings/str_cat.h" is used',
            ],
        )

    def test_libraries_use_the_tables_that_survive_failed_allocations(self):
        check = lambda: hash_tables.check(include_graph.read_sources(self.root), self.rule)
        (self.root / "relay/bind.h").write_text("void Bind(const absl::flat_hash_map<int, int>& values);\n")
        (self.root / "relay/bind_test.cc").write_text("absl::flat_hash_map<int, int> found;\n")
        (self.root / "testing/matchers.h").write_text("absl::flat_hash_map<int, int> found;\n")
        self.assertEqual(check(), [])
        (self.root / "relay/bind.cc").write_text("int i;\nabsl::node_hash_set<int> seen;\n")
        self.assertEqual(check(), ["relay/bind.cc:2: use FlatHashMap or FlatHashSet of base/hash_table.h"])

    def test_finds_comments_whose_first_words_hide_their_subject(self):
        header = self.root / "relay/bind.h"
        check = lambda: comment_words.check(include_graph.read_sources(self.root))
        header.write_text(
            "// Binds the parameters of a function to constants.\n"
            "//\n"
            "// What the parameters are is in the module.\n"
            'inline constexpr char kUrl[] = "https://Of";  // the home page\n'
            "int a;  // the first value\n"
            "        // Of the second line of a comment, the check has no opinion.\n"
            "inline constexpr char kQuote = '\"';  // Offsets, Whatever\n",
            encoding="utf-8",
        )
        self.assertEqual(check(), [])
        header.write_text(
            "//   What it binds.\n"
            "int a;  // Of the first.\n"
            "/// The same, for another.\n"
            "int b = 4 / 2;  // Whether it is even.\n"
            "  // Those below.\n"
            "inline constexpr char kQuote[] = \"'\\\"\";  //< Those above.\n",
            encoding="utf-8",
        )
        self.assertEqual(
            check(),
            [
                f"relay/bind.h:{line}: a comment must not begin with `{words}`: name its subject"
                for line, words in [(1, "What"), (2, "Of"), (3, "The same"), (4, "Whether"), (5, "Those"), (6, "Those")]
            ],
        )

    def test_compares_public_targets_with_the_page(self):
        build = (
            'package(default_visibility = ["//:baton"])\n'
            'exports_files(["a.txt"])\n'
            'cc_library(name = "ir", visibility = ["//visibility:public"])\n'
            'cc_library(name = "text", visibility = ["//visibility:public"])\n'
            'cc_library(name = "node")\n'
        )
        public, problems = public_targets.public_targets("ir/BUILD", build)
        self.assertEqual(public, ["//ir", "//ir:text"])
        self.assertEqual(problems, ["ir/BUILD: exports_files without visibility exports to all"])
        promised = public_targets.promised_targets("| a | b |\n|---|---|\n| `//ir` | `.`, `gone` |\n")
        self.assertEqual(promised, ["//ir", "//ir:gone"])
        used = {"//ir": "examples/BUILD", "//ir:node": "examples/BUILD"}
        self.assertEqual(
            public_targets.check(public, promised, used, "`//ir:text_lexer` and `ir/texts.h`"),
            [
                "//ir:text is public: no page, example or macro names it",
                "//ir:text is public: docs/compatibility.md does not list it",
                "//ir:gone is listed in docs/compatibility.md: no BUILD file makes it public",
                "examples/BUILD uses //ir:node, which is not public",
            ],
        )

    def test_finds_the_pages_that_name_a_target(self):
        for label, text in [
            ("//ir:text", "link `//ir:text`"),
            ("//ir:text", 'include `"baton/ir/text.h"`'),
            ("//relay/op/qnn", "`baton/relay/op/qnn/qnn.h`"),
            ("//tools:baton-run", "`baton-run` runs models"),
        ]:
            self.assertTrue(public_targets.is_named(label, text), label)
        self.assertFalse(public_targets.is_named("//ir", "`//ir:text`"))
        self.assertFalse(public_targets.is_named("//tools:run", "`run` and `my-run`"))

    def test_refuses_what_compiled_models_cannot_include(self):
        build = 'genrule(name = "a", srcs = ["b.h"])\ngenrule(name = "kernel_texts_cc", srcs = ["conv.h", "map.h"])\n'
        self.assertEqual(shipped_sources.shipped_sources(build), ["conv.h", "map.h"])
        texts = {
            "conv.h": '#include <cstdint>\n#include "baton/runtime/kernels/blocked/map.h"\n',
            "map.h": '#include <vector>\n#include "baton/runtime/kernels/blocked/pool.h"\n',
        }
        self.assertEqual(
            shipped_sources.check(texts),
            [
                "runtime/kernels/blocked/map.h: compiled models have no vector",
                "runtime/kernels/blocked/map.h: compiled models have no baton/runtime/kernels/blocked/pool.h",
            ],
        )

    def test_refuses_a_package_that_is_public_as_a_whole(self):
        build = 'package(default_visibility = ["//visibility:public"])\ncc_library(name = "a")\n'
        _, problems = public_targets.public_targets("base/BUILD", build)
        self.assertEqual(problems, ["base/BUILD: all targets are public: each says so itself"])


if __name__ == "__main__":
    unittest.main()
