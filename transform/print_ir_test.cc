#include "baton/transform/print_ir.h"

#include <sstream>
#include <string>

#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/testing/script_level.h"  // IWYU pragma: keep
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

TEST(PrintIRTest, PrintsTheModuleAndLeavesIt) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             ParseModule("script @main { @main; }"));
  std::ostringstream out;
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule after,
                             PrintIR({.header = "here", .out = &out})(module));
  EXPECT_TRUE(after.SameAs(module));
  EXPECT_EQ(out.str(),
            "PrintIR(here):\n"
            "script @main {\n"
            "  @main;\n"
            "}\n"
            "\n");
}

TEST(PrintIRTest, CanBeSilenced) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             ParseModule("script @main { @main; }"));
  std::ostringstream out;
  const PassContext context({.config = {{PrintIrConfig().name(), false}}});
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule after, context.Run([&] {
    return PrintIR({.out = &out})(module);
  }));
  EXPECT_TRUE(after.SameAs(module));
  EXPECT_EQ(out.str(), "");
}

TEST(PrintIRTest, IsRegistered) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const Pass pass,
      PassRegistry::Global().Create("PrintIR", {{"header", "a b"}}));
  EXPECT_EQ(pass.info().opt_level, 0);
  BATON_ASSERT_OK_AND_ASSIGN(const std::string text, pass.ToString());
  EXPECT_EQ(text, "PrintIR{header=\"a b\"}");
  EXPECT_FALSE(PassRegistry::Global().Create("PrintIR", {{"out", "x"}}).ok());
}

}  // namespace
}  // namespace baton
