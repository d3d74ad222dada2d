#include "baton/transform/pass_registry.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/registry.h"
#include "baton/ir/module.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

struct UnrollOptions {
  int64_t factor = 4;
  std::string mode;

  template <typename V>
  static void VisitFields(V& v) {
    v("factor", &UnrollOptions::factor, "How often.");
    v("mode", &UnrollOptions::mode, "How.", kRequired);
  }
};

Pass Unroll(UnrollOptions options) {
  return toy::Nothing({.name = "Unroll",
                       .opt_level = static_cast<int>(options.factor),
                       .doc = "Unrolls."});
}
BATON_REGISTER_PASS(Unroll);

absl::StatusOr<Pass> Picky(UnrollOptions options) {
  if (options.factor < 0) return absl::InvalidArgumentError("too small");
  return toy::Nothing({.name = "Picky"});
}
BATON_REGISTER_PASS_AS("Picky", Picky);

absl::StatusOr<Pass> NeedsMode(UnrollOptions options) {
  if (options.mode.empty()) return absl::InvalidArgumentError("what mode?");
  return toy::Nothing({.name = "NeedsMode"});
}

Pass Misnamed() { return toy::Nothing({.name = "Named"}); }
BATON_REGISTER_PASS(Misnamed);

BATON_REGISTER_PASS_AS("Twice", [] { return toy::AToB(); });
BATON_REGISTER_PASS_AS("Twice", toy::BToA);

// Calls itself after its mode.
Pass Moody(UnrollOptions options) {
  return toy::Nothing({.name = options.mode.empty()
                                   ? std::string("Moody")
                                   : absl::StrCat("Moody.", options.mode)});
}
BATON_REGISTER_PASS(Moody);

TEST(PassRegistryTest, OptionsMayAddAPartToTheName) {
  const PassRegistry& registry = PassRegistry::Global();
  EXPECT_EQ(registry.Create("Moody", {{"mode", "sad"}})->name(), "Moody.sad");
  EXPECT_EQ(registry.Create("Moody.sad", {{"mode", "sad"}})->name(),
            "Moody.sad");
  EXPECT_EQ(registry.Create("Moody.glad", {{"mode", "sad"}}).status().message(),
            "unknown pass Moody.glad: with these options it is Moody.sad");
  EXPECT_EQ(registry.Create("Picky.sad", {{"mode", "sad"}}).status().message(),
            "unknown pass Picky.sad: with these options it is Picky");
  EXPECT_FALSE(registry.Get("Moody.sad").ok());
  EXPECT_FALSE(registry.Contains("Moody.sad"));
}

TEST(PassRegistryTest, RegisteredPassesAreThere) {
  const PassRegistry& registry = PassRegistry::Global();
  EXPECT_THAT(registry.Names(), Contains("Unroll"));
  EXPECT_THAT(registry.Names(), Contains("InferType"));
  EXPECT_TRUE(registry.Contains("Picky"));
  EXPECT_FALSE(registry.Contains("picky"));
}

TEST(PassRegistryTest, InfoComesFromThePass) {
  const absl::StatusOr<PassInfo> info = PassRegistry::Global().Info("Unroll");
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->name, "Unroll");
  EXPECT_EQ(info->opt_level, 4);
  EXPECT_EQ(info->doc, "Unrolls.");
  EXPECT_EQ(info->granularity, PassGranularity::kFunction);
}

TEST(PassRegistryTest, CreateWithOptions) {
  const PassRegistry& registry = PassRegistry::Global();
  const absl::StatusOr<Pass> pass =
      registry.Create("Unroll", {{"factor", 2}, {"mode", "full"}});
  ASSERT_TRUE(pass.ok()) << pass.status();
  EXPECT_EQ(pass->info().opt_level, 2);
}

TEST(PassRegistryTest, ErrorsNameTheCulprit) {
  const PassRegistry& registry = PassRegistry::Global();
  const auto message = [&](const char* name, const AttrMap& options) {
    return std::string(registry.Create(name, options).status().message());
  };
  EXPECT_EQ(message("Unrol", {}),
            "unknown pass Unrol; did you mean \"Unroll\"?");
  EXPECT_EQ(registry.Get("Unrol").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(message("Unroll", {{"mod", "x"}}), HasSubstr("pass Unroll: "));
  EXPECT_THAT(message("Unroll", {{"mod", "x"}}), HasSubstr("mode"));
  EXPECT_THAT(message("Unroll", {{"mode", "x"}, {"factor", "y"}}),
              HasSubstr("factor"));
  // A required option that is missing.
  EXPECT_THAT(message("Unroll", {}), HasSubstr("mode"));
  EXPECT_FALSE(registry.Get("Unroll").ok());
  EXPECT_EQ(message("InferType", {{"x", 1}}),
            "pass InferType: unknown option x: it takes no options");
  EXPECT_EQ(message("Picky", {{"factor", -1}, {"mode", "x"}}),
            "pass Picky: too small");
}

TEST(PassRegistryTest, RegisteredTwice) {
  const std::string message(
      PassRegistry::Global().Get("Twice").status().message());
  EXPECT_THAT(message,
              MatchesRegex("pass Twice is registered twice: "
                           ".*transform/pass_registry_test.cc:[0-9]+ and "
                           ".*transform/pass_registry_test.cc:[0-9]+"));
  EXPECT_FALSE(PassRegistry::Global().Info("Twice").ok());
  EXPECT_FALSE(PassRegistry::Global().Factory("Twice").ok());
}

TEST(PassRegistryTest, NameMustBeThatOfThePass) {
  PassRegistry registry;
  registry.Register("InferType", toy::InferType, {"a.cc", 1});
  registry.Register("TanhToSigmoidPass", toy::AToB, {"t.cc", 7});
  constexpr char kError[] =
      "pass TanhToSigmoidPass is registered at t.cc:7 but calls itself "
      "\"AToB\": the two names must agree";
  EXPECT_EQ(registry.Get("TanhToSigmoidPass").status().message(), kError);
  EXPECT_EQ(registry.Info("TanhToSigmoidPass").status().message(), kError);
  EXPECT_EQ(registry.Create("TanhToSigmoidPass", {}).status().message(),
            kError);
  EXPECT_THAT(registry.Errors(), ElementsAre(kError));
  // A replacement by a test may have any name.
  registry.Override("TanhToSigmoidPass", toy::AToB);
  EXPECT_TRUE(registry.Get("TanhToSigmoidPass").ok());
  EXPECT_THAT(registry.Errors(), IsEmpty());
}

// A factory that cannot make a pass with default options is no error of its
// registration; its name is checked when it makes one.
TEST(PassRegistryTest, NameOfAPassThatNeedsOptions) {
  PassRegistry registry;
  registry.Register("Wrong", PassFactory(NeedsMode), {"t.cc", 7});
  EXPECT_THAT(registry.Errors(), IsEmpty());
  EXPECT_EQ(registry.Info("Wrong").status().message(),
            "pass Wrong: what mode?");
  EXPECT_EQ(registry.Create("Wrong", {{"mode", "x"}}).status().message(),
            "pass Wrong is registered at t.cc:7 but calls itself "
            "\"NeedsMode\": the two names must agree");
}

TEST(PassRegistryTest, ErrorsOfTheGlobalOneAreRegistrationErrors) {
  const absl::Status status = RegistrationErrors();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("pass Twice is registered twice: "));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("pass Misnamed is registered at "));
}

TEST(PassRegistryTest, FactoryThatThrowsOrReturnsNothing) {
  PassRegistry registry;
  registry.Register("Throws", []() -> Pass { throw std::runtime_error("no"); });
  registry.Register("Null", [] { return Pass(); });
  EXPECT_EQ(registry.Get("Throws").status().message(),
            "pass Throws: its factory threw an exception: no");
  EXPECT_EQ(registry.Get("Null").status().message(),
            "pass Null: its factory returned a null pass");
}

TEST(PassRegistryTest, GetReturnsOnePass) {
  const PassRegistry& registry = PassRegistry::Global();
  EXPECT_EQ(&registry.Get("InferType")->impl(),
            &registry.Get("InferType")->impl());
}

TEST(PassRegistryTest, CopyCanBeChanged) {
  PassRegistry copy(PassRegistry::Global());
  EXPECT_EQ(copy.Names(), PassRegistry::Global().Names());
  ASSERT_TRUE(copy.Get("InferType").ok());
  copy.Override("InferType", [] { return toy::Fails("overridden"); });
  copy.Override("New", toy::AToB);
  EXPECT_EQ(copy.Get("InferType")->name(), "Fails");
  EXPECT_TRUE(copy.Contains("New"));
  EXPECT_EQ(PassRegistry::Global().Get("InferType")->name(), "InferType");
  EXPECT_FALSE(PassRegistry::Global().Contains("New"));

  // A context that is given the copy uses it.
  const Pass needy = toy::Nothing({.name = "Needy", .required = {"InferType"}});
  const absl::StatusOr<IRModule> result =
      PassContext({.registry = &copy}).Run([&] {
        return Sequential({needy})(toy::Module());
      });
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("overridden"));
}

TEST(PassRegistryTest, ManyThreads) {
  PassRegistry registry(PassRegistry::Global());
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&registry, i] {
      for (int k = 0; k < 100; ++k) {
        EXPECT_TRUE(registry.Get("InferType").ok());
        registry.Override(i % 2 == 0 ? "X" : "Y", toy::AToB);
        EXPECT_TRUE(registry.Get(i % 2 == 0 ? "X" : "Y").ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace baton
