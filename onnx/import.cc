#include "baton/onnx/import.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/printable.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/dim_names.h"
#include "baton/onnx/importer.h"
#include "baton/onnx/model.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"

namespace baton {

namespace onnx {
namespace {

// Imports; if names of dimensions contradict each other, without them. `needs`:
// what was lacking, if the import fails.
absl::StatusOr<IRModule> ImportOnce(const ModelProto& model,
                                    const std::shared_ptr<const void>& owner,
                                    const OnnxImportOptions& options,
                                    InputNeeds& needs) {
  Importer importer(model, owner, options, /*keeps_names=*/true);
  absl::StatusOr<IRModule> module = importer.Import();
  if (options.external_files != nullptr) {
    for (const auto& [location, file] : importer.tensors().files) {
      options.external_files->push_back(
          absl::StrCat(options.folder, "/", location));
    }
  }
  if (module.ok()) return module;
  needs = importer.Needs();
  if (!importer.has_symbols() || !absl::IsInvalidArgument(module.status())) {
    return module;
  }
  // Models exist that call one extent by two names, or by the name of another.
  Importer nameless(model, owner, options, /*keeps_names=*/false);
  absl::StatusOr<IRModule> again = nameless.Import();
  if (!again.ok() && absl::IsUnimplemented(again.status())) {
    needs = nameless.Needs();
  }
  return again.ok() ? std::move(again) : std::move(module);
}

// Takes values at hand into the options of an import, step by step.
class ValueBinder {
 public:
  ValueBinder(const GraphProto& graph, OnnxImportOptions& options)
      : graph_(graph), options_(options) {}
  // A binder that has taken what `other` has, for a copy of its options.
  ValueBinder(const ValueBinder& other, OnnxImportOptions& options)
      : graph_(other.graph_),
        options_(options),
        values_(other.values_),
        shapes_(other.shapes_) {}

  // Takes what `needs` says; else all shapes; else what `needs` says of shapes
  // as values, or small tensors of integers. Whether there was anything.
  bool TakeMore(const InputNeeds& needs) {
    bool any = false;
    for (const std::string& name : needs.shapes) any |= TakeShape(name);
    for (const std::string& name : needs.values) any |= TakeValue(name);
    if (any) return true;
    for (const ValueInfo& info : graph_.inputs) {
      any |= TakeShape(std::string(info.name));
    }
    if (any) return true;
    for (const std::string& name : needs.shapes) any |= TakeValue(name);
    if (any) return true;
    for (const ValueInfo& info : graph_.inputs) {
      const std::string name(info.name);
      const auto found = options_.values_at_hand.find(name);
      if (found != options_.values_at_hand.end() &&
          !found->second.dtype().is_float() &&
          found->second.num_elements() <= kMaxFoldedElements) {
        any |= TakeValue(name);
      }
    }
    return any;
  }

  // Takes the shapes of all inputs; an error if one is not the model's.
  absl::Status TakeAllShapes() {
    for (const ValueInfo& info : graph_.inputs) {
      const std::string name(info.name);
      const auto found = options_.values_at_hand.find(name);
      if (found == options_.values_at_hand.end()) continue;
      const absl::Span<const int64_t> shape = found->second.shape();
      if (info.shape.has_value() && !Fits(shape, *info.shape) &&
          !options_.input_shapes.contains(name)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "input '", Printable(info.name), "' has the shape (",
            absl::StrJoin(*info.shape, ", ",
                          [](std::string* out, const auto& dimension) {
                            absl::StrAppend(out,
                                            dimension.value.has_value()
                                                ? absl::StrCat(*dimension.value)
                                            : dimension.param.empty()
                                                ? "?"
                                                : Printable(dimension.param));
                          }),
            "), but the tensor that was given for it has (",
            absl::StrJoin(shape, ", "), ")"));
      }
      TakeShape(name);
    }
    return absl::OkStatus();
  }

  // Takes the integers (axes, sizes, pads, numbers of rounds) and the bools
  // (conditions, elements to keep) that shapes may depend on.
  bool TakeShapeValues() {
    constexpr int64_t kMost = 64;
    bool any = false;
    for (const ValueInfo& info : graph_.inputs) {
      const std::string name(info.name);
      const auto found = options_.values_at_hand.find(name);
      if (found == options_.values_at_hand.end()) continue;
      const Tensor& value = found->second;
      if ((value.dtype().is_int() || value.dtype().is_bool()) &&
          value.rank() <= 1 && value.num_elements() <= kMost) {
        any |= TakeValue(name);
      }
    }
    return any;
  }

  OnnxValuesUsed used() const {
    OnnxValuesUsed result;
    for (const ValueInfo& info : graph_.inputs) {
      const std::string name(info.name);
      if (values_.contains(name)) {
        result.values.push_back(name);
      } else if (shapes_.contains(name) ||
                 options_.parts_at_hand.contains(name)) {
        result.shapes.push_back(name);
      }
    }
    result.dims = ParamDims();
    return result;
  }

 private:
  // See OnnxValuesUsed::dims.
  std::vector<std::vector<std::string>> ParamDims() const {
    FlatHashSet<absl::string_view> initializers;
    for (const TensorProto& initializer : graph_.initializers) {
      initializers.insert(initializer.name);
    }
    std::vector<std::vector<std::string>> result;
    for (const ValueInfo& info : graph_.inputs) {
      const std::string name(info.name);
      if (initializers.contains(info.name) ||
          options_.input_values.contains(name)) {
        continue;
      }
      const auto parts = options_.parts_at_hand.find(name);
      if (parts != options_.parts_at_hand.end() &&
          info.kind != ValueInfo::Kind::kTensor) {
        result.resize(result.size() + parts->second.tensors.size());
        continue;
      }
      std::vector<std::string>& dims = result.emplace_back();
      const bool is_given =
          options_.input_shapes.contains(name) && !shapes_.contains(name);
      if (is_given || !info.shape.has_value()) continue;
      for (const ValueInfo::Dimension& dimension : *info.shape) {
        dims.push_back(
            dimension.value.has_value() ? "" : std::string(dimension.param));
      }
    }
    return result;
  }

  const ValueInfo* InfoOf(const std::string& name) const {
    for (const ValueInfo& info : graph_.inputs) {
      if (info.name == name) return &info;
    }
    return nullptr;
  }

  static bool Fits(absl::Span<const int64_t> shape,
                   absl::Span<const ValueInfo::Dimension> said) {
    if (shape.size() != said.size()) return false;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (said[i].value.has_value() && *said[i].value >= 0 &&
          *said[i].value != shape[i]) {
        return false;
      }
    }
    return true;
  }

  bool TakeValue(const std::string& name) {
    const auto found = options_.values_at_hand.find(name);
    const ValueInfo* info = InfoOf(name);
    if (found == options_.values_at_hand.end() || info == nullptr ||
        IsOfOtherSizes(*info, found->second.shape()) ||
        !options_.input_values.emplace(name, found->second).second) {
      return false;
    }
    values_.insert(name);
    return true;
  }

  // True if the import is for other sizes of dimensions with names than
  // those of `shape`, which a value for the input has.
  bool IsOfOtherSizes(const ValueInfo& info,
                      absl::Span<const int64_t> shape) const {
    if (!info.shape.has_value() || info.shape->size() != shape.size()) {
      return false;
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      const auto sized = SizeOfDim((*info.shape)[i].param, options_.dims);
      if (sized.has_value() && *sized != shape[i]) {
        return true;
      }
    }
    return false;
  }

  // Only of inputs whose shape the model does not say.
  bool TakeShape(const std::string& name) {
    const auto found = options_.values_at_hand.find(name);
    const ValueInfo* info = InfoOf(name);
    if (found == options_.values_at_hand.end() || info == nullptr ||
        info->kind != ValueInfo::Kind::kTensor ||
        options_.input_values.contains(name)) {
      return false;
    }
    const bool is_known =
        info->shape.has_value() &&
        std::all_of(info->shape->begin(), info->shape->end(),
                    [this](const ValueInfo::Dimension& dimension) {
                      return dimension.value.has_value()
                                 ? *dimension.value >= 0
                                 : SizeOfDim(dimension.param, options_.dims)
                                       .has_value();
                    });
    const absl::Span<const int64_t> shape = found->second.shape();
    if (is_known ||
        !options_.input_shapes
             .emplace(name, std::vector<int64_t>(shape.begin(), shape.end()))
             .second) {
      return false;
    }
    shapes_.insert(name);
    return true;
  }

  const GraphProto& graph_;
  OnnxImportOptions& options_;
  FlatHashSet<std::string> values_;
  FlatHashSet<std::string> shapes_;
};

// Says which flags decide about what a node lacked.
std::string DescribeNeeds(const GraphProto& graph, const InputNeeds& needs) {
  std::vector<std::string> flags;
  const auto add = [&](absl::string_view flag, absl::string_view value,
                       const FlatHashSet<std::string>& names) {
    std::vector<std::string> given;
    for (const ValueInfo& info : graph.inputs) {
      if (!names.contains(std::string(info.name))) continue;
      given.push_back(absl::StrCat(Printable(info.name), ":", value));
    }
    if (!given.empty()) {
      flags.push_back(absl::StrCat("--", flag, "=", absl::StrJoin(given, ",")));
    }
  };
  add("input_values", "VALUE", needs.values);
  add("input_shapes", "[...]", needs.shapes);
  return absl::StrCat("it depends on inputs: give ",
                      absl::StrJoin(flags, " and "),
                      "; baton-run takes them from --inputs");
}

// True if all tensors of @main have constant shapes.
bool IsStatic(const IRModule& module) {
  bool is_static = true;
  relay::PostOrderVisit(module.Find<relay::Function>("main")->body(),
                        [&is_static](const ExprNode* node) {
                          const TensorTypeNode* type = node->tensor_type();
                          is_static = is_static &&
                                      (type == nullptr || type->is_static());
                        });
  return is_static;
}

// Refuses values that were given in two ways and differ.
absl::Status CheckValuesAtHand(const OnnxImportOptions& options) {
  for (const auto& [name, given] : options.input_values) {
    const auto at_hand = options.values_at_hand.find(name);
    if (at_hand == options.values_at_hand.end() || at_hand->second == given) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "the value that was given for input '", name,
        "' (--input_values) is not "
        "that of the tensor that it is run with; leave one of them out"));
  }
  return absl::OkStatus();
}

// Imports, and takes values at hand as long as it fails without them.
absl::StatusOr<IRModule> ImportWithValues(
    const ModelProto& model, const std::shared_ptr<const void>& owner,
    OnnxImportOptions options) {
  BATON_RETURN_IF_ERROR(CheckValuesAtHand(options));
  BATON_ASSIGN_OR_RETURN(const GraphProto graph, ReadGraph(model.graph));
  OnnxImportOptions taken = options;
  ValueBinder binder(graph, taken);
  if (options.takes_all_shapes) BATON_RETURN_IF_ERROR(binder.TakeAllShapes());
  while (true) {
    InputNeeds needs;
    absl::StatusOr<IRModule> module = ImportOnce(model, owner, taken, needs);
    if (module.ok() || options.values_at_hand.empty() ||
        !binder.TakeMore(needs)) {
      OnnxValuesUsed used = binder.used();
      if (module.ok() && options.takes_all_shapes && !IsStatic(*module)) {
        // Values may decide about shapes that are not known yet.
        OnnxImportOptions more = taken;
        ValueBinder with_values(binder, more);
        if (with_values.TakeShapeValues()) {
          absl::StatusOr<IRModule> again =
              ImportOnce(model, owner, more, needs);
          if (again.ok() && IsStatic(*again)) {
            module = std::move(again);
            used = with_values.used();
          }
        }
      }
      if (module.ok() && options.used != nullptr) {
        *options.used = std::move(used);
      }
      if (!module.ok() && !(needs.values.empty() && needs.shapes.empty())) {
        return absl::Status(module.status().code(),
                            absl::StrCat(module.status().message(), "\n",
                                         DescribeNeeds(graph, needs)));
      }
      return module;
    }
  }
}

}  // namespace
}  // namespace onnx

absl::StatusOr<IRModule> ImportOnnx(absl::string_view bytes,
                                    std::shared_ptr<const void> owner,
                                    const OnnxImportOptions& options) {
  absl::StatusOr<IRModule> result = [&]() -> absl::StatusOr<IRModule> {
    BATON_ASSIGN_OR_RETURN(const onnx::ModelProto model,
                           onnx::ReadModel(bytes));
    return onnx::ImportWithValues(model, owner, options);
  }();
  if (result.ok() ||
      absl::StartsWith(result.status().message(), options.name)) {
    return result;
  }
  return absl::Status(
      result.status().code(),
      absl::StrCat(options.name, ": ", result.status().message()));
}

}  // namespace baton
