#include "baton/testing/deep_loops.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/stmt.h"

namespace baton::testing {
namespace {

using tir::IntImm;
using tir::kInt32;
using tir::PrimExpr;
using tir::Stmt;

constexpr absl::string_view kKinds[] = {
    "lets",      "branches", "attributes", "whiles",     "allocations",
    "blocks",    "loops",    "elses",      "assertions", "guards",
    "triangles", "sums",     "values",     "conditions"};

tir::Buffer MakeBuffer() {
  tir::BufferNode::Parts parts;
  parts.name = "A";
  parts.dtype = kInt32;
  parts.shape = {IntImm(kInt32, 16)};
  parts.data = tir::Var::Pointer("A", kInt32, "global");
  return tir::Buffer(std::move(parts));
}

// Makes the parts of functions that read and write the first element of a
// buffer.
class Maker {
 public:
  explicit Maker(int depth) : depth_(depth) {
    for (int i = 0; i < depth; ++i) vars_.emplace_back("i", kInt32);
  }

  tir::PrimFunc Make(absl::string_view kind) {
    Stmt body = store_;
    if (kind == "sums" || kind == "values") {
      PrimExpr value = load_;
      for (int i = 0; i < depth_; ++i)
        value = Around(kind, i, std::move(value));
      body = tir::BufferStore(buffer_, std::move(value), {zero_});
    } else if (kind == "conditions") {
      PrimExpr condition = IsBelow(0);
      for (int i = 1; i < depth_; ++i) {
        condition =
            tir::Binary(tir::BinaryOp::kAnd, std::move(condition), IsBelow(i));
      }
      body = tir::IfThenElse(std::move(condition), store_);
    } else {
      for (int i = 0; i < depth_; ++i) body = Around(kind, i, std::move(body));
    }
    tir::PrimFuncNode::Parts parts;
    parts.params = {tir::Var("p", tir::kHandle)};
    parts.buffers = {{0, buffer_}};
    parts.body = std::move(body);
    return tir::PrimFunc(std::move(parts));
  }

 private:
  PrimExpr IsBelow(int i) const {
    return tir::Binary(tir::BinaryOp::kLT, load_, IntImm(kInt32, i));
  }

  PrimExpr Around(absl::string_view kind, int i, PrimExpr value) const {
    if (kind == "sums") {
      return tir::Binary(i % 2 == 0 ? tir::BinaryOp::kAdd : tir::BinaryOp::kMax,
                         std::move(value), load_);
    }
    if (i % 2 == 0) return tir::Select(IsBelow(i), std::move(value), load_);
    return tir::Let(tir::Var("x", kInt32), load_, std::move(value));
  }

  Stmt Around(absl::string_view kind, int i, Stmt body) const {
    if (kind == "lets") {
      return tir::LetStmt(tir::Var("x", kInt32), load_, std::move(body));
    }
    if (kind == "branches") {
      return tir::IfThenElse(IsBelow(i), std::move(body));
    }
    if (kind == "elses") {
      return tir::IfThenElse(IsBelow(i), store_, std::move(body));
    }
    if (kind == "assertions") {
      return tir::AssertStmt(IsBelow(i), tir::StringImm("message"),
                             std::move(body));
    }
    if (kind == "attributes") {
      return tir::AttrStmt(zero_, "pragma_key", zero_, std::move(body));
    }
    if (kind == "whiles") return tir::While(IsBelow(i), std::move(body));
    if (kind == "allocations") {
      return tir::Allocate(tir::Var::Pointer("m", kInt32, "global"), kInt32,
                           {IntImm(kInt32, 4)}, IntImm::Bool(true), {},
                           std::move(body));
    }
    if (kind == "blocks") {
      tir::BlockNode::Parts block;
      block.name = "b";
      block.body = std::move(body);
      return tir::BlockRealize({}, IntImm::Bool(true),
                               tir::Block(std::move(block)));
    }
    // Loops. In "triangles", each is as long as the variable around it says.
    tir::ForNode::Parts loop;
    loop.loop_var = vars_[static_cast<size_t>(i)];
    loop.min = zero_;
    loop.extent = IntImm(kInt32, 4);
    if (kind == "triangles" && i + 1 < depth_) {
      loop.extent = vars_[static_cast<size_t>(i) + 1];
    }
    if (kind == "guards") {
      body = tir::IfThenElse(
          tir::Binary(tir::BinaryOp::kLT, loop.loop_var, IntImm(kInt32, 3)),
          std::move(body));
    }
    loop.body = std::move(body);
    return tir::For(std::move(loop));
  }

  const int depth_;
  std::vector<tir::Var> vars_;
  const tir::Buffer buffer_ = MakeBuffer();
  const PrimExpr zero_ = IntImm(kInt32, 0);
  const PrimExpr load_ = tir::BufferLoad(buffer_, {zero_});
  const Stmt store_ =
      tir::BufferStore(buffer_, tir::Add(load_, IntImm(kInt32, 1)), {zero_});
};

}  // namespace

absl::Span<const absl::string_view> KindsOfDeepLoops() { return kKinds; }

tir::PrimFunc DeepLoops(absl::string_view kind, int depth) {
  return Maker(depth).Make(kind);
}

}  // namespace baton::testing
