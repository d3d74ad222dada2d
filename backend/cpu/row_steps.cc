#include "baton/backend/cpu/row_steps.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/runtime/executor/plan.h"

namespace baton::cpu {
namespace {

// Steps of fewer rows stay as they are.
constexpr int64_t kLeastRows = 8;
constexpr size_t kMostInputs = 16;  // of a part
// The results of parts that an item keeps in the nearest cache.
constexpr int64_t kItemBytes = int64_t{24} << 10;
// A row with more is not worth joining: it does not stay in a near cache.
constexpr int64_t kMostRowBytes = int64_t{128} << 10;
constexpr int64_t kItemsOfThread = 8;
// More parts in a step would not save much more.
constexpr size_t kMostSteps = 32;

// Where the rows of an operand are.
struct Place {
  bool is_internal = false;
  // Among the operands of the step; in bytes of the workspace if internal.
  int64_t at = 0;
  int64_t row_bytes = 0;
};

struct Part {
  RowKernel::Function function = nullptr;
  std::shared_ptr<const void> params;
  int64_t rows_of_row = 1;  // its rows in a row of the step
  std::vector<Place> inputs;
  Place output;
};

struct Params {
  std::vector<Part> parts;
  int64_t rows = 0;
  int64_t rows_of_item = 1;
  int64_t internal_bytes = 0;  // in front of the workspace of the parts
};

int Run(const executor::StepCall& call) {
  const Params& p = *static_cast<const Params*>(call.params);
  char* const memory = static_cast<char*>(call.workspace);
  for (int64_t item = call.begin; item < call.end; ++item) {
    const int64_t first = item * p.rows_of_item;
    const int64_t rows = std::min(p.rows_of_item, p.rows - first);
    for (const Part& part : p.parts) {
      std::array<const void*, kMostInputs> inputs;
      for (size_t i = 0; i < part.inputs.size(); ++i) {
        const Place& place = part.inputs[i];
        inputs[i] = place.is_internal
                        ? memory + place.at
                        : static_cast<const char*>(call.inputs[place.at]) +
                              first * place.row_bytes;
      }
      const Place& output = part.output;
      part.function(part.params.get(), inputs.data(),
                    output.is_internal ? memory + output.at
                                       : static_cast<char*>(call.outputs[0]) +
                                             first * output.row_bytes,
                    memory + p.internal_bytes, rows * part.rows_of_row);
    }
  }
  return 0;
}

// The rows that a step has in common with `rows` others.
int64_t CommonRows(const KernelChoice& step, int64_t rows) {
  return std::gcd(step.rows.rows, rows);
}

bool HasRows(const KernelChoice& step) {
  return step.rows.function != nullptr && step.rows.rows > 0 &&
         step.outputs.size() == 1 && step.inputs.size() <= kMostInputs &&
         step.inputs.size() == step.rows.input_bytes.size();
}

}  // namespace

std::optional<JoinedRows> JoinRows(absl::Span<const KernelChoice* const> steps,
                                   int64_t first, int max_threads,
                                   const RowTensors& tensors) {
  // The roots of results, and the rows that all steps so far have in common.
  std::vector<int> results;
  int64_t common = 0;
  size_t best = 0;
  int64_t best_rows = 0;
  const auto result_of = [&](int t) {
    const auto found =
        std::find(results.begin(), results.end(), tensors.root(t));
    return found - results.begin();
  };
  const auto is_result = [&](int t) {
    return result_of(t) < static_cast<int64_t>(results.size());
  };
  // The last step that reads a result before that of step k.
  int64_t last_reader = -1;
  int64_t internal_bytes = 0;  // of the results before that of step k
  for (size_t k = 0; k < std::min(steps.size(), kMostSteps); ++k) {
    const KernelChoice& step = *steps[k];
    if (!HasRows(step)) break;
    const int64_t rows = CommonRows(step, common);
    if (rows < kLeastRows) break;
    bool reads = k == 0;
    bool fits = true;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const int t = step.inputs[i];
      if (!is_result(t)) continue;
      reads = true;
      // Each row reads its own part of the result.
      fits = fits && tensors.is_whole(t) &&
             step.rows.input_bytes[i] * step.rows.rows == tensors.bytes(t);
    }
    const int root = tensors.root(step.outputs[0]);
    if (!reads || !fits || root != step.outputs[0] ||
        step.rows.output_bytes * step.rows.rows != tensors.bytes(root)) {
      break;
    }
    if (k > 0) {
      last_reader = std::max(last_reader, tensors.last_reader(results.back()));
    }
    common = rows;
    if (k > 0) internal_bytes += tensors.bytes(results.back());
    // Further steps only make the rows longer.
    if (internal_bytes / common > kMostRowBytes) break;
    results.push_back(root);
    if (k > 0 && last_reader <= first + static_cast<int64_t>(k)) {
      best = k + 1;
      best_rows = common;
    }
  }
  if (best < 2) return std::nullopt;

  auto params = std::make_shared<Params>();
  params->rows = best_rows;
  results.resize(best);
  JoinedRows joined;
  joined.count = best;
  KernelChoice& choice = joined.choice;
  // The bytes of a row of each result but the last, and of all these together.
  std::vector<int64_t> row_bytes(best);
  int64_t all_row_bytes = 0;
  for (size_t k = 0; k + 1 < best; ++k) {
    row_bytes[k] = tensors.bytes(results[k]) / best_rows;
    all_row_bytes += row_bytes[k];
  }
  const int64_t threads = std::max(max_threads, 1);
  params->rows_of_item = std::clamp<int64_t>(
      kItemBytes / std::max<int64_t>(all_row_bytes, 1), 1,
      std::max<int64_t>(1, best_rows / (threads * kItemsOfThread)));
  std::vector<int64_t> offsets(best);
  for (size_t k = 0; k + 1 < best; ++k) {
    offsets[k] = params->internal_bytes;
    params->internal_bytes +=
        executor::AlignUp(row_bytes[k] * params->rows_of_item);
  }
  int64_t workspace = 0;
  choice.kernel = "rows";
  for (size_t k = 0; k < best; ++k) {
    const KernelChoice& step = *steps[k];
    absl::StrAppend(&choice.kernel, k == 0 ? ":" : "+", step.kernel);
    choice.flops += step.flops;
    choice.cost_ns += step.cost_ns;
    workspace = std::max(workspace, step.workspace_bytes);
    Part part;
    part.function = step.rows.function;
    part.params = step.params;
    part.rows_of_row = step.rows.rows / best_rows;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const int t = step.inputs[i];
      Place place;
      if (is_result(t)) {
        place = {true, offsets[static_cast<size_t>(result_of(t))], 0};
      } else {
        const auto found =
            std::find(choice.inputs.begin(), choice.inputs.end(), t);
        place = {false, found - choice.inputs.begin(),
                 step.rows.input_bytes[i] * part.rows_of_row};
        if (found == choice.inputs.end()) choice.inputs.push_back(t);
      }
      part.inputs.push_back(place);
    }
    if (k + 1 < best) {
      part.output = {true, offsets[k], 0};
    } else {
      part.output = {false, 0, step.rows.output_bytes * part.rows_of_row};
    }
    params->parts.push_back(std::move(part));
  }
  // The result may overwrite an operand of which each row is as long as a row of
  // the result: the parts before the last one have read a row before the last
  // one writes it. If the last part reads it, too, that part must be one that
  // may overwrite it.
  const KernelChoice& last = *steps[best - 1];
  choice.outputs = last.outputs;
  const int64_t output_bytes = params->parts.back().output.row_bytes;
  for (size_t n = 0; n < choice.inputs.size() && choice.overwrites < 0; ++n) {
    const int t = choice.inputs[n];
    bool may = tensors.bytes(t) == tensors.bytes(choice.outputs[0]);
    for (size_t k = 0; k < best; ++k) {
      const Part& part = params->parts[k];
      for (size_t i = 0; i < part.inputs.size(); ++i) {
        const Place& place = part.inputs[i];
        if (place.is_internal || place.at != static_cast<int64_t>(n)) continue;
        may = may && place.row_bytes == output_bytes &&
              (k + 1 < best || last.in_place || last.overwrites == t);
      }
    }
    if (may) choice.overwrites = t;
  }
  choice.reason =
      "each group of rows passes through all parts while it is in the cache";
  choice.function = Run;
  choice.items = (best_rows + params->rows_of_item - 1) / params->rows_of_item;
  choice.workspace_bytes = params->internal_bytes + workspace;
  choice.params = std::move(params);
  return joined;
}

}  // namespace baton::cpu
