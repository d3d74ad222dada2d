// Laws that hold for every operator: it is registered once, it is documented,
// and it has a type relation.

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/base/registry.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/fusion_pattern.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

// No operator, attribute type or property is registered twice.
TEST(AllOpsTest, NoRegistrationErrors) {
  EXPECT_EQ(RegistrationErrors(), absl::OkStatus());
}

TEST(AllOpsTest, AreDocumented) {
  for (const OpNode* op : OpRegistry::Global().List()) {
    SCOPED_TRACE(op->name());
    EXPECT_FALSE(op->doc().empty());
    EXPECT_NE(op->type_relation(), nullptr);
    for (const OpArgument& argument : op->arguments()) {
      EXPECT_FALSE(argument.name.empty());
      EXPECT_FALSE(argument.doc.empty()) << argument.name;
    }
    if (op->attrs_type() == nullptr) continue;
    for (const Field& field : op->attrs_type()->fields().fields()) {
      EXPECT_FALSE(field.doc().empty()) << field.name();
    }
  }
}

TEST(AllOpsTest, FusionPatternsAreThoseOfTheReference) {
  const auto pattern = [](absl::string_view name) {
    const FusionPattern* pattern = FusionPatterns().Get(Op::Find(name));
    return pattern == nullptr ? FusionPattern::kOpaque : *pattern;
  };
  EXPECT_EQ(pattern("nn.relu"), FusionPattern::kElemWise);
  EXPECT_EQ(pattern("add"), FusionPattern::kBroadcast);
  EXPECT_EQ(pattern("concatenate"), FusionPattern::kInjective);
  EXPECT_EQ(pattern("layout_transform"), FusionPattern::kInjective);
  EXPECT_EQ(pattern("sum"), FusionPattern::kCommReduce);
  EXPECT_EQ(pattern("nn.conv2d"), FusionPattern::kOutEWiseFusable);
  EXPECT_EQ(pattern("nn.softmax"), FusionPattern::kOutEWiseFusable);
  EXPECT_EQ(pattern("annotation.stop_fusion"), FusionPattern::kOpaque);
}

}  // namespace
}  // namespace baton::relay
