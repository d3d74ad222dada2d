#include "baton/instrument/compare_values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/plural.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/instrument/tensor_error.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/value_promise.h"

namespace baton {
namespace {

using relay::ConstructorNode;
using relay::Value;

std::string Describe(const Value& value) {
  if (value.is_tensor()) return value.tensor().TypeToString();
  if (value.is_tuple()) {
    return absl::StrCat("a tuple of ", value.fields().size());
  }
  if (value.is_data()) {
    return absl::StrCat("a value of the constructor ",
                        value.data().constructor->name());
  }
  return value.is_cell() ? "a reference" : "a function";
}

// The fields of a tuple or of a value of a data type.
absl::Span<const Value> FieldsOf(const Value& value) {
  return value.is_data() ? absl::MakeConstSpan(value.data().fields)
                         : value.fields();
}

// References that hold each other, and long lists, are compared as far as this
// many parts.
constexpr int64_t kMaxParts = 1'000'000;

// `[1, 0, 3]` of element `index`.
std::string Position(const Tensor& tensor, int64_t index) {
  std::string result;
  for (int d = tensor.rank() - 1; d >= 0; --d) {
    const int64_t size = tensor.shape()[static_cast<size_t>(d)];
    result = absl::StrCat(index % size, result.empty() ? "" : ", ", result);
    index /= size;
  }
  return absl::StrCat("[", result, "]");
}

std::string ElementToString(const Tensor& tensor, int64_t i) {
  const DType dtype = tensor.dtype();
  if (!dtype.is_float()) return absl::StrCat(tensor.AtAsInt64(i));
  constexpr int kDigits = 17;
  char text[40];
  std::snprintf(text, sizeof(text), "%.*g", dtype.bits() > 32 ? kDigits : 9,
                tensor.AtAsDouble(i));
  return text;
}

// NaN, infinite, or a zero.
bool IsSpecial(double x) { return !std::isfinite(x) || x == 0; }

absl::Status CompareTensors(const std::string& path, const Tensor& a,
                            const Tensor& b, const PassInfo& info) {
  if (a == b) return absl::OkStatus();
  const ValuePromise promise = ValuePromiseOf(info);
  const bool within_tolerance = promise != ValuePromise::kBitExact &&
                                promise != ValuePromise::kExactButSpecial;
  const bool same_dtype = a.dtype() == b.dtype();
  const size_t bytes = static_cast<size_t>(a.dtype().bytes());
  double largest = 0;
  if (within_tolerance) {
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      const double x = std::fabs(a.AtAsDouble(i));
      if (std::isfinite(x)) largest = std::max(largest, x);
    }
  }
  double allowed = info.tolerance * largest;
  if (promise == ValuePromise::kPrecisionChanging && a.dtype().is_integral() &&
      !a.dtype().is_bool()) {
    allowed = std::max(allowed, 1.0);
  }
  const auto agree = [&](int64_t i) {
    const size_t offset = static_cast<size_t>(i) * bytes;
    if (same_dtype && std::memcmp(a.bytes().data() + offset,
                                  b.bytes().data() + offset, bytes) == 0) {
      return true;
    }
    const double x = a.AtAsDouble(i);
    const double y = b.AtAsDouble(i);
    if (promise == ValuePromise::kExactButSpecial && a.dtype().is_float()) {
      return IsSpecial(x) || IsSpecial(y);
    }
    if (std::isnan(x) || std::isnan(y)) {
      if (std::isnan(x) && std::isnan(y)) return true;
      // A sum of infinities may be NaN in one order and infinite in another.
      return within_tolerance && !std::isfinite(x) && !std::isfinite(y);
    }
    // Infinities differ by no number.
    return within_tolerance && (x == y || std::fabs(x - y) <= allowed);
  };
  int64_t num_off = 0;
  int64_t first = 0;
  int64_t worst = 0;
  double worst_error = -1;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    if (agree(i)) continue;
    if (num_off++ == 0) first = i;
    const double error = std::fabs(a.AtAsDouble(i) - b.AtAsDouble(i));
    if (error > worst_error) {
      worst_error = error;
      worst = i;
    }
  }
  if (num_off == 0) return absl::OkStatus();
  if (worst_error < 0) worst = first;  // none is a number
  return absl::InvalidArgumentError(absl::StrCat(
      num_off, " of ", Plural(a.num_elements(), "element"), " of ", path, ", ",
      a.TypeToString(), ", are off; ", path, Position(a, worst), " is ",
      ElementToString(b, worst), " and was ", ElementToString(a, worst),
      within_tolerance ? absl::StrCat(" (allowed: ", info.tolerance,
                                      " of the largest element, ", largest, ")")
                       : absl::StrCat(" (the pass promises to keep every bit",
                                      promise == ValuePromise::kExactButSpecial
                                          ? " of ordinary numbers)"
                                          : ")"),
      same_dtype ? absl::StrCat("; largest errors: ", ToString(ErrorOf(a, b)))
                 : ""));
}

// The constructor that a closure is; null if it is another function.
const ConstructorNode* ConstructorOf(const Value::Closure& closure) {
  const auto* call = closure.function.defined()
                         ? closure.function->body().As<relay::CallNode>()
                         : nullptr;
  if (call == nullptr) return nullptr;
  const absl::Span<const relay::Var> params = closure.function->params();
  const bool forwards =
      std::equal(call->args().begin(), call->args().end(), params.begin(),
                 params.end(), [](const Expr& arg, const relay::Var& param) {
                   return arg.get() == param.get();
                 });
  return forwards ? call->op().As<ConstructorNode>() : nullptr;
}

// Compares two results, part by part; functions last, since calls may write
// into references.
class Comparison {
 public:
  Comparison(const PassInfo& info, const CompareValuesOptions& options)
      : info_(info), options_(options) {}

  absl::Status Run(const Value& before, const Value& after) {
    parts_.push_back({options_.name, before, after, 0});
    std::vector<Part> functions;
    int64_t num_parts = 0;
    while (!parts_.empty() || !functions.empty()) {
      if (parts_.empty()) std::swap(parts_, functions);
      const Part part = std::move(parts_.back());
      parts_.pop_back();
      if (++num_parts > kMaxParts) {
        NotCompared(part.path, "the result has too many parts");
        break;
      }
      if (part.a.is_closure() && part.b.is_closure()) {
        if (!part.last) {
          functions.push_back(part);
          functions.back().last = true;
        } else {
          BATON_RETURN_IF_ERROR(CompareFunctions(part));
        }
      } else {
        BATON_RETURN_IF_ERROR(ComparePart(part));
      }
    }
    if (not_compared_.empty()) return absl::OkStatus();
    if (options_.not_compared == nullptr) {
      return absl::UnimplementedError(not_compared_[0]);
    }
    *options_.not_compared = std::move(not_compared_);
    return absl::OkStatus();
  }

 private:
  // Functions that functions return are called so many times in a row.
  static constexpr int kMaxCalls = 4;

  struct Part {
    std::string path;  // as in `result.1.0`
    Value a;
    Value b;
    int calls;          // of functions, before there was this part
    bool last = false;  // a function, all other parts have been compared
  };

  void NotCompared(absl::string_view path, absl::string_view why) {
    not_compared_.push_back(absl::StrCat(path, " is not compared: ", why));
  }

  bool MayBecome(DType before, DType after) const {
    return before == after ||
           (before.is_float() && after.is_float() &&
            ValuePromiseOf(info_) == ValuePromise::kPrecisionChanging);
  }

  absl::Status ComparePart(const Part& part) {
    const Value& a = part.a;
    const Value& b = part.b;
    if (relay::IsUnknown(a) || relay::IsUnknown(b)) {
      NotCompared(part.path, "it depends on operators without kernel");
      return absl::OkStatus();
    }
    if (a.is_cell() && b.is_cell()) {
      parts_.push_back(
          {part.path, a.cell().content, b.cell().content, part.calls});
      return absl::OkStatus();
    }
    const bool tuples = a.is_tuple() && b.is_tuple();
    const bool data =
        a.is_data() && b.is_data() &&
        relay::SameConstructor(*a.data().constructor, *b.data().constructor);
    if ((tuples || data) && FieldsOf(a).size() == FieldsOf(b).size()) {
      for (size_t i = FieldsOf(a).size(); i-- > 0;) {
        parts_.push_back({absl::StrCat(part.path, ".", i), FieldsOf(a)[i],
                          FieldsOf(b)[i], part.calls});
      }
      return absl::OkStatus();
    }
    if (!a.is_tensor() || !b.is_tensor() ||
        !MayBecome(a.tensor().dtype(), b.tensor().dtype()) ||
        a.tensor().shape() != b.tensor().shape()) {
      return absl::InvalidArgumentError(absl::StrCat(
          part.path, " is ", Describe(b), " and was ", Describe(a)));
    }
    return CompareTensors(part.path, a.tensor(), b.tensor(), info_);
  }

  absl::Status CompareFunctions(const Part& part) {
    const Value::Closure& a = part.a.closure();
    const Value::Closure& b = part.b.closure();
    const ConstructorNode* const constructor_a = ConstructorOf(a);
    const ConstructorNode* const constructor_b = ConstructorOf(b);
    if (constructor_a != nullptr && constructor_b != nullptr) {
      if (relay::SameConstructor(*constructor_a, *constructor_b)) {
        return absl::OkStatus();
      }
      return absl::InvalidArgumentError(
          absl::StrCat(part.path, " is the constructor ", constructor_b->name(),
                       " and was the constructor ", constructor_a->name()));
    }
    if (options_.before == nullptr || options_.after == nullptr ||
        !a.function.defined() || !b.function.defined()) {
      NotCompared(part.path, "it is a function");
      return absl::OkStatus();
    }
    if (part.calls >= kMaxCalls) {
      NotCompared(part.path, "functions return functions");
      return absl::OkStatus();
    }
    if (!a.function->type_params().empty()) {
      NotCompared(part.path, "it is a function of type parameters");
      return absl::OkStatus();
    }
    const absl::StatusOr<std::vector<Value>> args = relay::RandomInputs(
        a.function, options_.seed, relay::RandomRange::kPlain);
    if (!args.ok()) {
      NotCompared(part.path,
                  absl::StrCat("it is a function: ", args.status().message()));
      return absl::OkStatus();
    }
    const relay::EvaluateOptions evaluate = {.max_call_depth = 1000};
    absl::StatusOr<Value> was =
        relay::CallFunction(*options_.before, part.a, *args, evaluate);
    if (!was.ok()) {
      NotCompared(part.path,
                  absl::StrCat("it is a function: ", was.status().message()));
      return absl::OkStatus();
    }
    absl::StatusOr<Value> is =
        relay::CallFunction(*options_.after, part.b, *args, evaluate);
    if (!is.ok()) {
      return absl::Status(
          is.status().code(),
          absl::StrCat(part.path,
                       " is a function that cannot be called any "
                       "more: ",
                       is.status().message()));
    }
    parts_.push_back({absl::StrCat(part.path, "(...)"), *std::move(was),
                      *std::move(is), part.calls + 1});
    return absl::OkStatus();
  }

  const PassInfo& info_;
  const CompareValuesOptions& options_;
  std::vector<Part> parts_;
  std::vector<std::string> not_compared_;
};

}  // namespace

absl::Status CompareValues(const Value& before, const Value& after,
                           const PassInfo& info,
                           const CompareValuesOptions& options) {
  return Comparison(info, options).Run(before, after);
}

PassInfo WithRounding(PassInfo info, const IRModule& before,
                      const IRModule& after) {
  if (info.exact) return info;
  constexpr double kRoundings = 8;
  double step = 0;  // from 1 to the next number
  const auto visit = [&step](const ExprNode* node) {
    const TensorTypeNode* type = node->tensor_type();
    if (type == nullptr || !type->dtype().is_float()) return;
    const DType dtype = type->dtype();
    if (dtype.bits() == 16) {
      step = std::max(step, dtype == DType::BFloat(16) ? 0x1p-7 : 0x1p-10);
    }
  };
  for (const IRModule* module : {&before, &after}) {
    for (const auto& d : module->functions<relay::Function>()) {
      relay::PostOrderVisit(d.function, visit);
    }
  }
  info.tolerance = std::max(info.tolerance, kRoundings * step);
  return info;
}

}  // namespace baton
