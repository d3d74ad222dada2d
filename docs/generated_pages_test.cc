#include "baton/docs/generated_pages.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "baton/instrument/print_ir.h"
#include "baton/testing/golden.h"
#include "gtest/gtest.h"

namespace baton::docs {
namespace {

std::string Read(const std::string& path) {
  return testing::ReadFileOrFail(testing::RunfilePath(path));
}

TEST(GeneratedPagesTest, AreUpToDate) {
  for (const GeneratedPage& page :
       GeneratedPages(Read("build_defs/baton.bzl"))) {
    const std::string path = absl::StrCat("docs/", page.name);
    const std::string old = Read(path);
    if (old == page.text) continue;
    ADD_FAILURE() << path << " is not what the code says; run\n\n"
                  << "  ./bazelw run //docs:update\n\n--- " << path << "\n+++ "
                  << path << ", as it should be\n"
                  << DiffLines(old, page.text);
  }
}

}  // namespace
}  // namespace baton::docs
