#include "baton/ir/attrs.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/ir/type.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

struct PoolAttrs {
  std::vector<int64_t> pool_size;
  std::string layout = "NCHW";
  bool ceil_mode = false;

  static constexpr char kTypeKey[] = "relay.attrs.PoolAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("pool_size", &PoolAttrs::pool_size, "Size of the window.", kRequired);
    v("layout", &PoolAttrs::layout, "Layout of the data.");
    v("ceil_mode", &PoolAttrs::ceil_mode, "Round up.");
  }
};

std::string Refusal(const AttrMap& values) {
  return std::string(
      AttrsType::Of<PoolAttrs>().FromValues(values).status().message());
}

TEST(FieldsTest, Description) {
  const FieldList& fields = FieldsOf<PoolAttrs>();
  ASSERT_EQ(fields.fields().size(), 3u);
  const Field* pool_size = fields.Find("pool_size");
  ASSERT_NE(pool_size, nullptr);
  EXPECT_EQ(pool_size->type_name(), "[int]");
  EXPECT_EQ(pool_size->doc(), "Size of the window.");
  EXPECT_TRUE(pool_size->required());
  EXPECT_EQ(fields.Find("size"), nullptr);
}

TEST(FieldsTest, NonDefault) {
  PoolAttrs attrs;
  EXPECT_EQ(AttrValue(FieldsOf<PoolAttrs>().NonDefault(&attrs)).ToString(),
            "{pool_size:[]}");
  attrs.ceil_mode = true;
  EXPECT_EQ(AttrValue(FieldsOf<PoolAttrs>().NonDefault(&attrs)).ToString(),
            "{pool_size:[],ceil_mode:true}");
}

TEST(FieldsTest, EqualityAndHash) {
  const FieldList& fields = FieldsOf<PoolAttrs>();
  PoolAttrs a, b;
  EXPECT_TRUE(fields.Equal(&a, &b));
  EXPECT_EQ(fields.Hash(&a), fields.Hash(&b));
  b.layout = "NHWC";
  EXPECT_FALSE(fields.Equal(&a, &b));
  EXPECT_NE(fields.Hash(&a), fields.Hash(&b));
}

TEST(AttrsTest, FromValues) {
  absl::StatusOr<Attrs> attrs = AttrsType::Of<PoolAttrs>().FromValues(
      {{"pool_size", AttrList{2, 2}}, {"layout", "NHWC"}});
  ASSERT_TRUE(attrs.ok());
  EXPECT_EQ(attrs->As<PoolAttrs>()->pool_size, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(attrs->As<PoolAttrs>()->layout, "NHWC");
  PoolAttrs same = *attrs->As<PoolAttrs>();
  EXPECT_TRUE(AttrsEqual(*attrs, Attrs::Make(same)));
  same.ceil_mode = true;
  EXPECT_FALSE(AttrsEqual(*attrs, Attrs::Make(same)));
  EXPECT_FALSE(AttrsEqual(*attrs, Attrs()));
  EXPECT_TRUE(AttrsEqual(Attrs(), Attrs()));
}

TEST(AttrsTest, Refusals) {
  EXPECT_EQ(Refusal({}), "relay.attrs.PoolAttrs: \"pool_size\" is missing");
  EXPECT_EQ(Refusal({{"pool_size", 1}, {"layuot", "NHWC"}}),
            "relay.attrs.PoolAttrs: unknown name \"layuot\"; did you mean "
            "\"layout\"?; known: pool_size, layout, ceil_mode");
  EXPECT_EQ(Refusal({{"pool_size", "x"}}),
            "relay.attrs.PoolAttrs: pool_size: expected an integer, found x");
  EXPECT_EQ(Refusal({{"layout", "A"}, {"layout", "B"}}),
            "relay.attrs.PoolAttrs: \"layout\" is given twice");
}

TEST(DictAttrsTest, IsAnImmutableDictionary) {
  const DictAttrs empty;
  EXPECT_TRUE(empty.entries().empty());
  EXPECT_FALSE(empty.IsTrue("Primitive"));
  const DictAttrs one = empty.With("Primitive", 1).With("name", "f");
  EXPECT_TRUE(one.IsTrue("Primitive"));
  EXPECT_FALSE(one.IsTrue("name"));
  EXPECT_EQ(one.With("Primitive", 0).entries()[0].first, "Primitive");
  EXPECT_FALSE(one.With("Primitive", 0).IsTrue("Primitive"));
  EXPECT_EQ(one.Find("nam"), nullptr);
  EXPECT_EQ(one.Without("nothing"), one);
  EXPECT_FALSE(one.Without("name").Without("Primitive").defined());
  EXPECT_TRUE(
      DictAttrsEqual(one, empty.With("name", "f").With("Primitive", 1)));
  EXPECT_FALSE(DictAttrsEqual(one, one.Without("name")));
  EXPECT_TRUE(DictAttrsEqual(empty, DictAttrs(AttrMap{})));
}

}  // namespace
}  // namespace baton
