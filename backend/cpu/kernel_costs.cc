#include "baton/backend/cpu/kernel_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/built_in_costs.h"
#include "baton/base/attr_value.h"
#include "baton/base/internal/value_text_parser.h"
#include "baton/base/near_names.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/kernels/blocked/kernels.h"

namespace baton::cpu {
namespace {

using kernels::blocked::Width;

// The rows of one value, in the order of KernelRate.
constexpr const char* kRates[] = {
    "step",
    "evaluator.call",
    "elementwise.wide.step",
    "memory",
    "evaluator",
    "to_blocked16",
    "to_planar",
    "apply.near",
    "apply.far",
    "fold",
    "pool",
    "global_pool",
    "lrn",
    "gather_channels",
    "elementwise.bytes",
    "elementwise.functions",
    "elementwise.wide",
    "reduce",
    "variance",
    "argmax",
    "softmax",
    "topk",
    "scan",
    "copy",
    "move",
    "gather_nd.indices",
    "gather_nd.bytes",
    "one_hot",
    "matmul.batch.pack",
    "conv.int8",
    "conv.int8.depthwise",
    "matmul.int8",
    "max_pool.bytes",
    "move.slabs32",
    "max_pool.slabs32",
    "add.bytes",
};
constexpr size_t kNumRates = std::size(kRates);
static_assert(kNumRates == static_cast<size_t>(KernelRate::kLastRate));

// The classes of shapes for which a family has rows.
struct Family {
  const char* name;
  std::array<int, 4> positions;
  std::array<int, 4> terms;
  size_t num_positions;
  size_t num_terms;

  size_t num_rows() const { return num_positions * num_terms; }
};
// In the order of KernelFamily.
constexpr Family kFamilies[] = {
    {"conv", {1, 16, 64, 784}, {144, 576, 4608}, 4, 3},
    {"conv.pointwise", {1, 16, 64, 784}, {16, 64, 512}, 4, 3},
    {"conv.planar", {16, 784, 12544}, {9, 27, 147, 576}, 3, 4},
    {"conv.planar.pointwise", {1, 16, 64, 784}, {16, 64, 512}, 4, 3},
    {"conv.grouped", {16, 64, 784}, {36, 288}, 3, 2},
    {"conv.depthwise", {16, 64, 784}, {9, 25}, 3, 2},
    {"matmul", {1, 4, 16, 128}, {64, 512, 2048}, 4, 3},
    {"matmul.batch", {16, 128}, {32, 256}, 2, 2},
};
static_assert(std::size(kFamilies) ==
              static_cast<size_t>(KernelFamily::kLastFamily) + 1);

constexpr char kPeak[] = "peak";
constexpr size_t kPeakRow = 0;

constexpr size_t RowOf(KernelRate rate) {
  return kPeakRow + static_cast<size_t>(rate);
}
size_t FirstRowOf(KernelFamily family) {
  size_t row = kPeakRow + kNumRates + 1;
  for (size_t f = 0; f < static_cast<size_t>(family); ++f) {
    row += kFamilies[f].num_rows();
  }
  return row;
}
bool HasOneValue(size_t row) { return row > kPeakRow && row <= kNumRates; }

size_t WidthIndex(Width width) {
  switch (width) {
    case Width::kPlain128:
    case Width::k128:
      return 0;
    case Width::k256:
    case Width::kHalves512:
      return 1;
    case Width::k512:
      break;
  }
  return 2;
}

std::optional<size_t> FindRow(absl::string_view name) {
  const std::vector<std::string>& rows = KernelCosts::Rows();
  const auto found = std::find(rows.begin(), rows.end(), name);
  if (found == rows.end()) return std::nullopt;
  return static_cast<size_t>(found - rows.begin());
}

std::optional<double> NumberOf(const AttrValue& value) {
  double number = 0;
  if (const auto* integer = value.As<int64_t>()) {
    number = static_cast<double>(*integer);
  } else if (const auto* real = value.As<double>()) {
    number = *real;
  }
  // The quotient of two of them is finite, too.
  if (!(number >= 1e-9 && number <= 1e12)) return std::nullopt;
  return number;
}

// The text with spaces in place of comments, so that all places stay.
std::string WithoutComments(absl::string_view text) {
  std::string result(text);
  bool is_quoted = false;
  bool is_comment = false;
  for (size_t i = 0; i < result.size(); ++i) {
    const char c = result[i];
    if (c == '\n') {
      is_comment = is_quoted = false;
    } else if (is_comment) {
      result[i] = ' ';
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == '#' && !is_quoted) {
      result[i] = ' ';
      is_comment = true;
    }
  }
  return result;
}

// The place of `x` on an axis of classes, whose sizes are compared by their
// logarithms: the class below, and the share of the one above.
std::pair<size_t, double> PlaceOn(absl::Span<const int> axis, double x) {
  size_t i = 0;
  while (i + 2 < axis.size() && x >= axis[i + 1]) ++i;
  if (axis.size() == 1 || x <= axis[i]) return {i, 0};
  const double place = std::log2(x / axis[i]) /
                       std::log2(static_cast<double>(axis[i + 1]) / axis[i]);
  return {i, std::min(place, 1.0)};
}

}  // namespace

Work Work::OfNs(double ns) {
  Work work;
  work.known_ns_ = ns;
  return work;
}

Work& Work::Add(KernelRate rate, double amount, bool is_beside) {
  Part& part = parts_[size_++];
  part.rate = rate;
  part.amount = amount;
  part.is_beside = is_beside;
  return *this;
}

Work& Work::AddFlops(KernelFamily family, double flops, double positions,
                     double terms) {
  Part& part = parts_[size_++];
  part.is_arithmetic = true;
  part.family = family;
  part.amount = flops;
  part.positions = positions;
  part.terms = terms;
  return *this;
}

KernelCosts::KernelCosts() : machine_(kBuiltInMachine) {
  values_.reserve(kNumBuiltInCosts);
  for (size_t i = 0; i < kNumBuiltInCosts; ++i) {
    values_.push_back(kBuiltInCosts[i].values);
  }
}

const KernelCosts& KernelCosts::BuiltIn() {
  static const auto* const kCosts = new KernelCosts();
  return *kCosts;
}

absl::StatusOr<KernelCosts> KernelCosts::Parse(absl::string_view text,
                                               absl::string_view name) {
  internal::ValueTextParser parser(WithoutComments(text), name);
  if (!parser.Peek('{')) {
    return parser.ErrorHere("expected \"{\", the begin of a table of costs");
  }
  internal::ValueTextParser::OptionRanges ranges;
  BATON_ASSIGN_OR_RETURN(const AttrMap rows, parser.ReadOptions(0, &ranges));
  BATON_RETURN_IF_ERROR(parser.ExpectEnd());
  KernelCosts costs;
  costs.machine_ = "an unnamed machine";
  std::vector<bool> is_given(costs.values_.size(), false);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto& [key, value] = rows[i];
    if (key == "machine") {
      const auto* machine = value.As<std::string>();
      if (machine == nullptr) {
        return parser.ErrorAt(ranges.values[i],
                              "expected the machine's name, in quotes");
      }
      costs.machine_ = *machine;
      continue;
    }
    const std::optional<size_t> row = FindRow(key);
    if (!row.has_value()) {
      return parser.ErrorAt(ranges.keys[i],
                            absl::StrCat("tables of costs have no row ", key,
                                         DidYouMean(key, Rows())));
    }
    is_given[*row] = true;
    Values& values = costs.values_[*row];
    if (HasOneValue(*row)) {
      const std::optional<double> number = NumberOf(value);
      if (!number.has_value()) {
        return parser.ErrorAt(
            ranges.values[i],
            absl::StrCat(key, " must be a number from 1e-9 to 1e12"));
      }
      values.fill(*number);
      continue;
    }
    const auto* list = value.As<AttrList>();
    bool is_valid = list != nullptr && list->size() == kWidths;
    for (size_t w = 0; is_valid && w < kWidths; ++w) {
      const std::optional<double> number = NumberOf((*list)[w]);
      is_valid = number.has_value();
      if (is_valid) values[w] = *number;
    }
    if (!is_valid) {
      return parser.ErrorAt(
          ranges.values[i],
          absl::StrCat(key,
                       " must be three numbers from 1e-9 to 1e12, for vectors "
                       "of 128, 256 and 512 bits: [0.5,0.5,0.5]"));
    }
  }
  const std::vector<std::string>& names = Rows();
  for (size_t row = 0; row < names.size(); ++row) {
    if (!is_given[row]) costs.missing_.push_back(names[row]);
  }
  return costs;
}

std::string KernelCosts::ToString() const {
  std::string text =
      absl::StrCat("{\n  machine = ", AttrValue(machine_).ToString());
  const std::vector<std::string>& names = Rows();
  for (size_t row = 0; row < names.size(); ++row) {
    if (std::find(missing_.begin(), missing_.end(), names[row]) !=
        missing_.end()) {
      continue;
    }
    const Values& values = values_[row];
    absl::StrAppend(&text, ",\n  ", names[row], " = ");
    if (HasOneValue(row)) {
      absl::StrAppend(&text, values[0]);
    } else {
      absl::StrAppend(&text, "[", values[0], ", ", values[1], ", ", values[2],
                      "]");
    }
  }
  return text + "\n}\n";
}

double KernelCosts::ShareOf(const Work::Part& part, size_t width) const {
  const Family& family = kFamilies[static_cast<size_t>(part.family)];
  const auto [p, above_p] =
      PlaceOn(absl::MakeSpan(family.positions).subspan(0, family.num_positions),
              part.positions);
  const auto [t, above_t] = PlaceOn(
      absl::MakeSpan(family.terms).subspan(0, family.num_terms), part.terms);
  const size_t first = FirstRowOf(part.family);
  const auto at = [&](size_t i, size_t k) {
    return values_[first +
                   std::min(i, family.num_positions - 1) * family.num_terms +
                   std::min(k, family.num_terms - 1)][width];
  };
  const auto between = [](double a, double b, double share) {
    return a + (b - a) * share;
  };
  return between(between(at(p, t), at(p, t + 1), above_t),
                 between(at(p + 1, t), at(p + 1, t + 1), above_t), above_p);
}

double KernelCosts::PredictNs(const Work& work, Width width) const {
  const size_t w = WidthIndex(width);
  double before = work.known_ns();
  if (work.known_ns() == 0) before = values_[RowOf(KernelRate::kStep)][w];
  double last = 0;
  for (size_t i = 0; i < work.size(); ++i) {
    const Work::Part& part = work.part(i);
    double ns;
    if (part.is_arithmetic) {
      ns = part.amount / (values_[kPeakRow][w] * ShareOf(part, w));
    } else if (part.rate == KernelRate::kStep ||
               part.rate == KernelRate::kEvaluatorCall ||
               part.rate == KernelRate::kWideStep) {
      ns = part.amount * values_[RowOf(part.rate)][w];
    } else {
      ns = part.amount / values_[RowOf(part.rate)][w];
    }
    if (part.is_beside) {
      last = std::max(last, ns);
    } else {
      before += last;
      last = ns;
    }
  }
  return before + last;
}

const std::vector<std::string>& KernelCosts::Rows() {
  static const auto* const kRows = [] {
    auto* const names = new std::vector<std::string>{kPeak};
    for (const char* rate : kRates) names->emplace_back(rate);
    for (const Family& family : kFamilies) {
      for (size_t p = 0; p < family.num_positions; ++p) {
        for (size_t t = 0; t < family.num_terms; ++t) {
          names->push_back(absl::StrCat(family.name, "@", family.positions[p],
                                        "x", family.terms[t]));
        }
      }
    }
    return names;
  }();
  return *kRows;
}

size_t KernelCosts::NumValues(absl::string_view row) {
  return HasOneValue(*FindRow(row)) ? 1 : kWidths;
}

double KernelCosts::Get(absl::string_view row, Width width) const {
  return values_[*FindRow(row)][WidthIndex(width)];
}

void KernelCosts::Set(absl::string_view row, Width width, double value) {
  const size_t i = *FindRow(row);
  if (HasOneValue(i)) {
    values_[i].fill(value);
  } else {
    values_[i][WidthIndex(width)] = value;
  }
}

}  // namespace baton::cpu
