// KernelCosts: a table of what kernels cost, from which the times of steps are
// predicted.
//
//   BATON_ASSIGN_OR_RETURN(const KernelCosts costs,
//                          KernelCosts::Parse(text, "costs.txt"));
//   double ns = costs.PredictNs(Copying(bytes), Width::k512);
//
// A table is a text in the grammar of base/value_text.h; `#` begins a comment:
//
//   {
//     machine = "Xeon with AVX-512",
//     peak = [40, 80, 160],
//     move = 6,
//     conv.pointwise@16x64 = [0.6, 0.6, 0.5]
//   }
//
// A list has a value for vectors of 128, 256 and 512 bits. The rows are those of
// kernel_costs.txt, the table that is built in. The bytes of results do not
// depend on a table.

#ifndef BATON_BACKEND_CPU_KERNEL_COSTS_H_
#define BATON_BACKEND_CPU_KERNEL_COSTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/runtime/kernels/blocked/kernels.h"

namespace baton::cpu {

// A row of the table: units of work in a nanosecond, unless it says otherwise.
enum class KernelRate : uint8_t {
  kNone,
  kStep,           // nanoseconds of a step
  kEvaluatorCall,  // nanoseconds of a call of the evaluator
  kWideStep,       // nanoseconds of a step elementwise.wide
  kMemory,         // bytes of weights
  kEvaluator,      // bytes that the evaluator reads and writes
  kToBlocked,      // bytes read and written, as in all rows of bytes below
  kToPlanar,
  kNearMap,  // a map that the nearest caches hold
  kFarMap,
  kFold,
  kPool,            // elements of windows
  kGlobalPool,      // elements
  kLrn,             // elements
  kGatherChannels,  // elements
  kElementBytes,
  kElementFunctions,  // calls of functions on elements
  kWideElements,      // elements
  kReduce,            // elements
  kVariance,          // elements
  kArgReduce,         // elements
  kSoftmax,           // elements
  kTopK,              // elements
  kScan,              // elements
  kCopy,
  kMove,
  kGatherIndex,  // indices
  kGatherBytes,
  kOneHot,
  kPackMatrix,     // elements
  kInt8Conv,       // products
  kInt8Depthwise,  // products
  kIntMatmul,      // products
  kBytePool,       // bytes
  kSlabMove,       // bytes
  kSlabPool,       // bytes
  kSlabAdd,        // bytes
  kLastRate = kSlabAdd,
};

// Kernels of float32 arithmetic: shares of the peak, by the class of the shape.
enum class KernelFamily : uint8_t {
  kConv,           // several taps, channels in blocks
  kConvPointwise,  // one tap
  kConvPlanar,     // as kConv, of a planar map, or of less than a block
  kConvPlanarPointwise,
  kConvGrouped,
  kConvDepthwise,
  kMatmul,       // a packed weight
  kMatmulBatch,  // two computed matrices
  kLastFamily = kMatmulBatch,
};

// The work of a step: parts that follow one another, or of which the longest
// counts.
class Work {
 public:
  struct Part {
    bool is_arithmetic = false;
    KernelRate rate = KernelRate::kNone;
    KernelFamily family = KernelFamily::kConv;
    double amount = 0;  // units of the rate, or floating point operations
    // The class of the shape: the positions (rows) of the result, and the terms
    // of a sum.
    double positions = 0;
    double terms = 0;
    bool is_beside = false;  // the longer of this part and the one before
  };

  Work() = default;
  // The work of a step that consists of others, whose predicted times take `ns`.
  static Work OfNs(double ns);

  Work& Add(KernelRate rate, double amount) { return Add(rate, amount, false); }
  Work& AddFlops(KernelFamily family, double flops, double positions,
                 double terms);
  // Adds a part that is done at the same time as the one before.
  Work& Beside(KernelRate rate, double amount) {
    return Add(rate, amount, true);
  }

  size_t size() const { return size_; }
  const Part& part(size_t i) const { return parts_[i]; }
  double known_ns() const { return known_ns_; }

 private:
  Work& Add(KernelRate rate, double amount, bool is_beside);

  std::array<Part, 3> parts_;
  size_t size_ = 0;
  double known_ns_ = 0;
};

// The work of a part.
inline Work WorkOf(KernelRate rate, double amount) {
  return Work().Add(rate, amount);
}

// Immutable, and shared by threads.
class KernelCosts {
 public:
  // The table that is built in.
  static const KernelCosts& BuiltIn();

  // Parses a table that messages name `name`. Rows that it does not have are
  // those of the built-in table; see missing(). Errors have a place: wrong
  // syntax, an unknown row, a value that is not a positive number, or not as
  // many as the row has.
  static absl::StatusOr<KernelCosts> Parse(absl::string_view text,
                                           absl::string_view name);

  // The text of the table, without the missing rows. Parse() reads it back.
  std::string ToString() const;

  // The machine on which the table was measured.
  const std::string& machine() const { return machine_; }
  void set_machine(std::string machine) { machine_ = std::move(machine); }
  // The rows that Parse() did not find, or that were not measured: they have the
  // values of the built-in table.
  const std::vector<std::string>& missing() const { return missing_; }
  void set_missing(std::vector<std::string> rows) {
    missing_ = std::move(rows);
  }

  // The predicted time of a step with kernels of `width`, in nanoseconds.
  double PredictNs(const Work& work, kernels::blocked::Width width) const;

  // The names of all rows, in order.
  static const std::vector<std::string>& Rows();
  // The number of values of a row: 1, or 3 for the widths.
  static size_t NumValues(absl::string_view row);
  // The value of a row, which must exist, for a width.
  double Get(absl::string_view row, kernels::blocked::Width width) const;
  // Sets it. Rows with one value have it for all widths.
  void Set(absl::string_view row, kernels::blocked::Width width, double value);

 private:
  static constexpr size_t kWidths = 3;
  using Values = std::array<double, kWidths>;

  KernelCosts();

  double ShareOf(const Work::Part& part, size_t width) const;

  std::string machine_;
  std::vector<std::string> missing_;
  std::vector<Values> values_;  // of Rows()
};

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_KERNEL_COSTS_H_
