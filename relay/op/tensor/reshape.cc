#include "baton/relay/op/tensor/reshape.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/type.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::relay {
namespace {

// Reads `newshape` against `shape`, from the left.
class Reshaper {
 public:
  Reshaper(absl::Span<const Dim> shape, absl::Span<const int64_t> newshape,
           bool allowzero)
      : shape_(shape), newshape_(newshape), allowzero_(allowzero) {}

  absl::StatusOr<Dims> Run() {
    for (size_t i = 0; i < newshape_.size(); ++i) {
      BATON_RETURN_IF_ERROR(Step(&i));
    }
    if (inferred_ >= 0) {
      // Axes that were copied take no part: they need not be known.
      for (size_t i = 0; i < shape_.size(); ++i) {
        if (!claimed(i)) numerator_.push_back(shape_[i]);
      }
      result_[inferred_] = Quotient(numerator_, denominator_);
    }
    if (ProvablyDiffer(Product(shape_), Product(result_))) {
      return Error("the number of elements would change to ",
                   ShapeToString(result_));
    }
    return std::move(result_);
  }

 private:
  template <typename... Args>
  absl::Status Error(const Args&... why) const {
    return absl::InvalidArgumentError(absl::StrCat(
        "the shape ", ShapeToString(shape_), " cannot be changed to newshape=[",
        absl::StrJoin(newshape_, ", "), "]: ", why...));
  }

  bool claimed(size_t i) const { return i < claimed_.size() && claimed_[i]; }

  // The next old axis, which some new axes stand for.
  absl::StatusOr<Dim> Claim() {
    if (next_ >= shape_.size()) return Error("it has too few axes");
    claimed_.resize(next_ + 1, false);
    claimed_[next_] = true;
    return shape_[next_++];
  }

  // A new axis whose old axes are not known.
  void Place(Dim dim) {
    denominator_.push_back(dim);
    result_.push_back(std::move(dim));
    ++next_;
  }

  // Reads newshape_[*i], and moves *i to the last number read.
  absl::Status Step(size_t* i) {
    const int64_t value = newshape_[*i];
    if (value > 0 || (value == 0 && allowzero_)) {
      Place(value);
      return absl::OkStatus();
    }
    switch (value) {
      case 0: {
        BATON_ASSIGN_OR_RETURN(Dim dim, Claim());
        result_.push_back(std::move(dim));
        return absl::OkStatus();
      }
      case -1: {
        if (inferred_ >= 0) return Error("-1 is given twice");
        inferred_ = static_cast<int>(result_.size());
        result_.push_back(1);
        ++next_;
        return absl::OkStatus();
      }
      case -2: {
        while (next_ < shape_.size()) {
          BATON_ASSIGN_OR_RETURN(Dim dim, Claim());
          result_.push_back(std::move(dim));
        }
        return absl::OkStatus();
      }
      case -3: {
        BATON_ASSIGN_OR_RETURN(const Dim first, Claim());
        BATON_ASSIGN_OR_RETURN(const Dim second, Claim());
        result_.push_back(first * second);
        return absl::OkStatus();
      }
      case -4: {
        if (*i + 2 >= newshape_.size()) {
          return Error("two numbers must follow -4");
        }
        BATON_ASSIGN_OR_RETURN(const Dim whole, Claim());
        const int64_t a = newshape_[++*i];
        const int64_t b = newshape_[++*i];
        if (a == -1 && b == -1) {
          return Error("both parts of a split axis are -1");
        }
        if ((a <= 0 && a != -1) || (b <= 0 && b != -1)) {
          return Error("the parts of a split axis must be positive or -1");
        }
        result_.push_back(a == -1 ? FloorDiv(whole, b) : Dim(a));
        result_.push_back(b == -1 ? FloorDiv(whole, a) : Dim(b));
        return absl::OkStatus();
      }
      default:
        return Error(value, " has no meaning");
    }
  }

  const absl::Span<const Dim> shape_;
  const absl::Span<const int64_t> newshape_;
  const bool allowzero_;
  Dims result_;
  int inferred_ = -1;  // position of the -1 in result_
  size_t next_ = 0;    // the next old axis
  absl::InlinedVector<bool, 8> claimed_;
  Dims numerator_;
  Dims denominator_;
};

}  // namespace

absl::StatusOr<Dims> ReshapedShape(absl::Span<const Dim> shape,
                                   absl::Span<const int64_t> newshape,
                                   bool allowzero) {
  return Reshaper(shape, newshape, allowzero).Run();
}

absl::StatusOr<Dims> ReverseReshapedShape(absl::Span<const Dim> shape,
                                          absl::Span<const int64_t> newshape,
                                          bool allowzero) {
  const Dims reversed(shape.rbegin(), shape.rend());
  const std::vector<int64_t> values(newshape.rbegin(), newshape.rend());
  BATON_ASSIGN_OR_RETURN(const Dims result,
                         Reshaper(reversed, values, allowzero).Run());
  return Dims(result.rbegin(), result.rend());
}

absl::StatusOr<Dims> ReshapedLikeShape(absl::Span<const Dim> shape,
                                       absl::Span<const Dim> like,
                                       const ReshapeLikeAttrs& attrs) {
  const int64_t size = static_cast<int64_t>(shape.size());
  const int64_t like_size = static_cast<int64_t>(like.size());
  const auto normalize = [](int64_t value, int64_t rank) {
    return value < 0 ? value + rank : value;
  };
  const int64_t begin = normalize(attrs.lhs_begin, size);
  const int64_t end = normalize(attrs.lhs_end.value_or(size), size);
  const int64_t like_begin = normalize(attrs.rhs_begin, like_size);
  const int64_t like_end =
      normalize(attrs.rhs_end.value_or(like_size), like_size);
  if (begin < 0 || end < 0 || begin > size || end > size || like_begin < 0 ||
      like_end < 0 || like_begin > like_size || like_end > like_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "lhs_begin, lhs_end, rhs_begin or rhs_end is out of range for the "
        "shapes ",
        ShapeToString(shape), " and ", ShapeToString(like)));
  }
  Dims result(shape.begin(), shape.begin() + begin);
  if (like_begin < like_end) {
    result.insert(result.end(), like.begin() + like_begin,
                  like.begin() + like_end);
  }
  result.insert(result.end(), shape.begin() + end, shape.end());
  return result;
}

}  // namespace baton::relay
