#include "baton/transform/pass_info.h"

#include "gtest/gtest.h"

namespace baton {
namespace {

TEST(PassInfoTest, TraceText) {
  EXPECT_EQ((PassInfo{.name = "FoldConstant", .opt_level = 2}.ToString()),
            "The meta data of the pass - pass name: FoldConstant, "
            "opt_level: 2, required passes: []\n");
}

TEST(PassInfoTest, TraceTextWithRequiredPasses) {
  EXPECT_EQ((PassInfo{.name = "ConvertLayout",
                      .opt_level = 3,
                      .required = {"InferType", "CanonicalizeOps"}}
                 .ToString()),
            "The meta data of the pass - pass name: ConvertLayout, "
            "opt_level: 3, required passes: [\n"
            "InferType, CanonicalizeOps, ]\n");
}

}  // namespace
}  // namespace baton
