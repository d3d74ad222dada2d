// Code for Acme's vector unit: a C function for each region of instructions
// that are in acme.patterns, with one loop over the elements.

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/strings/substitute.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/runtime/code_generator.h"
#include "baton/relay/runtime/value.h"

namespace acme {
namespace {

// [instructions]
// The C of each composite pattern; $0 and $1 are its arguments.
const std::map<absl::string_view, absl::string_view>& Instructions() {
  static const auto& kInstructions =
      *new std::map<absl::string_view, absl::string_view>{
          {"acme.hard_swish",
           "$0 * fminf(fmaxf($0 + 3.0f, 0.0f), 6.0f) / 6.0f"},
          {"acme.add", "$0 + $1"},
          {"acme.relu", "fmaxf($0, 0.0f)"}};
  return kInstructions;
}
// [/instructions]

// [generate]
// The composite pattern that a call is a match of; empty if it is of none.
std::string CompositeOf(const baton::relay::CallNode& call) {
  const auto* function = call.op().As<baton::relay::FunctionNode>();
  if (function == nullptr) return "";
  const baton::AttrValue* composite =
      function->attrs().Find(baton::relay::attr::kComposite);
  const auto* name =
      composite == nullptr ? nullptr : composite->As<std::string>();
  return name == nullptr ? "" : *name;
}

// The results of a region: one tensor or several.
std::vector<baton::Expr> Results(const baton::relay::Function& region) {
  const auto* tuple = region->body().As<baton::relay::TupleNode>();
  if (tuple == nullptr) return {region->body()};
  return {tuple->fields().begin(), tuple->fields().end()};
}

// Checks that a region has arguments, all of one type.
absl::Status Check(const baton::relay::Function& region) {
  for (const baton::relay::Var& param : region->params()) {
    const auto* type = param->type().As<baton::TensorTypeNode>();
    if (type == nullptr || type->dtype() != baton::DType::Float(32) ||
        !baton::StructuralEqual(param->type(), region->params()[0]->type())) {
      return absl::InvalidArgumentError("arguments differ, or are no float32");
    }
  }
  if (!region->params().empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("there are no arguments");
}

absl::StatusOr<baton::relay::Artifact> Generate(
    const baton::relay::Function& region, const std::string& symbol) {
  BATON_RETURN_IF_ERROR(Check(region));
  std::string body;
  std::map<const baton::ExprNode*, std::string> names;
  const auto define = [&](const baton::ExprNode* node, const std::string& c) {
    const std::string name = absl::StrCat("t", names.size());
    absl::StrAppend(&body, "    const float ", name, " = ", c, ";\n");
    names[node] = name;
  };
  for (size_t i = 0; i < region->params().size(); ++i) {
    define(region->params()[i].get(), absl::StrCat("in[", i, "][i]"));
  }
  std::string unknown;
  // A composite function is one instruction: its body is not visited.
  const auto enters = [](const baton::ExprNode* node) {
    return node->kind() != baton::relay::ExprKind::kFunction;
  };
  baton::relay::PostOrderVisit(
      region->body(), enters, [&](const baton::ExprNode* node) {
        const auto* call = baton::Expr(node).As<baton::relay::CallNode>();
        if (call == nullptr) return;
        const std::string composite = CompositeOf(*call);
        const auto instruction = Instructions().find(composite);
        if (instruction == Instructions().end()) {
          unknown = absl::StrCat("no instruction for \"", composite, "\"");
          return;
        }
        // `x + x` is a composite of one argument.
        define(node, absl::Substitute(instruction->second,
                                      names[call->args().front().get()],
                                      names[call->args().back().get()]));
      });
  if (!unknown.empty()) return absl::UnimplementedError(unknown);
  const std::vector<baton::Expr> results = Results(region);
  for (size_t i = 0; i < results.size(); ++i) {
    absl::StrAppend(&body, "    out[", i, "][i] = ", names[results[i].get()],
                    ";\n");
  }
  return baton::relay::Artifact{
      symbol + ".c",
      absl::Substitute(
          "#include <math.h>\n\n"
          "void $0(long size, const float* const* in, float* const* out) {\n"
          "  for (long i = 0; i < size; ++i) {\n$1  }\n}\n",
          symbol, body)};
}
// [/generate]

// [load]
// The function in C that Generate() writes.
using Compiled = void(long size, const float* const* in, float* const* out);

// Loads the function from the shared library that $ACME_LIBRARY names; null if
// there is none.
absl::StatusOr<baton::relay::ExternalFunction> Load(
    const baton::relay::Function& region,
    const baton::relay::Artifact& artifact) {
  BATON_RETURN_IF_ERROR(Check(region));
  const char* const path = std::getenv("ACME_LIBRARY");
  if (path == nullptr) return baton::relay::ExternalFunction();
  void* const library = dlopen(path, RTLD_NOW);
  if (library == nullptr) return absl::NotFoundError(dlerror());
  const std::string symbol(absl::StripSuffix(artifact.name, ".c"));
  auto* const compiled =
      reinterpret_cast<Compiled*>(dlsym(library, symbol.c_str()));
  if (compiled == nullptr) return absl::NotFoundError(dlerror());
  const size_t num_results = Results(region).size();
  return [=](absl::Span<const baton::relay::Value> args)
             -> absl::StatusOr<baton::relay::Value> {
    std::vector<const float*> in;
    for (const baton::relay::Value& arg : args) {
      in.push_back(arg.tensor().span<float>().data());
    }
    // All tensors of a region are of one shape.
    const baton::Tensor& first = args[0].tensor();
    std::vector<baton::MutableTensor> tensors;
    std::vector<float*> out;
    for (size_t i = 0; i < num_results; ++i) {
      BATON_ASSIGN_OR_RETURN(
          baton::MutableTensor tensor,
          baton::MutableTensor::Create(first.dtype(), first.shape()));
      tensors.push_back(std::move(tensor));
      out.push_back(tensors.back().span<float>().data());
    }
    compiled(first.num_elements(), in.data(), out.data());
    std::vector<baton::relay::Value> results;
    for (baton::MutableTensor& tensor : tensors) {
      results.emplace_back(std::move(tensor).Freeze());
    }
    if (num_results == 1) return results[0];
    return baton::relay::Value::MakeTuple(std::move(results));
  };
}
// [/load]

// [register]
baton::relay::CodeGenerator Accelerator() {
  return {
      .doc = "C for Acme's vector unit.", .generate = Generate, .load = Load};
}
BATON_REGISTER_CODE_GENERATOR("acme", Accelerator);
// [/register]

}  // namespace
}  // namespace acme
