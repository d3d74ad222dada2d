// Steps that take padding apart, or add it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/align.h"
#include "baton/base/deep_stack.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/tir/analysis/side_effect.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/edit.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/steps.h"

namespace baton::tir {
namespace {

PrimExpr And(PrimExpr a, PrimExpr b) {
  return MakeBinary(BinaryOp::kAnd, std::move(a), std::move(b));
}

const CallNode* CallOf(const PrimExpr& e, absl::string_view intrinsic) {
  const auto* call = e.As<CallNode>();
  return call != nullptr && call->op() == IntrinsicOp(intrinsic) ? call
                                                                 : nullptr;
}

// A block that stores a constant outside of a region, and another value in it.
struct Padding {
  const BufferStoreNode* store = nullptr;
  std::vector<Range> inside;  // of the block's variables
  PrimExpr inside_value;
  PrimExpr inside_predicate;
  PrimExpr pad_value;
};

absl::StatusOr<Padding> FindPadding(const Site* block, const VarRanges& domains,
                                    Analyzer& analyzer) {
  const auto fails = [block](absl::string_view why) {
    return SiteError(block, absl::StrCat(block->Describe(),
                                         " is not of the form A[...] = "
                                         "T.if_then_else(inside, value, "
                                         "constant): ",
                                         why));
  };
  const BlockRealizeNode* realize = block->realize.get();
  Padding result;
  result.store = block->block()->body().As<BufferStoreNode>();
  if (result.store == nullptr) return fails("its body is no store");
  const CallNode* choice = CallOf(result.store->value(), "if_then_else");
  if (choice == nullptr || choice->args().size() != 3) {
    return fails("it stores no T.if_then_else()");
  }
  result.inside_value = choice->args()[1];
  result.pad_value = choice->args()[2];
  if (result.pad_value.As<IntImmNode>() == nullptr &&
      result.pad_value.As<FloatImmNode>() == nullptr) {
    return fails("the padding is no constant");
  }
  if (SideEffectOf(result.inside_value) > CallEffect::kReadState) {
    return fails("the value has side effects");
  }
  PrimExpr predicate = IntImm::Bool(true);
  UnpackReduction(And(Substitute(choice->args()[0], BindingsOf(realize)),
                      realize->predicate()),
                  BinaryOp::kAnd, [&](const PrimExpr& condition) {
                    const CallNode* likely = CallOf(condition, "likely");
                    predicate =
                        And(predicate,
                            likely == nullptr ? condition : likely->args()[0]);
                  });
  result.inside_predicate = analyzer.Simplify(predicate);
  if (IsOne(result.inside_predicate)) return fails("it has no padding");
  const IterMapResult map =
      DetectIterMap(realize->iter_values(), domains, result.inside_predicate,
                    IterMapLevel::kSurjective, analyzer);
  if (map.indices.empty()) {
    return fails("its variables depend on one another where it is inside");
  }
  for (const IterSum& sum : map.indices) {
    if (sum.args.empty()) {
      result.inside.push_back(PointRange(sum.base));
      continue;
    }
    if (sum.args.size() != 1 ||
        !analyzer.CanProveEqual(sum.args[0].scale,
                                IntImm(sum.args[0].scale.dtype(), 1))) {
      return fails("a variable has a stride");
    }
    result.inside.push_back({sum.base, sum.args[0].extent});
  }
  return result;
}

// Puts statements in the places of loops.
class LoopsReplacer : public Rewriter {
 public:
  LoopsReplacer(const ForNode* inside_loop, Stmt inside, const ForNode* fill_at,
                Stmt fill)
      : inside_loop_(inside_loop),
        inside_(std::move(inside)),
        fill_at_(fill_at),
        fill_(std::move(fill)) {}

 protected:
  Stmt VisitFor(const ForNode* loop) override {
    Stmt result = loop == inside_loop_ ? inside_ : Rewriter::VisitFor(loop);
    if (loop != fill_at_) return result;
    return FlatSeq({fill_, result});
  }

 private:
  const ForNode* inside_loop_;
  Stmt inside_;
  const ForNode* fill_at_;
  Stmt fill_;
};

}  // namespace

absl::StatusOr<Block> DecomposePadding(ScheduleState& state, const Site* block,
                                       const Site* loop) {
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, false));
  BATON_RETURN_IF_ERROR(CheckCompleteBlock(state, block, scope));
  std::vector<const Site*> loops = LoopsOf(block);
  const auto fill_at = std::find(loops.begin(), loops.end(), loop);
  if (fill_at == loops.end()) {
    return SiteError(loop, absl::StrCat(loop->Describe(), " is not around ",
                                        block->Describe()));
  }
  std::reverse(loops.begin(), loops.end());  // innermost first
  VarRanges domains;
  Analyzer analyzer;
  // The outermost loop, not outside of `loop`, that has the block only.
  const Site* inside_loop = nullptr;
  bool found = false;
  for (const Site* site : loops) {
    const ForNode* node = site->loop();
    const Range range = {node->min(), node->extent()};
    domains.Set(node->loop_var(), range);
    analyzer.Bind(node->loop_var(), range);
    if (found) continue;
    if (node->body().As<ForNode>() == nullptr &&
        node->body().As<BlockRealizeNode>() == nullptr) {
      found = true;
    } else {
      inside_loop = site;
      found = site == loop;
    }
  }
  if (inside_loop == nullptr) {
    return SiteError(block,
                     absl::StrCat("no loop has ", block->Describe(), " only"));
  }
  BATON_ASSIGN_OR_RETURN(const Padding padding,
                         FindPadding(block, domains, analyzer));
  const BlockNode* node = block->block();
  const BlockRealizeNode* realize = block->realize.get();
  if (node->writes().size() != 1) {
    return SiteError(block,
                     absl::StrCat(block->Describe(), " must write one region"));
  }
  const auto store_with = [&](PrimExpr value, const auto& rewrite) {
    std::vector<PrimExpr> indices;
    for (const PrimExpr& index : padding.store->indices()) {
      indices.push_back(rewrite(index));
    }
    return BufferStore(padding.store->buffer(), std::move(value),
                       std::move(indices), padding.store->span());
  };
  const auto region_with = [](const BufferRegion& region, const auto& rewrite) {
    std::vector<Range> ranges;
    for (const Range& range : region->region()) {
      ranges.push_back({rewrite(range.min), rewrite(range.extent)});
    }
    return BufferRegion(region->buffer(), std::move(ranges));
  };

  // The block that fills everything with the constant.
  VarMap<PrimExpr> values;
  BlockNode::Parts fill;
  const auto rewrite = [&](const PrimExpr& e) {
    return analyzer.Simplify(Substitute(e, values));
  };
  for (const IterVar& iter : node->iter_vars()) {
    const Var var = CopyVar(iter->var(), "");
    fill.iter_vars.push_back(
        IterVar({iter->min(), iter->extent()}, var, IterVarType::kDataPar));
    values.Set(iter->var(), var);
  }
  fill.name = absl::StrCat(node->name(), "_pad_const");
  fill.writes = {region_with(node->writes()[0], rewrite)};
  fill.body = store_with(padding.pad_value, rewrite);
  std::vector<const ForNode*> fill_loops;
  std::vector<Var> fill_vars;
  for (const Site* site : loops) {
    fill_loops.push_back(site->loop());
    fill_vars.push_back(CopyVar(site->loop()->loop_var(), ""));
    values.Set(site->loop()->loop_var(), fill_vars.back());
    if (site == loop) break;
  }
  std::vector<PrimExpr> fill_values;
  for (const PrimExpr& value : realize->iter_values()) {
    fill_values.push_back(rewrite(value));
  }
  const Block fill_block(std::move(fill));
  Stmt fill_nest = BlockRealize(std::move(fill_values),
                                rewrite(realize->predicate()), fill_block);
  for (size_t i = 0; i < fill_loops.size(); ++i) {
    fill_nest = SerialLoop(fill_vars[i], fill_loops[i]->min(),
                           fill_loops[i]->extent(), std::move(fill_nest));
  }

  // The block that stores the values inside.
  values = {};
  VarRanges ranges;
  for (const Site* site : loops) {
    const ForNode* l = site->loop();
    ranges.Set(l->loop_var(), Range{l->min(), l->extent()});
    if (site == inside_loop) break;
  }
  BlockNode::Parts inside;
  std::vector<PrimExpr> inside_values;
  for (size_t i = 0; i < padding.inside.size(); ++i) {
    const IterVar& iter = node->iter_vars()[i];
    const Range& region = padding.inside[i];
    const Var var = CopyVar(iter->var(), "");
    const Range range = {IntImm(var.dtype(), 0), region.extent};
    inside.iter_vars.push_back(IterVar(range, var, IterVarType::kDataPar));
    values.Set(iter->var(), Add(var, region.min));
    const PrimExpr& value = realize->iter_values()[i];
    const auto* loop_var = value.As<VarNode>();
    if (loop_var != nullptr && ranges.Contains(loop_var)) {
      // The loop takes the values inside, so that no predicate is necessary.
      const Var outer(loop_var);
      ranges.Set(outer, range);
      inside_values.push_back(value);
      values.Set(outer, Add(outer, region.min));
      analyzer.Bind(outer, range);
    } else {
      inside_values.push_back(analyzer.Simplify(Sub(value, region.min)));
    }
  }
  inside.name = node->name();
  for (const BufferRegion& read : node->reads()) {
    inside.reads.push_back(region_with(read, rewrite));
  }
  for (const BufferRegion& write : node->writes()) {
    inside.writes.push_back(region_with(write, rewrite));
  }
  inside.body = store_with(rewrite(padding.inside_value), rewrite);
  Stmt nest =
      BlockRealize(std::move(inside_values), rewrite(padding.inside_predicate),
                   Block(std::move(inside)));
  for (const Site* site : loops) {
    ForNode::Parts parts = site->loop()->parts();
    if (const Range* range = ranges.Find(parts.loop_var)) {
      parts.min = range->min;
      parts.extent = range->extent;
    }
    parts.body = std::move(nest);
    nest = For(std::move(parts), site->stmt->span());
    if (site == inside_loop) break;
  }
  BlockNode::Parts parts = scope->block()->parts();
  parts.body = LoopsReplacer(inside_loop->loop(), nest, loop->loop(), fill_nest)
                   .Rewrite(parts.body);
  BATON_RETURN_IF_ERROR(
      state.Replace(scope, Block(std::move(parts), scope->stmt->span())));
  return fill_block;
}

namespace {

// Widens variables and loops, and replaces buffers.
class EinsumPadder : public Rewriter {
 public:
  VarMap<PrimExpr> extents;  // of variables and loops
  VarMap<PrimExpr> loop_extents;
  FlatHashMap<const BufferNode*, Buffer> buffers;

 protected:
  Buffer RewriteBuffer(const Buffer& buffer) override {
    const auto it = buffers.find(buffer.get());
    return it == buffers.end() ? buffer : it->second;
  }
  Stmt VisitBlock(const BlockNode* block) override {
    const Stmt rewritten = Rewriter::VisitBlock(block);
    BlockNode::Parts parts = rewritten.As<BlockNode>()->parts();
    for (IterVar& iter : parts.iter_vars) {
      const PrimExpr* extent = extents.Find(iter->var());
      if (extent == nullptr) continue;
      iter = IterVar({iter->min(), *extent}, iter->var(), iter->iter_type(),
                     iter->thread_tag(), iter->span());
    }
    return Block(std::move(parts), block->span());
  }
  Stmt VisitFor(const ForNode* loop) override {
    const Stmt rewritten = Rewriter::VisitFor(loop);
    const PrimExpr* extent = loop_extents.Find(loop->loop_var());
    if (extent == nullptr) return rewritten;
    ForNode::Parts parts = rewritten.As<ForNode>()->parts();
    parts.extent = *extent;
    return For(std::move(parts), loop->span());
  }
};

// The nest that copies a buffer to its padded one, or back.
Stmt MakeCopy(const Buffer& buffer, const Buffer& padded, bool is_read,
              Analyzer& analyzer) {
  const Buffer& extents = is_read ? padded : buffer;
  BlockNode::Parts parts;
  std::vector<Var> loop_vars;
  std::vector<PrimExpr> values;
  std::vector<PrimExpr> indices;
  for (size_t i = 0; i < buffer->shape().size(); ++i) {
    const PrimExpr& extent = extents->shape()[i];
    const DType dtype = extent.dtype();
    loop_vars.emplace_back(absl::StrCat("i", i), dtype);
    values.push_back(loop_vars.back());
    const Var var(absl::StrCat("v", i), dtype);
    parts.iter_vars.push_back(
        IterVar({IntImm(dtype, 0), extent}, var, IterVarType::kDataPar));
    indices.push_back(var);
  }
  const Buffer& source = is_read ? buffer : padded;
  const Buffer& target = is_read ? padded : buffer;
  PrimExpr value = BufferLoad(source, indices);
  if (is_read) {
    PrimExpr inside = IntImm::Bool(true);
    for (size_t i = 0; i < indices.size(); ++i) {
      if (!analyzer.CanProveEqual(buffer->shape()[i], padded->shape()[i])) {
        inside = And(inside,
                     MakeBinary(BinaryOp::kLT, indices[i], buffer->shape()[i]));
      }
    }
    const PrimExpr zero = MakeConst(value.dtype(), 0);
    if (!IsOne(inside)) {
      value = CallIntrinsic("if_then_else", {inside, value, zero});
    }
  }
  parts.name = padded->name();
  parts.reads = {PointRegion(source, indices)};
  parts.writes = {PointRegion(target, indices)};
  parts.body = BufferStore(target, std::move(value), indices);
  const Block block(std::move(parts));
  Stmt nest = BlockRealize(std::move(values), IntImm::Bool(true), block);
  for (size_t i = loop_vars.size(); i-- > 0;) {
    const IterVar& iter = block->iter_vars()[i];
    nest = SerialLoop(loop_vars[i], iter->min(), iter->extent(), nest);
  }
  return nest;
}

}  // namespace

namespace {

// True if `e` is zero where loads of the buffers that are indexed by `var` are.
bool IsZeroBeyond(const PrimExpr& e, const VarNode* var) {
  if (const auto* load = e.As<BufferLoadNode>()) {
    return std::any_of(
        load->indices().begin(), load->indices().end(),
        [var](const PrimExpr& index) { return index.get() == var; });
  }
  if (const auto* cast = e.As<CastNode>()) {
    return OnDeepStack([&] { return IsZeroBeyond(cast->value(), var); });
  }
  if (const auto* binary = e.As<BinaryNode>()) {
    return OnDeepStack([&] {
      const bool a = IsZeroBeyond(binary->a(), var);
      switch (binary->op()) {
        case BinaryOp::kMul:
          return a || IsZeroBeyond(binary->b(), var);
        case BinaryOp::kAdd:
        case BinaryOp::kSub:
          return a && IsZeroBeyond(binary->b(), var);
        default:
          return false;
      }
    });
  }
  return IsZero(e);
}

// More iterations of `var`, which is no index of what the block writes, add
// zeros to it.
bool AddsZeros(const BlockNode* block, const VarNode* var) {
  const auto* store = block->body().As<BufferStoreNode>();
  if (store == nullptr) return false;
  const BinaryNode* sum = AsBinary(store->value(), BinaryOp::kAdd);
  if (sum == nullptr) return false;
  const auto is_old = [store](const PrimExpr& e) {
    const auto* load = e.As<BufferLoadNode>();
    if (load == nullptr || load->buffer() != store->buffer()) return false;
    for (size_t i = 0; i < load->indices().size(); ++i) {
      if (!ExprDeepEqual(load->indices()[i], store->indices()[i])) return false;
    }
    return true;
  };
  return (is_old(sum->a()) && IsZeroBeyond(sum->b(), var)) ||
         (is_old(sum->b()) && IsZeroBeyond(sum->a(), var));
}

// True if the block divides integers by anything but constants, as it may be
// zero in the padding.
bool DividesByVariables(const BlockNode* block) {
  bool found = false;
  const auto visit = [&found](const PrimExpr& e) {
    const auto* binary = e.As<BinaryNode>();
    if (binary == nullptr || !e.dtype().is_integral()) return;
    switch (binary->op()) {
      case BinaryOp::kDiv:
      case BinaryOp::kMod:
      case BinaryOp::kFloorDiv:
      case BinaryOp::kFloorMod:
        break;
      default:
        return;
    }
    found |= binary->b().As<IntImmNode>() == nullptr;
  };
  PostOrderVisit(block->body(), visit, [](const Stmt&) {});
  return found;
}

// Finds accesses of buffers with other indices than those of their regions.
class OtherIndexFinder : public Visitor {
 public:
  explicit OtherIndexFinder(absl::Span<const BufferRegion> regions)
      : regions_(regions) {}
  Buffer found;

 protected:
  void VisitBufferLoad(const BufferLoadNode* load) override {
    Check(load->buffer(), load->indices());
    Visitor::VisitBufferLoad(load);
  }
  void VisitBufferStore(const BufferStoreNode* store) override {
    Check(store->buffer(), store->indices());
    Visitor::VisitBufferStore(store);
  }

 private:
  void Check(const Buffer& buffer, absl::Span<const PrimExpr> indices) {
    for (const BufferRegion& region : regions_) {
      if (region->buffer() != buffer) continue;
      for (size_t i = 0; i < indices.size(); ++i) {
        if (!ExprDeepEqual(indices[i], region->region()[i].min)) found = buffer;
      }
    }
  }

  absl::Span<const BufferRegion> regions_;
};

// Widened loops run the block only, and each of its variables may be widened.
absl::Status CheckCanWiden(const ScheduleState& state, const Site* block,
                           const Site* scope, const EinsumPadder& padder) {
  const BlockNode* node = block->block();
  BATON_RETURN_IF_ERROR(CheckRunsInLoops(block, scope));
  const Site* outermost = block;
  while (outermost->parent != scope) outermost = outermost->parent;
  if (outermost != block) {
    BATON_RETURN_IF_ERROR(OnlyChildBlock(state, outermost).status());
  }
  for (const IterVar& iter : node->iter_vars()) {
    const VarNode* var = iter->var().get();
    if (!padder.extents.Contains(var)) continue;
    const bool indexes_output = std::all_of(
        node->writes().begin(), node->writes().end(),
        [var](const BufferRegion& region) {
          return std::any_of(
              region->region().begin(), region->region().end(),
              [var](const Range& range) { return range.min.get() == var; });
        });
    if (!indexes_output && !AddsZeros(node, var)) {
      return SiteError(block,
                       absl::StrCat(block->Describe(),
                                    " does not add a product that is 0 "
                                    "where variable ",
                                    iter->var()->name(), " is in the padding"));
    }
  }
  if (!padder.extents.empty() && DividesByVariables(node)) {
    return SiteError(block, absl::StrCat(block->Describe(),
                                         " may divide by 0 in the padding"));
  }
  // Loops that are widened are no part of other values and of conditions.
  for (const auto& [loop, extent] : padder.loop_extents) {
    const VarNode* var = loop.get();
    int uses = UsesVar(block->realize->predicate(), var) ? 1 : 0;
    for (const PrimExpr& value : block->realize->iter_values()) {
      uses += UsesVar(value, var) ? 1 : 0;
    }
    if (uses == 1) continue;
    return SiteError(block, absl::StrCat("loop ", loop->name(),
                                         " is not only "
                                         "the value of one variable of ",
                                         block->Describe()));
  }
  return absl::OkStatus();
}

// The copy of `region`, a read or written one, has all elements that it needs.
absl::Status CheckCanCopy(const Site* block, const Site* scope,
                          const BufferRegion& region, bool is_read,
                          Analyzer& analyzer) {
  const Buffer& buffer = region->buffer();
  std::vector<Range> all;
  for (size_t i = 0; i < buffer->shape().size(); ++i) {
    const PrimExpr& index = region->region()[i].min;
    // The padded buffer has one element in the place of a constant.
    if (index.As<IntImmNode>() != nullptr &&
        (!IsZero(index) || !(is_read || IsOne(buffer->shape()[i])))) {
      return SiteError(
          block, absl::StrCat("the constant index ",
                              index.As<IntImmNode>()->value(), " of buffer ",
                              buffer->name(), " is not all of axis ", i));
    }
    for (const IterVar& iter : block->block()->iter_vars()) {
      if (index == iter->var() &&
          !analyzer.CanProveEqual(iter->extent(), buffer->shape()[i])) {
        return SiteError(block, absl::StrCat("variable ", iter->var()->name(),
                                             " of ", block->Describe(),
                                             " does not index all of "
                                             "axis ",
                                             i, " of buffer ", buffer->name()));
      }
    }
    all.push_back({IntImm(kInt32, 0), buffer->shape()[i]});
  }
  if (is_read) return absl::OkStatus();
  return CheckWritesAll(block, region, scope, all);
}

}  // namespace

absl::Status PadEinsum(ScheduleState& state, const Site* block,
                       absl::Span<const int64_t> padding) {
  BATON_ASSIGN_OR_RETURN(const Site* scope, ScopeRoot(state, block, true));
  const BlockNode* node = block->block();
  if (padding.size() != node->iter_vars().size() ||
      std::any_of(padding.begin(), padding.end(),
                  [](int64_t p) { return p <= 0; })) {
    return SiteError(block,
                     absl::StrCat("the padding [", absl::StrJoin(padding, ", "),
                                  "] is not a positive integer for each "
                                  "of the ",
                                  node->iter_vars().size(), " variables of ",
                                  block->Describe()));
  }
  // Each buffer is accessed once, by variables and constants.
  std::vector<BufferRegion> regions(node->reads().begin(), node->reads().end());
  regions.insert(regions.end(), node->writes().begin(), node->writes().end());
  for (size_t i = 0; i < regions.size(); ++i) {
    bool valid = true;
    for (size_t k = 0; k < i; ++k) {
      valid &= regions[k]->buffer() != regions[i]->buffer();
    }
    for (const Range& range : regions[i]->region()) {
      valid &= IsOne(range.extent) && (range.min.As<IntImmNode>() != nullptr ||
                                       range.min.As<VarNode>() != nullptr);
    }
    if (!valid) {
      return SiteError(block, absl::StrCat(block->Describe(),
                                           " is no product of buffers that are "
                                           "indexed by variables"));
    }
  }
  OtherIndexFinder others(regions);
  others.Visit(node->body());
  if (others.found.defined()) {
    return SiteError(block,
                     absl::StrCat(block->Describe(), " accesses buffer ",
                                  others.found->name(),
                                  " at other indices than its region has"));
  }
  Analyzer analyzer;
  EinsumPadder padder;
  for (size_t i = 0; i < padding.size(); ++i) {
    const IterVar& iter = node->iter_vars()[i];
    const PrimExpr& extent = iter->extent();
    const PrimExpr factor = IntImm(kInt32, padding[i]);
    const PrimExpr count =
        MakeBinary(BinaryOp::kFloorDiv,
                   Sub(Add(extent, factor), IntImm(kInt32, 1)), factor);
    const PrimExpr padded = analyzer.Simplify(Mul(count, factor));
    if (const auto* number = extent.As<IntImmNode>();
        number != nullptr && extent.dtype() == kInt32 &&
        AlignUp(number->value(), padding[i]) > INT32_MAX) {
      return SiteError(block, absl::StrCat("variable ", iter->var()->name(),
                                           " of ", block->Describe(),
                                           " overflows int32 if it is "
                                           "padded to a multiple of ",
                                           padding[i]));
    }
    if (analyzer.CanProveEqual(padded, extent)) continue;
    padder.extents.Set(iter->var(), padded);
    if (const auto* var = block->realize->iter_values()[i].As<VarNode>()) {
      padder.extents.Set(Var(var), padded);
      padder.loop_extents.Set(Var(var), padded);
    }
  }
  BATON_RETURN_IF_ERROR(CheckCanWiden(state, block, scope, padder));
  std::vector<Stmt> before;
  std::vector<Stmt> after;
  std::vector<Buffer> allocated;
  for (size_t k = 0; k < regions.size(); ++k) {
    const Buffer& buffer = regions[k]->buffer();
    bool needs_padding = false;
    std::vector<PrimExpr> shape;
    for (size_t i = 0; i < regions[k]->region().size(); ++i) {
      const PrimExpr& index = regions[k]->region()[i].min;
      const auto* var = index.As<VarNode>();
      const PrimExpr* extent =
          var == nullptr ? nullptr : padder.extents.Find(var);
      needs_padding |= extent != nullptr;
      shape.push_back(var == nullptr      ? PrimExpr(IntImm(index.dtype(), 1))
                      : extent != nullptr ? *extent
                                          : buffer->shape()[i]);
    }
    if (!needs_padding) continue;
    const bool is_read = k < node->reads().size();
    BATON_RETURN_IF_ERROR(
        CheckCanCopy(block, scope, regions[k], is_read, analyzer));
    BufferNode::Parts parts;
    parts.name = absl::StrCat(buffer->name(), "_pad");
    parts.data =
        Var::Pointer(parts.name, buffer->dtype(), std::string(buffer->scope()));
    parts.dtype = buffer->dtype();
    parts.shape = std::move(shape);
    const Buffer padded(std::move(parts));
    padder.buffers[buffer.get()] = padded;
    allocated.push_back(padded);
    (is_read ? before : after)
        .push_back(MakeCopy(buffer, padded, is_read, analyzer));
  }
  // The statement of the scope that has the block.
  const Site* child = block;
  while (child->parent != scope) child = child->parent;
  const size_t position = std::max(0, child->seq_index);
  const std::vector<Stmt> body = SeqOf(scope->block()->body());
  std::vector<Stmt> new_body;
  for (size_t i = 0; i < body.size(); ++i) {
    if (i != position) {
      new_body.push_back(body[i]);
      continue;
    }
    new_body.insert(new_body.end(), before.begin(), before.end());
    new_body.push_back(padder.Rewrite(body[i]));
    new_body.insert(new_body.end(), after.begin(), after.end());
  }
  BlockNode::Parts parts = scope->block()->parts();
  parts.body = FlatSeq(new_body);
  parts.alloc_buffers.insert(parts.alloc_buffers.end(), allocated.begin(),
                             allocated.end());
  return state.Replace(scope, Block(std::move(parts), scope->stmt->span()));
}

}  // namespace baton::tir
