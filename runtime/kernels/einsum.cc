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
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Error;

constexpr absl::string_view kKernel = "einsum";

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
  std::string axes;  // different ones
  std::array<int64_t, 128> strides{};
  const T* data = nullptr;
  std::vector<T> storage;  // of an intermediate result
};

class Contraction {
 public:
  // Of all axes.
  std::map<char, int64_t> extents;

  // The sum of the products of `a` and `b` over the axes that are not in
  // `kept`, row-major. No `b`: of `a` alone.
  template <typename T>
  absl::Status Run(const View<T>& a, const View<T>* b, const std::string& kept,
                   T* out) const {
    std::string summed;
    const std::string both = b == nullptr ? a.axes : a.axes + b->axes;
    for (const char c : both) {
      if (kept.find(c) == std::string::npos &&
          summed.find(c) == std::string::npos) {
        summed.push_back(c);
      }
    }
    for (const char c : kept) {
      if (extents.at(c) == 0) return absl::OkStatus();
    }
    int64_t terms = 1;
    for (const char c : summed) {
      BATON_ASSIGN_OR_RETURN(
          terms, internal::CheckedMul(kKernel, terms, extents.at(c)));
    }
    std::vector<Axis> outer = AxesOf(kept, a, b);
    std::vector<Axis> inner = AxesOf(summed, a, b);
    // The last summed axis is a loop of its own.
    Axis last;
    if (!inner.empty()) {
      last = inner.back();
      inner.pop_back();
    }
    Place<T> at{a.data, b == nullptr ? nullptr : b->data};
    std::vector<int64_t> inner_index(inner.size());
    // Integers wrap.
    using W = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
    // Adjacent results become vectors where adjacent terms do not.
    if (!outer.empty() && terms > 0 && outer.back().MakesVectors() &&
        !(last.extent > 1 && last.MakesVectors())) {
      const Axis row = outer.back();
      outer.pop_back();
      std::vector<int64_t> outer_index(outer.size());
      do {
        for (int64_t first = 0; first < row.extent; first += kColumns) {
          const int64_t n = std::min(kColumns, row.extent - first);
          const Place<T> start = at;
          at.a += first * row.a_stride;
          if (at.b != nullptr) at.b += first * row.b_stride;
          W sums[kColumns] = {};
          do {
            AddColumns(at, last, row, n, sums);
          } while (Next(inner, inner_index, at));
          for (int64_t c = 0; c < n; ++c) *out++ = static_cast<T>(sums[c]);
          at = start;
        }
      } while (Next(outer, outer_index, at));
      return absl::OkStatus();
    }
    std::vector<int64_t> outer_index(outer.size());
    do {
      W sum{};
      if (terms > 0) {
        do {
          sum += SumAlong<W>(at, last);
        } while (Next(inner, inner_index, at));
      }
      *out++ = static_cast<T>(sum);
    } while (Next(outer, outer_index, at));
    return absl::OkStatus();
  }

 private:
  struct Axis {
    int64_t extent = 1;
    int64_t a_stride = 0;
    int64_t b_stride = 0;

    // Whether the operands are adjacent along it, or do not change.
    bool MakesVectors() const {
      return (a_stride == 0 || a_stride == 1) &&
             (b_stride == 0 || b_stride == 1);
    }
  };

  // Results at a time of AddColumns.
  static constexpr int64_t kColumns = 64;

  // Where the operands are read. No `b`: factors of 1.
  template <typename T>
  struct Place {
    const T* a;
    const T* b;
  };

  template <typename T>
  std::vector<Axis> AxesOf(const std::string& letters, const View<T>& a,
                           const View<T>* b) const {
    std::vector<Axis> axes;
    for (const char c : letters) {
      axes.push_back({extents.at(c), a.strides[static_cast<size_t>(c)],
                      b == nullptr ? 0 : b->strides[static_cast<size_t>(c)]});
    }
    return axes;
  }

  // To the next index; false, and back to the first, after the last.
  template <typename T>
  static bool Next(const std::vector<Axis>& axes, std::vector<int64_t>& index,
                   Place<T>& at) {
    for (size_t d = axes.size(); d-- > 0;) {
      const Axis& axis = axes[d];
      const bool more = ++index[d] < axis.extent;
      const int64_t steps = more ? 1 : 1 - axis.extent;
      at.a += steps * axis.a_stride;
      if (at.b != nullptr) at.b += steps * axis.b_stride;
      if (more) return true;
      index[d] = 0;
    }
    return false;
  }

  // Adds to each of `n` sums, adjacent along `row`, what SumAlong is there: in
  // the same order.
  template <typename W, typename T>
  static void AddColumns(const Place<T>& at, const Axis& axis, const Axis& row,
                         int64_t n, W* sums) {
    W lanes[internal::kPartial][kColumns];
    const int64_t used =
        axis.extent < internal::kPartial ? 1 : internal::kPartial;
    for (int64_t j = 0; j < used; ++j) std::fill_n(lanes[j], kColumns, W{});
    const auto add = [=](W* lane, const auto& term) {
      for (int64_t c = 0; c < n; ++c) lane[c] += term(c);
    };
    const auto add_terms = [&](int64_t k, W* lane) {
      const T* x = at.a + k * axis.a_stride;
      if (at.b == nullptr) {
        if (row.a_stride == 1) {
          return add(lane, [x](int64_t c) { return static_cast<W>(x[c]); });
        }
        return add(lane, [v = static_cast<W>(*x)](int64_t) { return v; });
      }
      const T* y = at.b + k * axis.b_stride;
      if (row.a_stride == 1 && row.b_stride == 1) {
        return add(lane, [x, y](int64_t c) {
          return static_cast<W>(x[c]) * static_cast<W>(y[c]);
        });
      }
      if (row.a_stride == 1) {
        return add(lane, [x, v = static_cast<W>(*y)](int64_t c) {
          return static_cast<W>(x[c]) * v;
        });
      }
      return add(lane,
                 [y, u = static_cast<W>(*x), step = row.b_stride](int64_t c) {
                   return u * static_cast<W>(y[c * step]);
                 });
    };
    int64_t k = 0;
    for (; k + internal::kPartial <= axis.extent; k += internal::kPartial) {
      for (int64_t j = 0; j < internal::kPartial; ++j) {
        add_terms(k + j, lanes[j]);
      }
    }
    for (; k < axis.extent; ++k) add_terms(k, lanes[0]);
    for (int64_t half = used / 2; half > 0; half /= 2) {
      for (int64_t j = 0; j < half; ++j) {
        for (int64_t c = 0; c < n; ++c) lanes[j][c] += lanes[j + half][c];
      }
    }
    for (int64_t c = 0; c < n; ++c) sums[c] += lanes[0][c];
  }

  template <typename W, typename T>
  static W SumAlong(const Place<T>& at, const Axis& axis) {
    const auto sum = [&](int64_t a_stride, int64_t b_stride) {
      if (at.b == nullptr) {
        return internal::SumOf(axis.extent, [&](int64_t k) BATON_LOOP {
          return static_cast<W>(at.a[k * a_stride]);
        });
      }
      return internal::SumOf(axis.extent, [&](int64_t k) BATON_LOOP {
        return static_cast<W>(at.a[k * a_stride]) *
               static_cast<W>(at.b[k * b_stride]);
      });
    };
    // Adjacent elements become vectors.
    if (axis.a_stride == 1 && axis.b_stride == 1) return sum(1, 1);
    return sum(axis.a_stride, axis.b_stride);
  }
};

}  // namespace

absl::StatusOr<Tensor> Einsum(absl::Span<const Tensor> operands,
                              absl::string_view equation) {
  const size_t arrow = equation.find("->");
  const std::vector<absl::string_view> subscripts =
      absl::StrSplit(equation.substr(0, arrow), ',');
  if (operands.empty() || subscripts.size() != operands.size()) {
    return Error(kKernel, operands.size(), " operands do not fit ", equation);
  }
  Contraction contraction;
  std::vector<std::string> axes;
  int ellipsis = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    BATON_ASSIGN_OR_RETURN(std::string letters, Letters(subscripts[i]));
    const bool has_ellipsis = letters.find(kEllipsis) != std::string::npos;
    const int rank = operands[i].rank() - static_cast<int>(letters.size()) +
                     (has_ellipsis ? 1 : 0);
    if (has_ellipsis ? rank < 0 || rank > kMaxEllipsis : rank != 0) {
      return Error(kKernel, "an operand ", operands[i].TypeToString(),
                   " does not fit ", equation);
    }
    ellipsis = std::max(ellipsis, rank);
    axes.push_back(Expanded(letters, rank));
    for (size_t d = 0; d < axes[i].size(); ++d) {
      const int64_t extent = operands[i].shape()[d];
      const auto [it, inserted] =
          contraction.extents.emplace(axes[i][d], extent);
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
    for (const auto& [letter, extent] : contraction.extents) {
      const auto uses = [&, c = letter](const std::string& letters) {
        return std::count(letters.begin(), letters.end(), c);
      };
      int64_t count = 0;
      for (const std::string& letters : axes) count += uses(letters);
      if (letter > kMaxEllipsis && count == 1) result.push_back(letter);
    }
  }
  result = Expanded(result, ellipsis);
  TensorShape shape;
  for (size_t d = 0; d < result.size(); ++d) {
    const auto it = contraction.extents.find(result[d]);
    if (it == contraction.extents.end() || result.find(result[d]) != d) {
      return Error(kKernel, "the result of ", equation,
                   " has an axis of no operand, or one twice");
    }
    shape.push_back(it->second);
  }
  std::vector<Tensor> converted;
  for (const Tensor& operand : operands) {
    BATON_ASSIGN_OR_RETURN(
        Tensor same, internal::Convert(kKernel, operand, operands[0].dtype()));
    BATON_ASSIGN_OR_RETURN(same, internal::WidenHalf(kKernel, same));
    converted.push_back(std::move(same));
  }
  BATON_ASSIGN_OR_RETURN(
      const Tensor product,
      internal::VisitNumeric(
          kKernel, converted[0].dtype(),
          [&]<typename T>() -> absl::StatusOr<Tensor> {
            BATON_ASSIGN_OR_RETURN(
                MutableTensor out,
                MutableTensor::Create(converted[0].dtype(), shape));
            // Sums over axes of one operand alone come first, then operands are
            // joined two by two.
            const auto needed_after = [&](size_t i, char c) {
              if (result.find(c) != std::string::npos) return true;
              for (size_t k = i + 1; k < axes.size(); ++k) {
                if (axes[k].find(c) != std::string::npos) return true;
              }
              return false;
            };
            const auto kept_of = [&](const std::string& letters, size_t i,
                                     const std::string& others) {
              std::string kept;
              for (const char c : letters) {
                if (kept.find(c) == std::string::npos &&
                    (needed_after(i, c) ||
                     others.find(c) != std::string::npos)) {
                  kept.push_back(c);
                }
              }
              return kept;
            };
            const auto contracted =
                [&](const View<T>& a, const View<T>* b,
                    const std::string& kept) -> absl::StatusOr<View<T>> {
              TensorShape extents;
              for (const char c : kept) {
                extents.push_back(contraction.extents.at(c));
              }
              BATON_ASSIGN_OR_RETURN(
                  const int64_t size,
                  NumElements(converted[0].dtype(), extents));
              BATON_RETURN_IF_ERROR(
                  CheckTensorBytes(size * static_cast<int64_t>(sizeof(T))));
              View<T> view;
              view.axes = kept;
              view.storage.resize(static_cast<size_t>(size));
              const TensorShape strides = internal::RowMajorStrides(extents);
              for (size_t d = 0; d < kept.size(); ++d) {
                view.strides[static_cast<size_t>(kept[d])] =
                    extents[d] == 1 ? 0 : strides[d];
              }
              BATON_RETURN_IF_ERROR(
                  contraction.Run(a, b, kept, view.storage.data()));
              view.data = view.storage.data();
              return view;
            };
            View<T> joined;
            for (size_t i = 0; i < axes.size(); ++i) {
              View<T> view;
              view.data = converted[i].span<T>().data();
              const TensorShape strides =
                  internal::RowMajorStrides(converted[i].shape());
              bool repeated = false;
              for (size_t d = 0; d < axes[i].size(); ++d) {
                const char c = axes[i][d];
                const bool again = view.axes.find(c) != std::string::npos;
                repeated = repeated || again;
                if (!again) view.axes.push_back(c);
                if (converted[i].shape()[d] != 1) {
                  view.strides[static_cast<size_t>(c)] += strides[d];
                }
              }
              const std::string kept = kept_of(view.axes, i, joined.axes);
              if (kept != view.axes || repeated) {
                BATON_ASSIGN_OR_RETURN(view, contracted(view, nullptr, kept));
              }
              if (i == 0) {
                joined = std::move(view);
                joined.data = joined.storage.empty() ? joined.data
                                                     : joined.storage.data();
                continue;
              }
              if (i + 1 == axes.size()) {
                BATON_RETURN_IF_ERROR(contraction.Run(joined, &view, result,
                                                      out.span<T>().data()));
                return std::move(out).Freeze();
              }
              const std::string all =
                  kept_of(joined.axes + view.axes, i, std::string());
              BATON_ASSIGN_OR_RETURN(View<T> next,
                                     contracted(joined, &view, all));
              joined = std::move(next);
              joined.data = joined.storage.data();
            }
            BATON_RETURN_IF_ERROR(contraction.Run<T>(joined, nullptr, result,
                                                     out.span<T>().data()));
            return std::move(out).Freeze();
          }));
  return internal::Convert(kKernel, product, operands[0].dtype());
}

}  // namespace baton::kernels
