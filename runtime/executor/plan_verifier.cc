#include "baton/runtime/executor/plan_verifier.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/executor/dataflow_digest.h"
#include "baton/runtime/executor/plan.h"

namespace baton::executor {
namespace {

template <typename... Args>
absl::Status Refuse(const Args&... args) {
  return absl::InternalError(absl::StrCat("wrong plan: ", args...));
}

// The content of a workspace after its step.
constexpr int32_t kGarbage = -1;

// Bytes and the value that they hold.
class Memory {
 public:
  void Write(int64_t begin, int64_t end, int32_t value) {
    if (begin >= end) return;
    Cut(begin);
    Cut(end);
    pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(end));
    pieces_[begin] = {end, value};
  }
  bool Holds(int64_t begin, int64_t end, int32_t value) const {
    auto piece = pieces_.upper_bound(begin);
    if (begin >= end) return true;
    if (piece == pieces_.begin()) return false;
    --piece;
    for (int64_t at = begin; at < end; ++piece) {
      if (piece == pieces_.end() || piece->first > at ||
          piece->second.end <= at || piece->second.value != value) {
        return false;
      }
      at = piece->second.end;
    }
    return true;
  }

 private:
  struct Piece {
    int64_t end;
    int32_t value;
  };
  // Makes `at` a border of pieces.
  void Cut(int64_t at) {
    auto piece = pieces_.lower_bound(at);
    if (piece == pieces_.begin()) return;
    --piece;
    if (piece->second.end <= at) return;
    const Piece rest = piece->second;
    piece->second.end = at;
    pieces_[at] = rest;
  }

  std::map<int64_t, Piece> pieces_;  // by the first byte
};

struct Range {
  int64_t begin;
  int64_t end;
  bool Overlaps(const Range& other) const {
    return begin < other.end && other.begin < end;
  }
};

class Verifier {
 public:
  explicit Verifier(const Plan& plan) : plan_(plan) {}

  absl::Status Run() {
    BATON_RETURN_IF_ERROR(CheckTables());
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      BATON_RETURN_IF_ERROR(CheckStep(static_cast<int32_t>(i)));
    }
    for (size_t i = 0; i < plan_.values.size(); ++i) {
      const Value& value = plan_.values[i];
      if (value.space == Space::kOutput &&
          !outputs_[static_cast<size_t>(value.index)].Holds(
              0, value.bytes, static_cast<int32_t>(i))) {
        return Refuse("output ", value.index, " is not written");
      }
    }
    BATON_RETURN_IF_ERROR(CheckLifetimes());
    if (DataflowDigest(plan_) != plan_.dataflow) {
      return Refuse("the outputs are not those that were planned");
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckTables() {
    if (plan_.arena_bytes < 0 || plan_.max_threads < 1 ||
        plan_.notes.size() != plan_.steps.size()) {
      return Refuse("a size is out of range");
    }
    std::vector<int> num_values(plan_.output_bytes.size(), 0);
    for (size_t i = 0; i < plan_.values.size(); ++i) {
      const Value& value = plan_.values[i];
      const auto has = [&](const auto& table) {
        return value.index >= 0 &&
               static_cast<size_t>(value.index) < table.size();
      };
      if (value.bytes < 0) return Refuse("value ", i, " has a negative size");
      switch (value.space) {
        case Space::kArena:
          if (value.offset < 0 || value.offset % 64 != 0) {
            return Refuse("value ", i, " is misaligned at ", value.offset);
          }
          if (value.bytes > plan_.arena_bytes ||
              value.offset > plan_.arena_bytes - value.bytes) {
            return Refuse("value ", i, " leaves the arena");
          }
          break;
        case Space::kConstant:
          if (!has(plan_.constants) ||
              plan_.constants[static_cast<size_t>(value.index)].bytes !=
                  value.bytes ||
              (plan_.constants[static_cast<size_t>(value.index)].data ==
                   nullptr &&
               value.bytes > 0)) {
            return Refuse("value ", i, " is not its constant");
          }
          break;
        case Space::kInput:
          if (!has(plan_.input_bytes) ||
              plan_.input_bytes[static_cast<size_t>(value.index)] !=
                  value.bytes) {
            return Refuse("value ", i, " is not its input");
          }
          break;
        case Space::kOutput:
          if (!has(plan_.output_bytes) ||
              plan_.output_bytes[static_cast<size_t>(value.index)] !=
                  value.bytes ||
              ++num_values[static_cast<size_t>(value.index)] > 1) {
            return Refuse("value ", i, " is not its output");
          }
          break;
        default:
          return Refuse("value ", i, " is nowhere");
      }
    }
    for (size_t i = 0; i < num_values.size(); ++i) {
      if (num_values[i] != 1) return Refuse("output ", i, " is not written");
    }
    outputs_.resize(plan_.output_bytes.size());
    first_.assign(plan_.values.size(), -1);
    last_.assign(plan_.values.size(), -1);
    return absl::OkStatus();
  }

  const Value& ValueOf(int32_t i) const {
    return plan_.values[static_cast<size_t>(i)];
  }
  // In the memory where the value is.
  Range RangeOf(const Operand& operand) const {
    const Value& value = ValueOf(operand.value);
    const int64_t base = value.space == Space::kArena ? value.offset : 0;
    return {base + operand.offset, base + operand.offset + operand.bytes};
  }
  bool SameMemory(int32_t a, int32_t b) const {
    return ValueOf(a).space == ValueOf(b).space &&
           (ValueOf(a).space == Space::kArena ||
            ValueOf(a).index == ValueOf(b).index);
  }
  void Use(int32_t value, int32_t step) {
    int32_t& first = first_[static_cast<size_t>(value)];
    if (first < 0) first = step;
    last_[static_cast<size_t>(value)] = step;
  }

  absl::Status CheckStep(int32_t number) {
    const Step& step = plan_.steps[static_cast<size_t>(number)];
    const std::string name =
        absl::StrCat("step ", number, " (",
                     plan_.notes[static_cast<size_t>(number)].kernel, ")");
    if (step.function == nullptr || step.items < 1 || step.num_inputs < 0 ||
        step.num_outputs < 1 || step.first_operand < 0 ||
        static_cast<size_t>(step.first_operand) + step.num_inputs +
                step.num_outputs >
            plan_.operands.size()) {
      return Refuse(name, " is malformed");
    }
    const Operand* const operands = &plan_.operands[step.first_operand];
    for (int32_t k = 0; k < step.num_inputs + step.num_outputs; ++k) {
      const Operand& operand = operands[k];
      if (operand.value < 0 ||
          static_cast<size_t>(operand.value) >= plan_.values.size()) {
        return Refuse(name, " has an operand that is no value");
      }
      const Value& value = ValueOf(operand.value);
      if (operand.offset < 0 || operand.bytes < 0 ||
          operand.bytes > value.bytes ||
          operand.offset > value.bytes - operand.bytes) {
        return Refuse(name, " leaves value ", operand.value);
      }
      Use(operand.value, number);
    }
    for (int32_t k = 0; k < step.num_inputs; ++k) {
      const Operand& operand = operands[k];
      const Value& value = ValueOf(operand.value);
      const Range range = RangeOf(operand);
      const bool holds =
          value.space == Space::kArena
              ? arena_.Holds(range.begin, range.end, operand.value)
          : value.space == Space::kOutput
              ? outputs_[static_cast<size_t>(value.index)].Holds(
                    range.begin, range.end, operand.value)
              : true;
      if (!holds) {
        return Refuse(name, " reads value ", operand.value,
                      ", which is not there");
      }
    }
    Range workspace = {0, 0};
    if (step.workspace >= 0) {
      if (static_cast<size_t>(step.workspace) >= plan_.values.size() ||
          ValueOf(step.workspace).space != Space::kArena ||
          step.workspace_bytes < 0 || step.workspace_bytes % 64 != 0 ||
          step.workspace_bytes >
              ValueOf(step.workspace).bytes / plan_.max_threads) {
        return Refuse(name, " has a wrong workspace");
      }
      const Value& value = ValueOf(step.workspace);
      workspace = {value.offset, value.offset + value.bytes};
      Use(step.workspace, number);
    } else if (step.workspace_bytes != 0) {
      return Refuse(name, " has no workspace");
    }
    const auto meets_workspace = [&](const Operand& operand) {
      return ValueOf(operand.value).space == Space::kArena &&
             RangeOf(operand).Overlaps(workspace);
    };
    for (int32_t k = 0; k < step.num_inputs; ++k) {
      if (meets_workspace(operands[k])) {
        return Refuse(name, " has an operand in its workspace");
      }
    }
    for (int32_t k = step.num_inputs; k < step.num_inputs + step.num_outputs;
         ++k) {
      const Operand& output = operands[k];
      const Value& value = ValueOf(output.value);
      if (value.space == Space::kConstant || value.space == Space::kInput) {
        return Refuse(name, " writes value ", output.value,
                      ", which is read only");
      }
      if (meets_workspace(output)) {
        return Refuse(name, " has a result in its workspace");
      }
      const Range range = RangeOf(output);
      for (int32_t j = 0; j < k; ++j) {
        if (!SameMemory(operands[j].value, output.value)) continue;
        const Range other = RangeOf(operands[j]);
        if (!range.Overlaps(other)) continue;
        const bool in_place =
            j < step.num_inputs && k == step.num_inputs &&
            (step.overwritable == Step::kAnyInput || step.overwritable == j) &&
            value.overwrites == operands[j].value &&
            first_[static_cast<size_t>(output.value)] == number &&
            range.begin == other.begin && range.end == other.end;
        if (!in_place) {
          return Refuse(name, " writes over value ", operands[j].value);
        }
      }
    }
    if (step.workspace >= 0) {
      arena_.Write(workspace.begin, workspace.end, kGarbage);
    }
    for (int32_t k = step.num_inputs; k < step.num_inputs + step.num_outputs;
         ++k) {
      const Value& value = ValueOf(operands[k].value);
      const Range range = RangeOf(operands[k]);
      (value.space == Space::kArena
           ? arena_
           : outputs_[static_cast<size_t>(value.index)])
          .Write(range.begin, range.end, operands[k].value);
    }
    return absl::OkStatus();
  }

  absl::Status CheckLifetimes() const {
    std::vector<int64_t> change(plan_.steps.size() + 1, 0);
    int64_t end = 0;
    for (size_t i = 0; i < plan_.values.size(); ++i) {
      const Value& value = plan_.values[i];
      if (value.overwrites >= 0 &&
          (static_cast<size_t>(value.overwrites) >= plan_.values.size() ||
           static_cast<size_t>(value.overwrites) == i ||
           ValueOf(value.overwrites).offset != value.offset ||
           ValueOf(value.overwrites).space != value.space ||
           ValueOf(value.overwrites).bytes != value.bytes ||
           last_[static_cast<size_t>(value.overwrites)] != first_[i])) {
        return Refuse("value ", i, " overwrites another in vain");
      }
      if (value.space != Space::kArena || first_[i] < 0) continue;
      if (value.first_step != first_[i] || value.last_step != last_[i]) {
        return Refuse("value ", i, " lives from step ", first_[i], " to ",
                      last_[i], ", not from ", value.first_step, " to ",
                      value.last_step);
      }
      const int64_t bytes = (value.bytes + 63) / 64 * 64;
      end = std::max(end, value.offset + bytes);
      // An overwritten value is counted until the step before.
      change[static_cast<size_t>(first_[i])] += bytes;
      change[static_cast<size_t>(last_[i]) + 1] -= bytes;
      if (value.overwrites >= 0) {
        change[static_cast<size_t>(first_[i])] -= bytes;
        change[static_cast<size_t>(first_[i]) + 1] += bytes;
      }
    }
    int64_t live = 0;
    int64_t most = 0;
    for (const int64_t bytes : change) {
      live += bytes;
      most = std::max(most, live);
    }
    if (most != plan_.arena_lower_bound) {
      return Refuse("the largest sum of live bytes is ", most, ", not ",
                    plan_.arena_lower_bound);
    }
    if (plan_.arena_bytes != end) {
      return Refuse("the arena has ", plan_.arena_bytes, " bytes, of which ",
                    end, " are used");
    }
    return absl::OkStatus();
  }

  const Plan& plan_;
  Memory arena_;
  std::vector<Memory> outputs_;
  std::vector<int32_t> first_;
  std::vector<int32_t> last_;
};

}  // namespace

absl::Status VerifyPlan(const Plan& plan) { return Verifier(plan).Run(); }

}  // namespace baton::executor
