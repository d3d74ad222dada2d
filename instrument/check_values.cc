#include "baton/instrument/check_values.h"

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
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {
namespace {

// Calls `visit(path, a, b)` for the parts of `before` that are no tuples, each
// with the corresponding part of `after`, until it returns an error. The path
// is as in `result.1.0`.
template <typename Visit>
absl::Status VisitLeaves(const Value& before, const Value& after,
                         const Visit& visit) {
  struct Part {
    std::string path;
    const Value* a;
    const Value* b;
  };
  std::vector<Part> parts = {{"result", &before, &after}};
  while (!parts.empty()) {
    const Part part = std::move(parts.back());
    parts.pop_back();
    const Value* a = part.a;
    const Value* b = part.b;
    if (a->is_cell() && b->is_cell()) {
      parts.push_back({part.path, &a->cell().content, &b->cell().content});
    } else if (a->is_tuple() && b->is_tuple() &&
               a->fields().size() == b->fields().size()) {
      for (size_t i = a->fields().size(); i-- > 0;) {
        parts.push_back({absl::StrCat(part.path, ".", i), &a->fields()[i],
                         &b->fields()[i]});
      }
    } else {
      BATON_RETURN_IF_ERROR(visit(part.path, *a, *b));
    }
  }
  return absl::OkStatus();
}

std::string Describe(const Value& value) {
  if (value.is_tensor()) return value.tensor().TypeToString();
  if (value.is_tuple()) {
    return absl::StrCat("a tuple of ", value.fields().size());
  }
  return value.is_cell() ? "a reference" : "a function";
}

bool AllFinite(const Value& value) {
  bool finite = true;
  VisitLeaves(value, value,
              [&](const std::string& /*path*/, const Value& a, const Value&) {
                if (!a.is_tensor() || !a.tensor().dtype().is_float()) {
                  return absl::OkStatus();
                }
                const Tensor& tensor = a.tensor();
                for (int64_t i = 0; finite && i < tensor.num_elements(); ++i) {
                  finite = std::isfinite(tensor.AtAsDouble(i));
                }
                return absl::OkStatus();
              })
      .IgnoreError();
  return finite;
}

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

absl::Status CompareTensors(const std::string& path, const Tensor& a,
                            const Tensor& b, const PassInfo& info) {
  if (a == b) return absl::OkStatus();
  const size_t bytes = static_cast<size_t>(a.dtype().bytes());
  double largest = 0;
  if (!info.exact) {
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      const double x = std::fabs(a.AtAsDouble(i));
      if (std::isfinite(x)) largest = std::max(largest, x);
    }
  }
  const double allowed = info.tolerance * largest;
  const auto agree = [&](int64_t i) {
    const size_t offset = static_cast<size_t>(i) * bytes;
    if (std::memcmp(a.bytes().data() + offset, b.bytes().data() + offset,
                    bytes) == 0) {
      return true;
    }
    const double x = a.AtAsDouble(i);
    const double y = b.AtAsDouble(i);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    // Infinities differ by no number.
    return !info.exact && (x == y || std::fabs(x - y) <= allowed);
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
      num_off, " of ", a.num_elements(), " elements of ", path, ", ",
      a.TypeToString(), ", are off; ", path, Position(a, worst), " is ",
      ElementToString(b, worst), " and was ", ElementToString(a, worst),
      info.exact ? std::string(" (the pass promises to keep every bit)")
                 : absl::StrCat(" (allowed: ", info.tolerance,
                                " of the largest element, ", largest, ")")));
}

}  // namespace

absl::Status CompareValues(const Value& before, const Value& after,
                           const PassInfo& info) {
  return VisitLeaves(
      before, after,
      [&](const std::string& path, const Value& a,
          const Value& b) -> absl::Status {
        if (a.is_closure() && b.is_closure()) {
          return absl::UnimplementedError(
              absl::StrCat(path,
                           " is a function: functions have no values "
                           "that can be compared"));
        }
        if (!a.is_tensor() || !b.is_tensor() ||
            a.tensor().dtype() != b.tensor().dtype() ||
            a.tensor().shape() != b.tensor().shape()) {
          return absl::InvalidArgumentError(absl::StrCat(
              path, " is ", Describe(b), " and was ", Describe(a)));
        }
        return CompareTensors(path, a.tensor(), b.tensor(), info);
      });
}

CheckValuesInstrument::CheckValuesInstrument(CheckValuesOptions options)
    : PassInstrument("CheckValuesInstrument"), options_(std::move(options)) {}

absl::Status CheckValuesInstrument::ExitPassContext() {
  args_.reset();
  evaluated_ = IRModule();
  value_ = Value();
  return absl::OkStatus();
}

absl::StatusOr<Value> CheckValuesInstrument::EvaluateFirst(
    const IRModule& module) {
  BATON_ASSIGN_OR_RETURN(const Function function,
                         module.Lookup<Function>(options_.function));
  absl::StatusOr<Value> value;
  for (const RandomRange range : {RandomRange::kPlain, RandomRange::kMild}) {
    BATON_ASSIGN_OR_RETURN(args_, RandomInputs(function, options_.seed, range));
    value = EvaluateFunction(module, options_.function, *args_);
    if (!value.ok() || AllFinite(*value)) break;
  }
  return value;
}

absl::StatusOr<Value> CheckValuesInstrument::Evaluate(const IRModule& module) {
  // A pass may leave types to be inferred.
  BATON_ASSIGN_OR_RETURN(const IRModule typed, InferTypes(module));
  absl::StatusOr<Value> value =
      args_.has_value() ? EvaluateFunction(typed, options_.function, *args_)
                        : EvaluateFirst(typed);
  if (value.ok()) {
    evaluated_ = module;
    value_ = *value;
  }
  return value;
}

absl::Status CheckValuesInstrument::RunAfterPass(const IRModule& module,
                                                 const PassExecution& pass) {
  const PassInfo& info = pass.info();
  const IRModule& before = pass.before();
  const bool evaluated = args_.has_value() && evaluated_.SameAs(before);
  if (info.always_run || module.IdenticalTo(before)) {
    // Types and tables may differ, but not what is computed.
    if (evaluated) evaluated_ = module;
    return absl::OkStatus();
  }
  // What a sequence returns was checked when its last pass returned it.
  if (info.granularity == PassGranularity::kSequence) return absl::OkStatus();
  if (!evaluated) {
    const absl::StatusOr<Value> value = Evaluate(before);
    if (!value.ok()) {
      return absl::Status(
          value.status().code(),
          absl::StrCat("@", options_.function, " cannot be evaluated as pass ",
                       info.name, " was given it: ", value.status().message()));
    }
  }
  const Value value_before = value_;
  const absl::StatusOr<Value> value_after = Evaluate(module);
  if (!value_after.ok()) {
    return absl::Status(
        value_after.status().code(),
        absl::StrCat("@", options_.function,
                     " cannot be evaluated any more "
                     "after pass ",
                     info.name, ": ", value_after.status().message()));
  }
  const absl::Status status = CompareValues(value_before, *value_after, info);
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat("pass ", info.name, " changed what @", options_.function,
                   " computes: ", status.message()));
}

}  // namespace baton
