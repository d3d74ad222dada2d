#include "baton/base/json.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace baton {
namespace {

TEST(Json, StringsAreUtf8InQuotes) {
  EXPECT_EQ(JsonString("a \"b\" \\ \n"), "\"a \\\"b\\\" \\\\ \\u000a\"");
  EXPECT_EQ(JsonString("\xC3\xA4 \xFF"), "\"\xC3\xA4 \\ufffd\"");
}

TEST(Json, ValuesOfAllKinds) {
  JsonWriter json;
  json.Object("bool", true, "int", int64_t{-3}, "double", 1.5, "text", "a\"b",
              "string", std::string("s"), "fixed", JsonFixed{2, 3}, "json",
              JsonText{"null"}, "list", std::vector<int64_t>{1, 2}, "none",
              std::vector<std::string>());
  EXPECT_EQ(std::move(json).Finish(),
            "{\"bool\":true,\"int\":-3,\"double\":1.5,\"text\":\"a\\\"b\","
            "\"string\":\"s\",\"fixed\":2.000,\"json\":null,\"list\":[1,2],"
            "\"none\":[]}");
}

TEST(Json, ArraysAndObjectsNest) {
  JsonWriter json;
  json.BeginObject().Fields("a", 1).NewLine().Key("list").BeginArray();
  json.NewLine().Object("b", 2).NewLine().Object().BeginArray().End();
  json.Value(3).NewLine().End().Fields("c", 4).End();
  EXPECT_EQ(std::move(json).Finish(),
            "{\"a\":1,\n\"list\":[\n{\"b\":2},\n{},[],3\n],\"c\":4}");
}

TEST(Json, NumbersThatAreNotFiniteAreNull) {
  JsonWriter json;
  json.Object("a", std::numeric_limits<double>::infinity(), "b",
              JsonFixed{std::nan(""), 3});
  EXPECT_EQ(std::move(json).Finish(), "{\"a\":null,\"b\":null}");
}

}  // namespace
}  // namespace baton
