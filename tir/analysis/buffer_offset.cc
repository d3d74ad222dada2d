#include "baton/tir/analysis/buffer_offset.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/structural_equal.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"

namespace baton::tir {
namespace {

// `sum + term`; a null sum is empty.
void AddTo(PrimExpr& sum, const PrimExpr& term) {
  sum = sum.defined() ? Add(sum, term) : term;
}

// The terms of a sum, in order.
std::vector<PrimExpr> TermsOf(const PrimExpr& e) {
  std::vector<PrimExpr> terms;
  std::vector<PrimExpr> stack = {e};
  while (!stack.empty()) {
    PrimExpr top = std::move(stack.back());
    stack.pop_back();
    if (const BinaryNode* add = AsBinary(top, BinaryOp::kAdd)) {
      stack.push_back(add->b());
      stack.push_back(add->a());
    } else {
      terms.push_back(std::move(top));
    }
  }
  return terms;
}

// Combines a quotient and its remainder in a sum:
//
//   (a + x // (k1 * k2) * k1) * k2 + x % (k1 * k2)   is   a * k2 + x
class QuotientMerger {
 public:
  explicit QuotientMerger(Analyzer& analyzer) : analyzer_(analyzer) {}

  PrimExpr Merge(const PrimExpr& e) {
    PrimExpr simplified = analyzer_.Simplify(WithoutOuterDivision(e));
    Insert(TermsOf(simplified));
    bool found = false;
    auto remainder = remainders_.begin();
    while (remainder != remainders_.end()) {
      bool merged = false;
      for (auto product = products_.begin(); product != products_.end();
           ++product) {
        const PrimExpr sum = Merged(*product, *remainder);
        if (!sum.defined()) continue;
        merged = true;
        remainder = remainders_.erase(remainder);
        products_.erase(product);
        const Inserted inserted = Insert(TermsOf(sum));
        if (inserted.product) {
          remainder = remainders_.begin();
        } else if (inserted.remainder && remainder == remainders_.end()) {
          --remainder;
        }
        break;
      }
      found = found || merged;
      if (!merged) ++remainder;
    }
    if (!found) return simplified;
    for (const PrimExpr& product : products_) AddTo(rest_, product);
    for (const Remainder& r : remainders_) {
      AddTo(rest_, MakeBinary(BinaryOp::kFloorMod, r.dividend, r.divisor));
    }
    return rest_;
  }

 private:
  struct Remainder {
    PrimExpr dividend;
    PrimExpr divisor;
  };
  struct Inserted {
    bool product = false;
    bool remainder = false;
  };

  // x of x // y * y + x % y.
  static PrimExpr WithoutOuterDivision(const PrimExpr& e) {
    const BinaryNode* sum = AsBinary(e, BinaryOp::kAdd);
    if (sum == nullptr) return e;
    const BinaryNode* product = AsBinary(sum->a(), BinaryOp::kMul);
    const BinaryNode* remainder = AsBinary(sum->b(), BinaryOp::kFloorMod);
    if (product == nullptr || remainder == nullptr) return e;
    const BinaryNode* quotient = AsBinary(product->a(), BinaryOp::kFloorDiv);
    if (quotient == nullptr) return e;
    const bool matches = StructuralEqual(quotient->a(), remainder->a()) &&
                         StructuralEqual(quotient->b(), product->b()) &&
                         StructuralEqual(quotient->b(), remainder->b());
    return matches ? quotient->a() : e;
  }

  Inserted Insert(const std::vector<PrimExpr>& terms) {
    Inserted inserted;
    for (const PrimExpr& term : terms) {
      if (const BinaryNode* mod = AsBinary(term, BinaryOp::kFloorMod)) {
        remainders_.push_back({mod->a(), mod->b()});
        inserted.remainder = true;
      } else if (AsBinary(term, BinaryOp::kMul) != nullptr) {
        products_.push_back(term);
        inserted.product = true;
      } else {
        AddTo(rest_, term);
      }
    }
    return inserted;
  }

  // The sum of a product and a remainder; null if they do not belong together.
  PrimExpr Merged(const PrimExpr& product, const Remainder& remainder) {
    PrimExpr inner = product;
    PrimExpr outer_factor;
    while (const BinaryNode* mul = AsBinary(inner, BinaryOp::kMul)) {
      outer_factor =
          outer_factor.defined() ? Mul(mul->b(), outer_factor) : mul->b();
      inner = PrimExpr(mul->a());
    }
    PrimExpr inner_factor;
    PrimExpr others;
    while (true) {
      const auto* binary = inner.As<BinaryNode>();
      if (binary == nullptr) return {};
      if (binary->op() == BinaryOp::kFloorDiv) {
        const PrimExpr factor = inner_factor.defined()
                                    ? Mul(inner_factor, outer_factor)
                                    : outer_factor;
        if (!StructuralEqual(factor, binary->b()) ||
            !StructuralEqual(factor, remainder.divisor) ||
            !analyzer_.CanProveEqual(
                MakeBinary(BinaryOp::kFloorMod,
                           Sub(binary->a(), remainder.dividend),
                           remainder.divisor),
                IntImm(binary->dtype(), 0))) {
          return {};
        }
        return others.defined() ? Add(Mul(others, outer_factor), binary->a())
                                : binary->a();
      }
      if (binary->op() == BinaryOp::kMul) {
        inner_factor = inner_factor.defined() ? Mul(binary->b(), inner_factor)
                                              : binary->b();
        inner = PrimExpr(binary->a());
      } else if (binary->op() == BinaryOp::kAdd && !inner_factor.defined()) {
        AddTo(others, binary->a());
        inner = PrimExpr(binary->b());
      } else {
        return {};
      }
    }
  }

  Analyzer& analyzer_;
  std::list<PrimExpr> products_;
  std::list<Remainder> remainders_;
  PrimExpr rest_;
};

// The group of each axis: groups end before the separators.
std::vector<size_t> GroupsOf(const Buffer& buffer) {
  std::vector<size_t> groups;
  size_t group = 0;
  for (size_t i = 0; i < buffer->shape().size(); ++i) {
    if (group < buffer->axis_separators().size() &&
        static_cast<int64_t>(i) == buffer->axis_separators()[group]) {
      ++group;
    }
    groups.push_back(group);
  }
  return groups;
}

}  // namespace

std::vector<PrimExpr> ElementOffset(const Buffer& buffer,
                                    absl::Span<const PrimExpr> indices) {
  const std::vector<size_t> groups = GroupsOf(buffer);
  std::vector<PrimExpr> offsets(buffer->axis_separators().size() + 1,
                                IntImm(kInt32, 0));
  Analyzer analyzer;
  for (size_t i = 0; i < indices.size(); ++i) {
    PrimExpr& offset = offsets[groups[i]];
    offset = buffer->strides().empty()
                 ? Add(Mul(offset, buffer->shape()[i]), indices[i])
                 : Add(offset, Mul(indices[i], buffer->strides()[i]));
    if (i > 0) offset = QuotientMerger(analyzer).Merge(offset);
  }
  if (!IsZero(buffer->elem_offset())) {
    offsets[0] = Add(offsets[0], buffer->elem_offset());
  }
  for (PrimExpr& offset : offsets) offset = analyzer.Simplify(offset);
  return offsets;
}

Buffer FlattenedBuffer(const Buffer& buffer) {
  const size_t rank = buffer->shape().size();
  std::vector<PrimExpr> shape;
  if (!buffer->strides().empty()) {
    shape.push_back(Mul(buffer->strides()[0], buffer->shape()[0]));
    for (const int64_t axis : buffer->axis_separators()) {
      const auto i = static_cast<size_t>(axis);
      shape.push_back(Mul(buffer->strides()[i], buffer->shape()[i]));
    }
  } else {
    shape.assign(buffer->axis_separators().size() + 1, IntImm(kInt32, 1));
    const std::vector<size_t> groups = GroupsOf(buffer);
    for (size_t i = 0; i < rank; ++i) {
      shape[groups[i]] = Mul(shape[groups[i]], buffer->shape()[i]);
    }
  }
  if (shape.size() == rank && buffer->strides().empty()) return buffer;
  BufferNode::Parts parts = buffer->parts();
  parts.shape = std::move(shape);
  parts.strides.clear();
  for (size_t i = 0; i < parts.axis_separators.size(); ++i) {
    parts.axis_separators[i] = static_cast<int64_t>(i) + 1;
  }
  return Buffer(std::move(parts), buffer->span());
}

Buffer AsBytesIfBool(const Buffer& buffer) {
  if (buffer.dtype() != DType::Bool()) return buffer;
  BufferNode::Parts parts = buffer->parts();
  parts.dtype = DType::Int(8);
  return Buffer(std::move(parts), buffer->span());
}

PrimExpr NumElements(absl::Span<const PrimExpr> extents) {
  PrimExpr result = IntImm(kInt32, 1);
  for (const PrimExpr& extent : extents) result = Mul(result, extent);
  return result;
}

}  // namespace baton::tir
