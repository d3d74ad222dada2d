#include "baton/base/registry.h"

#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int> Values(const std::vector<const int*>& entries) {
  std::vector<int> values;
  for (const int* entry : entries) values.push_back(*entry);
  return values;
}

TEST(CodeLocationTest, IsThatOfTheCall) {
  const int line = __LINE__ + 1;
  const CodeLocation here = CodeLocation::Current();
  EXPECT_EQ(here.line, line);
  EXPECT_THAT(here.ToString(),
              HasSubstr(absl::StrCat("base/registry_test.cc:", line)));
}

TEST(RegistryTest, EntriesByName) {
  Registry<int> registry("number");
  const int line = __LINE__ + 1;
  EXPECT_TRUE(registry.Register("two", 2));
  EXPECT_TRUE(registry.Register("one", 1));
  ASSERT_NE(registry.Find("one"), nullptr);
  EXPECT_EQ(*registry.Find("one"), 1);
  EXPECT_EQ(**registry.Get("two"), 2);
  EXPECT_EQ(registry.Find("three"), nullptr);
  EXPECT_TRUE(registry.Contains("two"));
  EXPECT_FALSE(registry.Contains("three"));
  EXPECT_THAT(registry.Names(), ElementsAre("one", "two"));
  EXPECT_THAT(Values(*registry.List()), ElementsAre(1, 2));
  EXPECT_THAT(registry.LocationOf("two"),
              HasSubstr(absl::StrCat("registry_test.cc:", line)));
  EXPECT_EQ(registry.LocationOf("three"), "");
  EXPECT_TRUE(registry.Check().ok());
}

TEST(RegistryTest, UnknownNamesGetSuggestions) {
  Registry<int> registry("number");
  registry.Register("hundred", 100);
  EXPECT_EQ(registry.Get("hundrde").status(),
            absl::NotFoundError(
                "unknown number \"hundrde\"; did you mean \"hundred\"?"));
  EXPECT_EQ(registry.Get("six").status(),
            absl::NotFoundError("unknown number \"six\""));
}

// Errors name all places, in an order that does not depend on linking.
TEST(RegistryTest, SecondEntryIsRefused) {
  for (const bool reversed : {false, true}) {
    Registry<int> registry("number");
    registry.Register("one", 1);
    EXPECT_TRUE(registry.Register("two", 2, {reversed ? "b.cc" : "a.cc", 7}));
    EXPECT_FALSE(registry.Register("two", 2, {reversed ? "a.cc" : "b.cc", 7}));
    const absl::Status error = absl::AlreadyExistsError(
        "number two is registered twice: a.cc:7 and b.cc:7");
    EXPECT_EQ(registry.Get("two").status(), error);
    EXPECT_EQ(registry.Find("two"), nullptr);
    EXPECT_EQ(registry.CheckUnique("two"), error);
    EXPECT_EQ(registry.List().status(), error);
    EXPECT_EQ(registry.Check(), error);
    EXPECT_TRUE(registry.Contains("two"));
    EXPECT_TRUE(registry.CheckUnique("one").ok());
    EXPECT_EQ(**registry.Get("one"), 1);
    registry.Register("two", 3, {"c.cc", 1});
    EXPECT_EQ(registry.Get("two").status().message(),
              "number two is registered 3 times: a.cc:7, b.cc:7 and c.cc:1");
  }
}

TEST(RegistryTest, SecondEntryIsRefusedAfterALookUp) {
  Registry<int> registry("number");
  registry.Register("one", 1);
  ASSERT_EQ(**registry.Get("one"), 1);
  registry.Register("one", 1);
  EXPECT_EQ(registry.Find("one"), nullptr);
}

TEST(RegistryTest, TheSameEntryAgain) {
  Registry<int> registry("number");
  EXPECT_TRUE(registry.RegisterSame("one", 1));
  EXPECT_TRUE(registry.RegisterSame("one", 1));
  EXPECT_EQ(**registry.Get("one"), 1);
  EXPECT_FALSE(registry.RegisterSame("one", 2));
  EXPECT_FALSE(registry.Get("one").ok());
}

TEST(RegistryTest, CopiesAreIndependent) {
  Registry<int> registry("number");
  registry.Register("one", 1);
  registry.Register("two", 2);
  registry.Register("two", 22);
  const int* one = registry.Find("one");
  Registry<int> copy(registry);
  EXPECT_EQ(copy.Find("one"), one);  // the entry is shared
  EXPECT_FALSE(copy.Get("two").ok());
  copy.Override("one", 11);
  copy.Override("two", 2222);
  copy.Register("three", 3);
  EXPECT_EQ(*copy.Find("one"), 11);
  EXPECT_EQ(*copy.Find("two"), 2222);
  EXPECT_TRUE(copy.Check().ok());
  EXPECT_EQ(registry.Find("one"), one);
  EXPECT_FALSE(registry.Get("two").ok());
  EXPECT_THAT(registry.Names(), ElementsAre("one", "two"));
}

TEST(RegistryTest, PointersOutliveOverrides) {
  Registry<std::string> registry("word");
  registry.Register("a", std::string(100, 'a'));
  const std::string* former = registry.Find("a");
  registry.Override("a", "b");
  EXPECT_EQ(*former, std::string(100, 'a'));
  EXPECT_EQ(*registry.Find("a"), "b");
}

TEST(ScopedOverrideTest, PutsBackWhatWasThere) {
  Registry<int> registry("number");
  registry.Register("one", 1, {"a.cc", 1});
  registry.Register("two", 2);
  registry.Register("two", 2);
  {
    const ScopedOverride<int> one(&registry, "one", 11);
    const ScopedOverride<int> two(&registry, "two", 22);
    const ScopedOverride<int> three(&registry, "three", 33);
    EXPECT_THAT(Values(*registry.List()), ElementsAre(11, 33, 22));
  }
  EXPECT_EQ(*registry.Find("one"), 1);
  EXPECT_EQ(registry.LocationOf("one"), "a.cc:1");
  EXPECT_FALSE(registry.Get("two").ok());
  EXPECT_FALSE(registry.Contains("three"));
}

TEST(RegistryTest, ManyThreads) {
  Registry<int> registry("number");
  registry.Register("zero", 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&registry, i] {
      const std::string name = absl::StrCat("n", i);
      for (int k = 0; k < 100; ++k) {
        registry.Override(name, k);
        EXPECT_EQ(**registry.Get(name), k);
        EXPECT_EQ(*registry.Find("zero"), 0);
        const Registry<int> copy(registry);
        EXPECT_TRUE(copy.List().ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(registry.Names().size(), 9u);
}

TEST(RegistrationErrorsTest, CollectsThoseOfGlobalRegistries) {
  EXPECT_TRUE(RegistrationErrors().ok());
  Registry<int>& fruits = *Registry<int>::NewGlobal("fruit");
  Registry<int>& animals = *Registry<int>::NewGlobal("animal");
  fruits.Register("pear", 1, {"b.cc", 2});
  EXPECT_TRUE(RegistrationErrors().ok());
  fruits.Register("pear", 1, {"a.cc", 1});
  animals.Register("cat", 1, {"c.cc", 3});
  animals.Register("cat", 2, {"c.cc", 4});
  AddRegistrationCheck(
      [] { return std::vector<std::string>{"plant moss: never seen"}; });
  EXPECT_EQ(RegistrationErrors(),
            absl::FailedPreconditionError(
                "animal cat is registered twice: c.cc:3 and c.cc:4\n"
                "fruit pear is registered twice: a.cc:1 and b.cc:2\n"
                "plant moss: never seen"));
}

}  // namespace
}  // namespace baton
