// Any text is a pipeline that prints and parses back, or an error.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/value_text.h"
#include "baton/ir/module.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"

namespace baton {
namespace {

struct ToyOptions {
  AttrList list;
  AttrMap map;
  std::string text;
  double number = 0;
  bool flag = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("list", &ToyOptions::list, "");
    v("map", &ToyOptions::map, "");
    v("text", &ToyOptions::text, "");
    v("number", &ToyOptions::number, "");
    v("flag", &ToyOptions::flag, "");
  }
};

Pass Toy(ToyOptions options) {
  return CreateModulePass([](IRModule module, const PassContext& /*context*/)
                              -> absl::StatusOr<IRModule> { return module; },
                          {.name = "Toy"}, std::move(options));
}
BATON_REGISTER_PASS(Toy);
BATON_REGISTER_PASS_AS("AToB", toy::AToB);

void Check(bool condition) {
  if (!condition) std::abort();
}

void CheckPipeline(absl::string_view text) {
  const absl::StatusOr<Pass> pass = ParsePipeline(text);
  if (!pass.ok()) return;
  const absl::StatusOr<std::string> printed = PipelineToString(*pass);
  Check(printed.ok());
  const absl::StatusOr<Pass> again = ParsePipeline(*printed);
  Check(again.ok());
  Check(*PipelineToString(*again) == *printed);
}

void CheckValue(absl::string_view text) {
  const absl::StatusOr<AttrValue> value = ParseAttrValue(text);
  if (!value.ok()) return;
  const absl::StatusOr<AttrValue> again = ParseAttrValue(value->ToString());
  Check(again.ok() && again->ToString() == value->ToString());
}

}  // namespace
}  // namespace baton

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  baton::CheckPipeline(text);
  baton::CheckValue(text);
  return 0;
}
