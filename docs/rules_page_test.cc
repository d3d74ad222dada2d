#include "baton/docs/rules_page.h"

#include "gtest/gtest.h"

namespace baton::docs {
namespace {

TEST(RulesPageTest, IsMadeOfDocstrings) {
  EXPECT_EQ(
      RulesPage("\"\"\"Title.\n\n    load\n\ndocs/rules.md is it.\n\"\"\"\n\n"
                "def _hidden(x):\n    pass\n\n"
                "def baton_a(x, y = []):\n    \"\"\"Makes.\n\n    More.\n\n"
                "    Args:\n      x: one\n        two.\n      y: three.\n"
                "    \"\"\"\n    pass\n"),
      "# Rules for repositories that use Baton\n\n    load\n\n"
      "This page is made from "
      "[`build_defs/baton.bzl`](../build_defs/baton.bzl): run\n\n"
      "    ./bazelw run //docs:update\n\n"
      "## baton_a\n\n```python\nbaton_a(x, y = [])\n```\n\n"
      "Makes.\n\nMore.\n\n"
      "| argument | is |\n|---|---|\n| `x` | one two. |\n"
      "| `y` | three. |\n");
}

}  // namespace
}  // namespace baton::docs
