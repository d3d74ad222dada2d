#include "baton/ir/op.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "baton/base/registry.h"
#include "baton/ir/attrs.h"
#include "baton/ir/attrs_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

OpProperty<int>& Costs() {
  static auto& kMap = *new OpProperty<int>;
  return kMap;
}
OpProperty<std::string>& Colors() {
  static auto& kMap = *new OpProperty<std::string>;
  return kMap;
}

struct ToyAttrs {
  int64_t size = 1;
  static constexpr char kTypeKey[] = "toy.ToyAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("size", &ToyAttrs::size, "How many.");
  }
};
// Another struct under the same key.
struct OtherToyAttrs {
  int64_t size = 1;
  static constexpr char kTypeKey[] = "toy.ToyAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("size", &OtherToyAttrs::size, "How many.");
  }
};

// An extension may come before the registration, and after.
BATON_EXTEND_OP("toy.early").Set(Costs(), 3);
BATON_REGISTER_OP("toy.early")
    .Arguments({{"x", ""}})
    .TakesAttrs<ToyAttrs>()
    .Set(Colors(), "red");
BATON_REGISTER_OP("toy.late").TakesAttrs<ToyAttrs>().Set(Colors(), "blue");
BATON_EXTEND_OP("toy.late").Set(Costs(), 4);
// One registration may change its mind.
BATON_REGISTER_OP("toy.twofold").Set(Costs(), 1).Set(Costs(), 2);

TEST(OpRegistrationTest, ExtendedBeforeAndAfterTheRegistration) {
  const Op early = Op::Find("toy.early");
  ASSERT_TRUE(early.defined());
  EXPECT_EQ(early->arity(), 1);
  EXPECT_EQ(*Costs().Get(early), 3);
  EXPECT_EQ(*Colors().Get(early), "red");
  const Op late = Op::Find("toy.late");
  ASSERT_TRUE(late.defined());
  EXPECT_EQ(*Costs().Get(late), 4);
  EXPECT_EQ(*Colors().Get(late), "blue");
  EXPECT_NE(early->index(), late->index());
  EXPECT_EQ(*Costs().Get(Op::Find("toy.twofold")), 2);
  EXPECT_THAT(OpRegistry::Global().Errors(), ElementsAre());
  EXPECT_TRUE(RegistrationErrors().ok());
}

TEST(OpRegistrationTest, ListIsSortedByName) {
  std::vector<std::string> names;
  for (const OpNode* op : OpRegistry::Global().List()) {
    names.push_back(op->name());
  }
  EXPECT_THAT(names, ElementsAre("toy.early", "toy.late", "toy.twofold"));
}

TEST(OpRegistrationTest, OneStandInForEachName) {
  const Op op = Op::FindOrStandIn("test.not_registered");
  EXPECT_EQ(Op::FindOrStandIn("test.not_registered").get(), op.get());
  EXPECT_NE(Op::FindOrStandIn("test.not_registered_either").get(), op.get());
}

TEST(OpRegistrationTest, AttributesAreRegistered) {
  EXPECT_EQ(FindAttrsType("toy.ToyAttrs"), &AttrsType::Of<ToyAttrs>());
  EXPECT_EQ(FindAttrsType("toy.NoAttrs"), nullptr);
}

// The tests below spoil the registry of this process, each for a name of its
// own.

TEST(RegistrationErrorsTest, ExtensionOfNothing) {
  OpExtension("toy.erly", {"b.cc", 2}).Set(Costs(), 1);
  OpExtension("toy.erly", {"a.cc", 1}).Set(Colors(), "green");
  constexpr char kError[] =
      "operator toy.erly is extended at a.cc:1, b.cc:2 but registered nowhere; "
      "did you mean \"toy.early\"?";
  EXPECT_FALSE(Op::Find("toy.erly").defined());
  EXPECT_EQ(Op::Get("toy.erly").status(),
            absl::NotFoundError(
                "unknown operator \"toy.erly\"; did you mean \"toy.early\"?"));
  EXPECT_THAT(OpRegistry::Global().Errors(), Contains(kError));
  EXPECT_THAT(std::string(RegistrationErrors().message()), HasSubstr(kError));
  // A library that is loaded later may bring it.
  OpRegistration("toy.erly", {"c.cc", 3}).Describe("Late.");
  EXPECT_THAT(OpRegistry::Global().Errors(), Not(Contains(kError)));
  EXPECT_EQ(Op::Find("toy.erly")->doc(), "Late.");
  EXPECT_EQ(*Costs().Get(Op::Find("toy.erly")), 1);
  EXPECT_EQ(*Colors().Get(Op::Find("toy.erly")), "green");
}

TEST(RegistrationErrorsTest, RegisteredTwice) {
  OpRegistration("toy.twice", {"b.cc", 2}).Describe("First.").Set(Costs(), 1);
  const Op first = Op::Find("toy.twice");
  OpRegistration("toy.twice", {"a.cc", 1})
      .Describe("Second.")
      .Arguments({{"x", ""}})
      .Variadic()
      .TypeRelation(nullptr)
      .Set(Costs(), 2)
      .Set(Colors(), "red");
  constexpr char kError[] =
      "operator toy.twice is registered twice: a.cc:1 and b.cc:2";
  EXPECT_EQ(Op::Get("toy.twice").status(), absl::AlreadyExistsError(kError));
  EXPECT_FALSE(Op::Find("toy.twice").defined());
  EXPECT_THAT(OpRegistry::Global().Errors(), Contains(kError));
  EXPECT_THAT(std::string(RegistrationErrors().message()), HasSubstr(kError));
  // The second one added nothing to the first.
  EXPECT_EQ(first->doc(), "First.");
  EXPECT_EQ(first->arity(), -1);
  EXPECT_EQ(*Costs().Get(first), 1);
  EXPECT_EQ(Colors().Get(first), nullptr);
}

TEST(RegistrationErrorsTest, PropertySetTwice) {
  OpRegistration("toy.costly", {"b.cc", 2}).Set(Costs(), 1);
  OpExtension("toy.costly", {"a.cc", 1}).Set(Costs(), 2).Set(Colors(), "red");
  const Op op = Op::Find("toy.costly");
  EXPECT_EQ(*Costs().Get(op), 1);
  EXPECT_EQ(*Colors().Get(op), "red");
  EXPECT_THAT(OpRegistry::Global().Errors(),
              Contains("operator toy.costly: one of its properties is set "
                       "twice: a.cc:1 and b.cc:2"));
}

TEST(RegistrationErrorsTest, TwoAttributeTypesOfOneKey) {
  const AttrsRegistration same(AttrsType::Of<ToyAttrs>());
  EXPECT_NE(FindAttrsType("toy.ToyAttrs"), nullptr);
  const AttrsRegistration other(AttrsType::Of<OtherToyAttrs>(), {"a.cc", 1});
  EXPECT_EQ(FindAttrsType("toy.ToyAttrs"), nullptr);
  EXPECT_THAT(
      std::string(RegistrationErrors().message()),
      HasSubstr(
          "attribute type toy.ToyAttrs is registered twice: a.cc:1 and "));
}

}  // namespace
}  // namespace baton
