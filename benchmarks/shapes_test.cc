#include "baton/benchmarks/shapes.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/well_formed.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::benchmarks {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;

TEST(ShapesTest, AreWellTypedAndGrowLinearly) {
  for (const ShapeFamily& family : ShapeFamilies()) {
    if (family.name == "resnet") continue;
    SCOPED_TRACE(family.name);
    int64_t nodes[3];
    for (int i = 0; i < 3; ++i) {
      BATON_ASSERT_OK_AND_ASSIGN(
          const IRModule module,
          BuildShape(absl::StrCat(family.name, "/", 100 * (i + 1))));
      BATON_ASSERT_OK_AND_ASSIGN(const IRModule typed,
                                 relay::InferTypes(module));
      EXPECT_THAT(CheckWellFormed(typed), IsOk());
      nodes[i] = CountNodes(module);
    }
    EXPECT_GE(nodes[1] - nodes[0], 100);
    EXPECT_EQ(nodes[2] - nodes[1], nodes[1] - nodes[0]);
  }
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule resnet, BuildShape("resnet/18"));
  EXPECT_GT(CountNodes(resnet), 100);
}

TEST(ShapesTest, ErrorsNameWhatThereIs) {
  absl::Status status = BuildShape("chain/10").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("chain_calls"));
  for (const char* const spec : {"chain_calls", "chain_calls/", "wide/0"}) {
    status = BuildShape(spec).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << spec;
    EXPECT_THAT(std::string(status.message()), HasSubstr("NAME/SIZE"));
  }
}

}  // namespace
}  // namespace baton::benchmarks
