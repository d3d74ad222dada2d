// Simplifies by a canonical form: sums of quotients and remainders.
// See Analyzer::CanonicalSimplify.

#ifndef BATON_TIR_ARITH_CANONICAL_SIMPLIFY_H_
#define BATON_TIR_ARITH_CANONICAL_SIMPLIFY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/ir/node_map.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/rewrite_simplify.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

class CanonicalSimplifier : public RewriteSimplifier {
 public:
  explicit CanonicalSimplifier(Analyzer& analyzer)
      : RewriteSimplifier(analyzer) {}

  PrimExpr Simplify(const PrimExpr& e) {
    const Outermost scope(*this);
    return Rewrite(e);
  }

 protected:
  PrimExpr SimplifyBinary(const BinaryNode* node) override;
  PrimExpr VisitCast(const CastNode* node) override;
  PrimExpr VisitReduce(const ReduceNode* node) override;
  void ForgetSome() override {
    if (forms_.size() > kMaxForms) forms_.Clear();
  }

 private:
  static constexpr int64_t kNoUpper = ConstIntBound::kPosInf;

  // (index % upper) // lower * scale, with divisions that round down or
  // truncate. `lower` divides `upper`; if `upper` is kNoUpper, the form is
  // index // lower * scale.
  struct Split {
    DType dtype;
    PrimExpr index;
    int64_t lower = 1;
    int64_t upper = kNoUpper;
    int64_t scale = 1;
    bool floors = false;
  };
  // The sum of splits and a constant, which may be out of the range of its type.
  // Splits of equal indices are neighbours, by descending `lower`.
  struct Sum {
    DType dtype;
    std::vector<Split> args;
    int64_t base = 0;
  };
  // An expression, or one in canonical form.
  using Form = std::variant<PrimExpr, Split, Sum>;

  // Adds up the terms of a long sum. See canonical_simplify.cc.
  class LongSum;

  Form Mutate(const PrimExpr& e);
  Form MutateBinary(const BinaryNode* node);
  Form MutateLongSum(const BinaryNode* node);
  Form MutateLongRightSum(const BinaryNode* node);
  Form MutateOperation(const BinaryNode* node);
  Form MutateCast(const CastNode* node);
  Form AddSub(const BinaryNode* node, Form a, Form b);
  Form Multiply(const BinaryNode* node, Form a, Form b);
  Form Divide(const BinaryNode* node, Form a, Form b);
  Form Modulo(const BinaryNode* node, Form a, Form b);
  PrimExpr Less(const BinaryNode* node);

  static PrimExpr ToExpr(const Split& split, int64_t scale = 1);
  static PrimExpr ToExpr(const Sum& sum);
  static PrimExpr ToExpr(const Form& form);
  static PrimExpr SumOf(DType dtype, const std::vector<Split>& args,
                        int64_t base);
  static Split ToSplit(Form form);
  static Sum ToSum(Form form);
  static bool SameIndex(const Split& a, const Split& b);
  static bool Compatible(const Split& split, bool floors);
  // True if neither `scale` nor its product with a constant index is out of
  // range.
  static bool ScaleFits(const Split& split, int64_t scale);
  // Adds to the scale of `split`; false if the sum is out of range.
  static bool AddScale(Split& split, int64_t scale);
  // `split` times `sign`. A sign is 1 or -1.
  static Split WithSign(Split split, int64_t sign);
  static void AddTo(Sum& sum, Split other, int64_t sign);
  static void AddTo(Sum& sum, const Form& other, int64_t sign);
  static bool AddConstant(Sum& sum, int64_t value, int64_t sign);
  // True if no constant of the product is out of range.
  static bool CanMultiply(const Sum& sum, int64_t scale);
  static void Multiply(Sum& sum, int64_t scale);
  static void DivideExactly(Sum& sum, int64_t divisor);
  // The terms that are multiples of `factor`, and the others.
  static void Separate(const Sum& sum, int64_t factor, Sum& multiples,
                       Sum& others);
  static bool Joins(const Split& left, const Split& right);
  static void MergeSplits(std::vector<Split>& args);
  // As MergeSplits, for `count` terms of one index from `first` on.
  static void MergeManySplits(Split* first, size_t count);
  static Split WithRounding(Split split, bool floors);
  static std::optional<Form> Fold(BinaryOp op, const Form& a, const Form& b);

  Split DivideByConstant(Split split, int64_t divisor, bool floors);
  Split ModuloConstant(Split split, int64_t divisor, bool floors);
  // Removes common factors of two products; false if there are none.
  static bool CancelFactors(PrimExpr& a, PrimExpr& b, PrimExpr& factor);

  bool FitsIn(DType dtype, const PrimExpr& e);
  bool CanCast(const Split& split, DType dtype);
  bool CanCast(const Sum& sum, DType dtype);

  struct KnownForm {
    PrimExpr node;  // kept alive
    Form form;
  };
  static constexpr size_t kMaxForms = 1024;
  NodeMap<KnownForm> forms_;
  uint64_t forms_version_ = 0;
};

// lhs * rhs in the form (x * y) * c.
PrimExpr MulAndNormalize(const PrimExpr& lhs, const PrimExpr& rhs);

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_CANONICAL_SIMPLIFY_H_
