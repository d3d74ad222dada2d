// Uses Baton as a library: reads a model, runs a pipeline over it, evaluates it
// before and after on the same random inputs.
//
//   optimize MODEL.relay PIPELINE

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/instrument/op_differ.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"

namespace acme {
namespace {

using baton::IRModule;
using baton::Tensor;
using baton::relay::Value;

absl::Status Optimize(const std::string& path, const std::string& pipeline) {
  std::ifstream in(path);
  if (!in) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  const std::string text(std::istreambuf_iterator<char>(in), {});
  BATON_ASSIGN_OR_RETURN(IRModule module, baton::ParseModule(text, path));
  BATON_ASSIGN_OR_RETURN(module, baton::relay::InferTypes(module));

  const auto differ = std::make_shared<baton::OpDiffer>();
  BATON_ASSIGN_OR_RETURN(const baton::Pass passes,
                         baton::ParsePipeline(pipeline));
  const baton::PassContext context({.opt_level = 3, .instruments = {differ}});
  BATON_ASSIGN_OR_RETURN(const IRModule optimized,
                         context.Run([&] { return passes(module); }));
  std::cout << differ->ToString();

  BATON_ASSIGN_OR_RETURN(
      const std::vector<Value> inputs,
      baton::relay::RandomInputs(module.Find<baton::relay::Function>("main"),
                                 /*seed=*/1));
  BATON_ASSIGN_OR_RETURN(const Value before, baton::relay::EvaluateFunction(
                                                 module, "main", inputs));
  BATON_ASSIGN_OR_RETURN(const Value after, baton::relay::EvaluateFunction(
                                                optimized, "main", inputs));
  const auto* x = static_cast<const float*>(before.tensor().data());
  const auto* y = static_cast<const float*>(after.tensor().data());
  float difference = 0;
  for (int64_t i = 0; i < before.tensor().num_elements(); ++i) {
    difference = std::fmax(difference, std::fabs(x[i] - y[i]));
  }
  std::cout << (difference < 1e-5f ? "the same results\n" : "other results\n");
  return absl::OkStatus();
}

}  // namespace
}  // namespace acme

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: optimize MODEL.relay PIPELINE\n";
    return 1;
  }
  const absl::Status status = acme::Optimize(argv[1], argv[2]);
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
