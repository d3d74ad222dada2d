#include "baton/runtime/kernels/einsum.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "baton/base/dtype.h"
#include "baton/base/limits.h"
#include "baton/base/status_macros.h"
#include "baton/base/strides.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/strided_copy.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Error;

constexpr absl::string_view kKernel = "einsum";

// The widest clones of loops over T: float32 is computed most.
template <typename T>
constexpr internal::Vectors kWidestFor =
    std::is_same_v<T, float>    ? internal::Vectors::k512
    : std::is_same_v<T, double> ? internal::Vectors::k256
                                : internal::Vectors::k128;

// Axes are named by characters: letters, and those from 1 on for the axes of an
// ellipsis, counted from its end.
constexpr char kEllipsis = '.';
constexpr int kMaxEllipsis = 32;

absl::StatusOr<std::string> Letters(absl::string_view subscript) {
  std::string letters;
  for (size_t i = 0; i < subscript.size(); ++i) {
    const char c = subscript[i];
    if (c == ' ') continue;
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool ellipsis = subscript.substr(i, 3) == "..." &&
                          letters.find(kEllipsis) == std::string::npos;
    if (!letter && !ellipsis) {
      return Error(kKernel, "the subscript ", subscript, " is malformed");
    }
    letters.push_back(letter ? c : kEllipsis);
    if (ellipsis) i += 2;
  }
  return letters;
}

// `letters` with `rank` axes in place of the ellipsis.
std::string Expanded(const std::string& letters, int rank) {
  std::string result;
  for (const char c : letters) {
    if (c != kEllipsis) {
      result.push_back(c);
      continue;
    }
    for (int k = rank; k > 0; --k) result.push_back(static_cast<char>(k));
  }
  return result;
}

// Elements with a stride for each axis; 0 for one that it has not.
template <typename T>
struct View {
  std::array<int64_t, 128> strides{};
  const T* data = nullptr;
  std::vector<T> storage;  // of an intermediate result
};

class Contraction {
 public:
  // `extents`: of all axes.
  explicit Contraction(const std::map<char, int64_t>& extents)
      : extents_(extents) {}

  // The sum of the products of `a` and `b`, row-major. No `b`: of `a` alone.
  template <typename T>
  absl::Status Run(const View<T>& a, const View<T>* b,
                   const EinsumPlan::Step& step, T* out) const {
    const std::string& kept = step.kept;
    const std::string& summed = step.summed;
    TensorShape shape;
    for (const char c : kept) {
      shape.push_back(extents_.at(c));
      if (shape.back() == 0) return absl::OkStatus();
    }
    if (summed.empty() && b == nullptr) {
      TensorShape strides;
      for (const char c : kept) {
        strides.push_back(a.strides[static_cast<size_t>(c)]);
      }
      internal::StridedCopy(sizeof(T), shape, a.data, strides, out,
                            RowMajorStrides(shape));
      return absl::OkStatus();
    }
    int64_t terms = 1;
    for (const char c : summed) {
      BATON_ASSIGN_OR_RETURN(
          terms, internal::CheckedMul(kKernel, terms, extents_.at(c)));
    }
    if (terms == 0) {
      std::fill_n(out, internal::Product(shape), T{});
      return absl::OkStatus();
    }
    std::vector<Axis> outer = Merged(AxesOf(kept, a, b));
    std::vector<Axis> inner = AxesOf(summed, a, b);
    // The last axes are loops of their own.
    const Axis row = Pop(outer);
    const Axis last = Pop(inner);
    Place<T> at{a.data, b == nullptr ? nullptr : b->data};
    std::vector<int64_t> outer_index(outer.size());
    std::vector<int64_t> inner_index(inner.size());
    // Adjacent results become vectors where adjacent terms do not.
    const bool by_columns = row.MakesVectors() && !last.MakesVectors();
    do {
      if (summed.empty()) {
        Multiply(at, row, out);
      } else if (by_columns) {
        for (int64_t first = 0; first < row.extent; first += kColumns) {
          const int64_t n = std::min(kColumns, row.extent - first);
          Place<T> start = at.Moved(row, first);
          T sums[kColumns] = {};
          do {
            AddColumns(start, last, row, n, sums);
          } while (Next(inner, inner_index, start));
          std::copy_n(sums, n, out + first);
        }
      } else if (inner.empty()) {
        SumRow(at, row, last, out);
      } else {
        std::vector<Axis> rest = inner;
        const Axis next = Pop(rest);
        for (int64_t c = 0; c < row.extent; ++c) {
          Place<T> start = at.Moved(row, c);
          T sum{};
          do {
            for (int64_t first = 0; first < next.extent; first += kColumns) {
              T parts[kColumns];
              Axis some = next;
              some.extent = std::min(kColumns, next.extent - first);
              SumRow(start.Moved(next, first), some, last, parts);
              for (int64_t k = 0; k < some.extent; ++k) sum += parts[k];
            }
          } while (Next(rest, inner_index, start));
          out[c] = sum;
        }
      }
      out += row.extent;
    } while (Next(outer, outer_index, at));
    return absl::OkStatus();
  }

 private:
  struct Axis {
    int64_t extent = 1;
    int64_t a_stride = 0;
    int64_t b_stride = 0;

    // Returns whether an operand is adjacent along it, and the other one is too
    // or does not change.
    bool MakesVectors() const {
      return extent > 1 && (a_stride == 0 || a_stride == 1) &&
             (b_stride == 0 || b_stride == 1) && a_stride + b_stride > 0;
    }
  };

  // Results at a time of AddColumns.
  static constexpr int64_t kColumns = 64;

  // The operands' places in memory. If `b` is null, its factors are 1.
  template <typename T>
  struct Place {
    const T* a;
    const T* b;

    // `steps` along `axis` from here.
    BATON_LOOP Place Moved(const Axis& axis, int64_t steps) const {
      return {a + steps * axis.a_stride,
              b == nullptr ? nullptr : b + steps * axis.b_stride};
    }
  };

  template <typename T>
  std::vector<Axis> AxesOf(const std::string& letters, const View<T>& a,
                           const View<T>* b) const {
    std::vector<Axis> axes;
    for (const char c : letters) {
      axes.push_back({extents_.at(c), a.strides[static_cast<size_t>(c)],
                      b == nullptr ? 0 : b->strides[static_cast<size_t>(c)]});
    }
    return axes;
  }

  // `axes`, row-major, with those joined that are one to both operands.
  static std::vector<Axis> Merged(const std::vector<Axis>& axes) {
    std::vector<Axis> merged;
    for (const Axis& axis : axes) {
      if (axis.extent == 1) continue;
      if (!merged.empty() &&
          merged.back().a_stride == axis.a_stride * axis.extent &&
          merged.back().b_stride == axis.b_stride * axis.extent) {
        merged.back() = {merged.back().extent * axis.extent, axis.a_stride,
                         axis.b_stride};
      } else {
        merged.push_back(axis);
      }
    }
    return merged;
  }

  // Removes the last axis; one of extent 1 if there is none.
  static Axis Pop(std::vector<Axis>& axes) {
    if (axes.empty()) return {};
    const Axis last = axes.back();
    axes.pop_back();
    return last;
  }

  // To the next index; false, and back to the first, after the last.
  template <typename T>
  static bool Next(const std::vector<Axis>& axes, std::vector<int64_t>& index,
                   Place<T>& at) {
    for (size_t d = axes.size(); d-- > 0;) {
      const Axis& axis = axes[d];
      const bool more = ++index[d] < axis.extent;
      at = at.Moved(axis, more ? 1 : 1 - axis.extent);
      if (more) return true;
      index[d] = 0;
    }
    return false;
  }

  // The products along `row`.
  template <typename T>
  static void Multiply(const Place<T>& at, const Axis& row, T* out) {
    const auto multiply = [=](const auto& term) {
      internal::RunLoop<kWidestFor<T>>([=, n = row.extent]() BATON_LOOP {
        for (int64_t c = 0; c < n; ++c) out[c] = term(c);
      });
    };
    const T* x = at.a;
    const T* y = at.b;
    if (row.a_stride == 1 && row.b_stride == 1) {
      return multiply([=](int64_t c) BATON_LOOP { return x[c] * y[c]; });
    }
    const bool is_outer = row.a_stride == 0 && row.b_stride == 1;
    if (is_outer || (row.a_stride == 1 && row.b_stride == 0)) {
      return multiply([row = is_outer ? y : x, factor = is_outer ? *x : *y](
                          int64_t c) BATON_LOOP { return row[c] * factor; });
    }
    return multiply([=, p = row.a_stride, q = row.b_stride](int64_t c)
                        BATON_LOOP { return x[c * p] * y[c * q]; });
  }

  // Adds to each of `n` sums, adjacent along `row`, what SumRow gives there: in
  // the same order.
  template <typename T>
  static void AddColumns(const Place<T>& at, const Axis& axis, const Axis& row,
                         int64_t n, T* sums) {
    const auto add = [=](const auto& left, const auto& right) {
      internal::RunLoop<kWidestFor<T>>([=]() BATON_LOOP {
        if (n == kColumns) {
          AddTerms(axis.extent, kColumns, left, right, sums);
        } else {
          AddTerms(axis.extent, n, left, right, sums);
        }
      });
    };
    // Column c of row k.
    const auto element = [](const T* x, int64_t step) {
      return [=](int64_t k, int64_t c) BATON_LOOP { return x[k * step + c]; };
    };
    const auto first = [](const T* x, int64_t step) {
      return [=](int64_t k, int64_t) BATON_LOOP { return x[k * step]; };
    };
    const auto one = [](int64_t, int64_t) BATON_LOOP { return T{1}; };
    if (at.b == nullptr) return add(element(at.a, axis.a_stride), one);
    if (row.a_stride == 0) {
      return add(element(at.b, axis.b_stride), first(at.a, axis.a_stride));
    }
    if (row.b_stride == 0) {
      return add(element(at.a, axis.a_stride), first(at.b, axis.b_stride));
    }
    return add(element(at.a, axis.a_stride), element(at.b, axis.b_stride));
  }

  template <typename T, typename Left, typename Right>
  BATON_LOOP static void AddTerms(int64_t terms, int64_t n, const Left& left,
                                  const Right& right, T* sums) {
    constexpr int64_t kStep = internal::kPartial;
    const int64_t whole = terms / kStep * kStep;
    const int64_t used = whole == 0 ? 1 : kStep;
    T lanes[kStep][kColumns];
    for (int64_t j = 0; j < used; ++j) {
      for (int64_t c = 0; c < n; ++c) lanes[j][c] = T{};
    }
    // In the order of the terms, which is mostly that of memory.
    const auto add = [&](int64_t k, T* lane) BATON_LOOP {
      for (int64_t c = 0; c < n; ++c) lane[c] += left(k, c) * right(k, c);
    };
    for (int64_t k = 0; k < whole; k += kStep) {
      for (int64_t j = 0; j < kStep; ++j) add(k + j, lanes[j]);
    }
    for (int64_t k = whole; k < terms; ++k) add(k, lanes[0]);
    for (int64_t half = used / 2; half > 0; half /= 2) {
      for (int64_t j = 0; j < half; ++j) {
        for (int64_t c = 0; c < n; ++c) lanes[j][c] += lanes[j + half][c];
      }
    }
    for (int64_t c = 0; c < n; ++c) sums[c] += lanes[0][c];
  }

  // The sums along `axis` of the places along `row`, as internal::SumOf adds
  // them.
  template <typename T>
  static void SumRow(const Place<T>& at, const Axis& row, const Axis& axis,
                     T* out) {
    internal::RunLoop<kWidestFor<T>>([=]() BATON_LOOP {
      for (int64_t first = 0; first < row.extent; first += kColumns) {
        SumSome(at.Moved(row, first), row, axis,
                std::min(kColumns, row.extent - first), out + first);
      }
    });
  }

  // The first n <= kColumns sums of SumRow. The partial results of all come
  // first, so that their sums become vectors as well and none waits for others.
  template <typename T>
  BATON_LOOP static void SumSome(const Place<T>& at, const Axis& row,
                                 const Axis& axis, int64_t n, T* out) {
    static_assert(internal::kPartial == 16);
    T lanes[kColumns * 16];
    const auto add_one = [&](int64_t stride) BATON_LOOP {
      for (int64_t r = 0; r < n; ++r) {
        const T* start = at.a + r * row.a_stride;
        AddLanes(
            axis.extent,
            [&](int64_t k) BATON_LOOP { return start[k * stride]; },
            lanes + r * 16);
      }
    };
    const auto add = [&](int64_t a_stride, int64_t b_stride) BATON_LOOP {
      for (int64_t r = 0; r < n; ++r) {
        const Place<T> start = at.Moved(row, r);
        AddLanes(
            axis.extent,
            [&](int64_t k) BATON_LOOP {
              return start.a[k * a_stride] * start.b[k * b_stride];
            },
            lanes + r * 16);
      }
    };
    // Adjacent elements become vectors.
    if (at.b == nullptr && axis.a_stride == 1) {
      add_one(1);
    } else if (at.b == nullptr) {
      add_one(axis.a_stride);
    } else if (axis.a_stride == 1 && axis.b_stride == 1) {
      add(1, 1);
    } else if (axis.a_stride == 1 && axis.b_stride == 0) {
      add(1, 0);
    } else {
      add(axis.a_stride, axis.b_stride);
    }
    T halves[kColumns * 8];
    AddHalves<8>(n, lanes, halves);
    AddHalves<4>(n, halves, lanes);
    AddHalves<2>(n, lanes, halves);
    AddHalves<1>(n, halves, out);
  }

  // The partial results of the sum of term(k) for k < n.
  template <typename T, typename Term>
  BATON_LOOP static void AddLanes(int64_t n, const Term& term, T* to) {
    constexpr int64_t kStep = internal::kPartial;
    T lanes[kStep] = {};
    int64_t k = 0;
    for (; k + kStep <= n; k += kStep) {
      for (int64_t j = 0; j < kStep; ++j) lanes[j] += term(k + j);
    }
    for (; k < n; ++k) lanes[0] += term(k);
    for (int64_t j = 0; j < kStep; ++j) to[j] = lanes[j];
  }

  // Adds the second half of each of n groups of 2 * kHalf to the first one.
  template <int64_t kHalf, typename T>
  BATON_LOOP static void AddHalves(int64_t n, const T* from, T* to) {
    for (int64_t r = 0; r < n; ++r) {
      for (int64_t j = 0; j < kHalf; ++j) {
        to[r * kHalf + j] =
            from[r * 2 * kHalf + j] + from[r * 2 * kHalf + kHalf + j];
      }
    }
  }

  const std::map<char, int64_t>& extents_;
};

}  // namespace

absl::StatusOr<EinsumPlan> PlanEinsum(
    absl::Span<const std::vector<int64_t>> shapes, absl::string_view equation) {
  const size_t arrow = equation.find("->");
  const std::vector<absl::string_view> subscripts =
      absl::StrSplit(equation.substr(0, arrow), ',');
  if (shapes.empty() || subscripts.size() != shapes.size()) {
    return Error(kKernel, shapes.size(), " operands do not fit ", equation);
  }
  EinsumPlan plan;
  int ellipsis = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    BATON_ASSIGN_OR_RETURN(std::string letters, Letters(subscripts[i]));
    const bool has_ellipsis = letters.find(kEllipsis) != std::string::npos;
    const int rank = static_cast<int>(shapes[i].size()) -
                     static_cast<int>(letters.size()) + (has_ellipsis ? 1 : 0);
    if (has_ellipsis ? rank < 0 || rank > kMaxEllipsis : rank != 0) {
      return Error(kKernel, "an operand of shape ",
                   internal::ShapeToString(shapes[i]), " does not fit ",
                   equation);
    }
    ellipsis = std::max(ellipsis, rank);
    plan.axes.push_back(Expanded(letters, rank));
    for (size_t d = 0; d < shapes[i].size(); ++d) {
      const int64_t extent = shapes[i][d];
      const auto [it, inserted] = plan.extents.emplace(plan.axes[i][d], extent);
      if (inserted || it->second == extent || extent == 1) continue;
      if (it->second != 1) {
        return Error(kKernel, "an axis of ", equation, " has both ", it->second,
                     " and ", extent, " elements");
      }
      it->second = extent;
    }
  }
  std::string result;
  if (arrow != absl::string_view::npos) {
    BATON_ASSIGN_OR_RETURN(result, Letters(equation.substr(arrow + 2)));
  } else {
    if (ellipsis > 0) result.push_back(kEllipsis);
    for (const auto& [letter, extent] : plan.extents) {
      int64_t count = 0;
      for (const std::string& letters : plan.axes) {
        count += std::count(letters.begin(), letters.end(), letter);
      }
      if (letter > kMaxEllipsis && count == 1) result.push_back(letter);
    }
  }
  result = Expanded(result, ellipsis);
  for (size_t d = 0; d < result.size(); ++d) {
    if (plan.extents.count(result[d]) == 0 || result.find(result[d]) != d) {
      return Error(kKernel, "the result of ", equation,
                   " has an axis of no operand, or one twice");
    }
  }
  // Sums over axes of one operand alone come first, then operands are joined
  // two by two.
  const std::vector<std::string> operands = plan.axes;
  const auto kept_of = [&](const std::string& letters, size_t i,
                           const std::string& others) {
    const auto is_needed = [&](char c) {
      if (result.find(c) != std::string::npos) return true;
      if (others.find(c) != std::string::npos) return true;
      return std::any_of(operands.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                         operands.end(), [c](const std::string& axes) {
                           return axes.find(c) != std::string::npos;
                         });
    };
    std::string kept;
    for (const char c : letters) {
      if (kept.find(c) == std::string::npos && is_needed(c)) kept.push_back(c);
    }
    return kept;
  };
  // Returns the number of the result.
  const auto contract = [&](int left, int right, const std::string& kept) {
    EinsumPlan::Step step = {left, right, kept, ""};
    const std::string both = right < 0
                                 ? plan.axes[static_cast<size_t>(left)]
                                 : plan.axes[static_cast<size_t>(left)] +
                                       plan.axes[static_cast<size_t>(right)];
    for (const char c : both) {
      if (kept.find(c) == std::string::npos &&
          step.summed.find(c) == std::string::npos) {
        step.summed.push_back(c);
      }
    }
    plan.steps.push_back(std::move(step));
    plan.axes.push_back(kept);
    return static_cast<int>(plan.axes.size()) - 1;
  };
  int joined = -1;
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string before =
        joined < 0 ? "" : plan.axes[static_cast<size_t>(joined)];
    int operand = static_cast<int>(i);
    const std::string kept = kept_of(operands[i], i, before);
    if (kept != operands[i]) operand = contract(operand, -1, kept);
    if (joined < 0) {
      joined = operand;
    } else if (i + 1 == operands.size()) {
      contract(joined, operand, result);
      return plan;
    } else {
      joined = contract(joined, operand, kept_of(before + kept, i, ""));
    }
  }
  contract(joined, -1, result);
  return plan;
}

absl::StatusOr<Tensor> Einsum(absl::Span<const Tensor> operands,
                              absl::string_view equation) {
  std::vector<std::vector<int64_t>> shapes;
  for (const Tensor& operand : operands) {
    shapes.emplace_back(operand.shape().begin(), operand.shape().end());
  }
  BATON_ASSIGN_OR_RETURN(const EinsumPlan plan, PlanEinsum(shapes, equation));
  TensorShape shape;
  for (const char c : plan.steps.back().kept) {
    shape.push_back(plan.extents.at(c));
  }
  DType dtype = operands[0].dtype();
  if (!dtype.IsStorable() || dtype.is_bool()) {
    return internal::UnsupportedDType(kKernel, dtype);
  }
  // The low bits of integer results depend only on the low bits of the
  // operands.
  if (dtype.is_integral() && dtype.bits() < 32) dtype = DType::Int(32);
  if (dtype.is_half()) dtype = DType::Float(32);
  std::vector<Tensor> converted;
  for (const Tensor& operand : operands) {
    BATON_ASSIGN_OR_RETURN(
        Tensor same, internal::Convert(kKernel, operand, operands[0].dtype()));
    BATON_ASSIGN_OR_RETURN(same, internal::Convert(kKernel, same, dtype));
    converted.push_back(std::move(same));
  }
  const auto compute = [&]<typename T>() -> absl::StatusOr<Tensor> {
    BATON_ASSIGN_OR_RETURN(MutableTensor out,
                           MutableTensor::Uninitialized(dtype, shape));
    std::vector<View<T>> views;
    for (size_t i = 0; i < converted.size(); ++i) {
      View<T>& view = views.emplace_back();
      view.data = static_cast<const T*>(converted[i].data());
      const TensorShape strides = RowMajorStrides(converted[i].shape());
      for (size_t d = 0; d < plan.axes[i].size(); ++d) {
        if (converted[i].shape()[d] != 1) {
          view.strides[static_cast<size_t>(plan.axes[i][d])] += strides[d];
        }
      }
    }
    const Contraction contraction(plan.extents);
    for (const EinsumPlan::Step& step : plan.steps) {
      const auto view_of = [&views](int number) {
        return number < 0 ? nullptr : &views[static_cast<size_t>(number)];
      };
      if (&step == &plan.steps.back()) {
        BATON_RETURN_IF_ERROR(contraction.Run(*view_of(step.left),
                                              view_of(step.right), step,
                                              static_cast<T*>(out.data())));
        break;
      }
      TensorShape extents;
      for (const char c : step.kept) extents.push_back(plan.extents.at(c));
      BATON_ASSIGN_OR_RETURN(const int64_t size, NumElements(dtype, extents));
      BATON_RETURN_IF_ERROR(
          CheckTensorBytes(size * static_cast<int64_t>(sizeof(T))));
      View<T> view;
      view.storage.resize(static_cast<size_t>(size));
      const TensorShape strides = RowMajorStrides(extents);
      for (size_t d = 0; d < step.kept.size(); ++d) {
        view.strides[static_cast<size_t>(step.kept[d])] =
            extents[d] == 1 ? 0 : strides[d];
      }
      BATON_RETURN_IF_ERROR(contraction.Run(
          *view_of(step.left), view_of(step.right), step, view.storage.data()));
      view.data = view.storage.data();
      // Each view is an operand of one step.
      views[static_cast<size_t>(step.left)].storage = {};
      if (step.right >= 0) views[static_cast<size_t>(step.right)].storage = {};
      views.push_back(std::move(view));
    }
    return std::move(out).Freeze();
  };
  BATON_ASSIGN_OR_RETURN(
      const Tensor product,
      dtype.is_float() ? internal::VisitFloat(kKernel, dtype, compute)
                       : (dtype.bits() == 64 ? compute.operator()<uint64_t>()
                                             : compute.operator()<uint32_t>()));
  return internal::Convert(kKernel, product, operands[0].dtype());
}

}  // namespace baton::kernels
