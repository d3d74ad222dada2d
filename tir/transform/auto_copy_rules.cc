#include "baton/tir/transform/auto_copy_rules.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

PrimExpr Int(int64_t value) { return IntImm(kInt32, value); }
PrimExpr FloorDiv(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kFloorDiv, a, b);
}
PrimExpr FloorMod(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kFloorMod, a, b);
}
Var WithSuffix(const Var& var, absl::string_view suffix) {
  return Var(absl::StrCat(var->name(), suffix), var->dtype());
}
Stmt Loop(const Var& var, PrimExpr extent, ForKind kind, Stmt body) {
  ForNode::Parts parts;
  parts.loop_var = var;
  parts.min = Int(0);
  parts.extent = std::move(extent);
  parts.kind = kind;
  parts.body = std::move(body);
  return For(std::move(parts));
}
Stmt WithBody(const For& loop, Stmt body) {
  ForNode::Parts parts = loop->parts();
  parts.body = std::move(body);
  return For(std::move(parts), loop->span());
}
Stmt WithLoops(absl::Span<const For> loops, Stmt body) {
  for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
    body = WithBody(*it, std::move(body));
  }
  return body;
}

// The loops of a nest; `body` becomes what they have inside.
std::vector<For> LoopsOf(Stmt& body) {
  std::vector<For> loops;
  while (const auto* loop = body.As<ForNode>()) {
    loops.push_back(For(loop));
    const Stmt inner = loop->body();
    body = inner;
  }
  return loops;
}

MemoryRank RankOf(const Buffer& buffer) {
  return MemoryScope(buffer->scope()).rank;
}

Buffer WithScope(const Buffer& buffer, const std::string& scope,
                 std::vector<PrimExpr> shape) {
  BufferNode::Parts parts = buffer->parts();
  parts.name = absl::StrCat(buffer->name(), "_", scope);
  parts.data = Var::Pointer(absl::StrCat(buffer->data()->name(), "_", scope),
                            buffer->data()->element(), scope);
  parts.shape = std::move(shape);
  return Buffer(std::move(parts), buffer->span());
}

// --- Coalesced access --------------------------------------------------------

absl::StatusOr<For> Fused(const Stmt& stmt) {
  Stmt body = stmt;
  const std::vector<For> loops = LoopsOf(body);
  if (loops.empty()) {
    return ErrorAt(stmt->span(), "an automatic copy is no loop");
  }
  std::string suffix;
  for (size_t i = 1; i < loops.size(); ++i) {
    absl::StrAppend(&suffix, "_", loops[i]->loop_var()->name());
  }
  suffix += "_fused";
  const Var fused = WithSuffix(loops[0]->loop_var(), suffix);
  NodeMap<PrimExpr> values;
  PrimExpr rest = fused;
  PrimExpr extent = Int(1);
  for (const For& loop : loops) extent = Mul(extent, loop->extent());
  for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
    values[(*it)->loop_var().get()] = FloorMod(rest, (*it)->extent());
    rest = FloorDiv(rest, (*it)->extent());
  }
  return For(Loop(fused, extent, ForKind::kSerial, Substitute(body, values))
                 .As<ForNode>());
}

// Splits a loop among the threads and into vectors.
absl::StatusOr<Stmt> SplitAmongThreads(const For& loop, const AutoCopy& copy) {
  const auto* extent = loop->extent().As<IntImmNode>();
  if (extent == nullptr) {
    return ErrorAt(loop->span(),
                   "the extent of an automatic copy is not constant");
  }
  const int64_t lanes =
      std::max<int64_t>(1, copy.vector_bytes * 8 / copy.data_bits);
  std::vector<int64_t> factors = {0};
  std::vector<std::string> tags;
  int64_t step = lanes;
  for (const char* tag : {"threadIdx.z", "threadIdx.y", "threadIdx.x"}) {
    const auto found = copy.thread_extents.find(tag);
    if (found == copy.thread_extents.end()) continue;
    if (found->second < 1 ||
        __builtin_mul_overflow(step, found->second, &step) ||
        step > std::numeric_limits<int32_t>::max()) {
      return ErrorAt(loop->span(),
                     absl::StrCat("an automatic copy cannot use ",
                                  found->second, " threads of ", tag));
    }
    factors.push_back(found->second);
    tags.push_back(tag);
  }
  factors.push_back(lanes);
  factors[0] = extent->value() / step + (extent->value() % step > 0 ? 1 : 0);
  Analyzer analyzer;
  std::vector<Var> vars;
  PrimExpr value = Int(0);
  for (size_t i = 0; i < factors.size(); ++i) {
    vars.push_back(WithSuffix(loop->loop_var(), absl::StrCat("_", i)));
    analyzer.Bind(vars[i], Range{Int(0), Int(factors[i])});
    value = Add(Mul(value, Int(factors[i])), vars[i]);
  }
  Stmt body = Substitute(loop->body(), [&](const VarNode* var) {
    return var == loop->loop_var().get() ? value : PrimExpr();
  });
  const PrimExpr in_range = MakeBinary(BinaryOp::kLT, value, loop->extent());
  if (!analyzer.CanProve(in_range)) {
    body = IfThenElse(in_range, std::move(body));
  }
  body = Loop(vars.back(), Int(lanes), ForKind::kVectorized, std::move(body));
  for (size_t i = factors.size() - 2; i >= 1; --i) {
    const std::string& tag = tags[i - 1];
    ForNode::Parts parts;
    parts.loop_var = vars[i];
    parts.min = Int(0);
    parts.extent = Int(factors[i]);
    parts.kind = ForKind::kThreadBinding;
    parts.thread =
        IterVar({}, Var(tag, kInt32), IterVarType::kThreadIndex, tag);
    parts.body = std::move(body);
    body = For(std::move(parts));
  }
  return Loop(vars[0], Int(factors[0]), ForKind::kSerial, std::move(body));
}

absl::StatusOr<Stmt> Coalesced(const Stmt& stmt, const AutoCopy& copy) {
  BATON_ASSIGN_OR_RETURN(const For fused, Fused(stmt));
  return SplitAmongThreads(fused, copy);
}

// From A[f(i, j)] = B[i, j] to A[i, j] = B[inverse of f(i, j)].
absl::StatusOr<Stmt> Inverted(const Stmt& stmt, const AutoCopy& copy) {
  Stmt body = stmt;
  const std::vector<For> loops = LoopsOf(body);
  const auto* store = body.As<BufferStoreNode>();
  if (store == nullptr || store->buffer() != copy.write->buffer() ||
      store->indices().size() != copy.write->region().size()) {
    return ErrorAt(stmt->span(),
                   "an automatic copy must be a store to the written buffer");
  }
  Analyzer analyzer;
  std::vector<PrimExpr> pattern;
  for (size_t i = 0; i < store->indices().size(); ++i) {
    PrimExpr index = analyzer.Simplify(
        Sub(store->indices()[i], copy.write->region()[i].min));
    if (!IsZero(index)) pattern.push_back(std::move(index));
  }
  VarRanges ranges;
  std::vector<PrimExpr> loop_vars;
  for (const For& loop : loops) {
    ranges.Set(loop->loop_var(), {loop->min(), loop->extent()});
    loop_vars.push_back(loop->loop_var());
  }
  const IterMapResult map = DetectIterMap(pattern, ranges, IntImm::Bool(true),
                                          IterMapLevel::kBijective, analyzer);
  if (map.indices.size() != loop_vars.size()) {
    return ErrorAt(stmt->span(),
                   "the indices of an automatic copy cannot be inverted");
  }
  const VarMap<PrimExpr> inverse = InverseAffineIterMap(map.indices, loop_vars);
  std::vector<PrimExpr> write;
  std::vector<PrimExpr> read;
  std::vector<Var> new_vars;
  NodeMap<PrimExpr> values;
  const auto out_of_loops = [&] {
    return ErrorAt(stmt->span(), "an automatic copy has more axes than loops");
  };
  size_t next = 0;
  for (const Range& range : copy.write->region()) {
    if (IsOne(range.extent)) {
      write.push_back(range.min);
      continue;
    }
    if (next >= loops.size()) return out_of_loops();
    const Var& old = loops[next++]->loop_var();
    new_vars.push_back(WithSuffix(old, "_inverse"));
    values[old.get()] = new_vars.back();
    write.push_back(Add(range.min, new_vars.back()));
  }
  next = 0;
  for (const Range& range : copy.read->region()) {
    if (IsOne(range.extent)) {
      read.push_back(range.min);
      continue;
    }
    if (next >= loops.size()) return out_of_loops();
    const PrimExpr* value = inverse.Find(loops[next++]->loop_var());
    if (value == nullptr) return out_of_loops();
    read.push_back(Add(range.min, Substitute(*value, values)));
  }
  Stmt result = BufferStore(copy.write->buffer(),
                            BufferLoad(copy.read->buffer(), std::move(read)),
                            std::move(write), store->span());
  for (size_t i = new_vars.size(); i-- > 0;) {
    result = Loop(new_vars[i], copy.write->region()[i].extent, ForKind::kSerial,
                  std::move(result));
  }
  return result;
}

// --- Caches ------------------------------------------------------------------

// Takes an index apart into the variables that it has, each a quotient or rest
// of a split.
class IndexSplitter final : public Visitor {
 public:
  explicit IndexSplitter(const VarRanges& ranges) : ranges_(ranges) {}

  // The index that counts the values of the splits, and their number; nullopt
  // if the index is no such sum.
  std::optional<std::pair<PrimExpr, PrimExpr>> Split(const PrimExpr& index) {
    Visit(index);
    if (!ok_) return std::nullopt;
    PrimExpr flat = Int(0);
    PrimExpr extent = Int(1);
    for (const auto& [value, count] : splits_) {
      extent = Mul(extent, Int(count));
      flat = Add(Mul(flat, Int(count)), value);
    }
    return std::make_pair(flat, extent);
  }

 protected:
  void VisitVar(const VarNode* node) override {
    const Range* range = ranges_.Find(node);
    if (!ok_ || range == nullptr) return;
    const auto* imm = range->extent.As<IntImmNode>();
    if (imm == nullptr || imm->value() < 1) {
      ok_ = false;
      return;
    }
    PrimExpr index = Var(node);
    int64_t max = imm->value();
    int64_t extent = max;
    for (auto it = operations_.rbegin(); it != operations_.rend(); ++it) {
      const auto [op, operand] = *it;
      index = MakeBinary(op, index, Int(operand));
      if (op == BinaryOp::kMul) {
        if (__builtin_mul_overflow(max, operand, &max)) {
          ok_ = false;
          return;
        }
      } else if (op == BinaryOp::kFloorDiv) {
        if (max % operand != 0 && (max == 0 || operand % max != 0)) {
          ok_ = false;
          return;
        }
        max /= operand;
        if (extent > max) extent = std::max<int64_t>(1, max);
        if (max % extent != 0) {
          ok_ = false;
          return;
        }
      } else {
        const int64_t step = max / extent;
        if (step % operand != 0 && (step == 0 || operand % step != 0)) {
          ok_ = false;
          return;
        }
        if (step % operand == 0) {
          extent = 1;
          max = 0;
        } else {
          extent = std::max<int64_t>(1, std::min(extent, operand / step));
          max = extent * step;
        }
      }
    }
    if (extent > 1) {
      splits_.emplace_back(FloorDiv(index, Int(max / extent)), extent);
    }
  }
  void VisitBinary(const BinaryNode* node) override {
    if (node->op() != BinaryOp::kMul && node->op() != BinaryOp::kFloorDiv &&
        node->op() != BinaryOp::kFloorMod) {
      Visitor::VisitBinary(node);
      return;
    }
    const auto* operand = node->b().As<IntImmNode>();
    if (operand == nullptr || operand->value() <= 0) {
      ok_ = false;
      return;
    }
    operations_.emplace_back(node->op(), operand->value());
    Visit(node->a());
    operations_.pop_back();
  }

 private:
  const VarRanges& ranges_;
  bool ok_ = true;
  // The operations around, the outermost first.
  std::vector<std::pair<BinaryOp, int64_t>> operations_;
  std::vector<std::pair<PrimExpr, int64_t>> splits_;
};

class LoadReplacer final : public Rewriter {
 public:
  LoadReplacer(Buffer buffer, BufferLoad load)
      : buffer_(std::move(buffer)), load_(std::move(load)) {}

 protected:
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    if (node->buffer() == buffer_) return load_;
    return Rewriter::VisitBufferLoad(node);
  }

 private:
  const Buffer buffer_;
  const BufferLoad load_;
};

// The load from a fragment in `body`.
absl::StatusOr<BufferLoad> FragmentLoad(const Stmt& body) {
  BufferLoad result;
  bool ok = true;
  Analyzer analyzer;
  PostOrderVisit(
      body,
      [&](const PrimExpr& e) {
        const auto* load = e.As<BufferLoadNode>();
        if (load == nullptr) return;
        const absl::string_view scope = load->buffer()->scope();
        if (scope != "wmma.accumulator" && scope != "m16n8k8.matrixC") return;
        if (!result.defined()) {
          result = BufferLoad(load);
          return;
        }
        ok = ok && result->buffer() == load->buffer() &&
             result->indices().size() == load->indices().size();
        for (size_t i = 0; ok && i < load->indices().size(); ++i) {
          ok = analyzer.CanProveEqual(result->indices()[i], load->indices()[i]);
        }
      },
      [](const Stmt& /*stmt*/) {});
  if (!ok || !result.defined()) {
    return ErrorAt(body->span(),
                   "an automatic copy does not load one element of a fragment");
  }
  return result;
}

// A copy by way of a cache: the loops around both parts, the parts.
struct CachedCopy {
  std::vector<For> loops;
  Stmt first;
  Stmt second;
  Buffer cache;
};

// A cache of what the loops inside of `location` (null: all) read, or, with
// `is_write`, of what they take from a fragment.
absl::StatusOr<CachedCopy> WithCache(const Stmt& stmt, bool is_write,
                                     const std::string& scope,
                                     const ForNode* location,
                                     const AutoCopy& copy) {
  CachedCopy result;
  Stmt body = stmt;
  std::vector<For> inner;
  std::vector<For> relaxed;
  VarRanges ranges;
  bool below = location == nullptr;
  for (const For& loop : LoopsOf(body)) {
    if (below) {
      ranges.Set(loop->loop_var(), {loop->min(), loop->extent()});
      inner.push_back(loop);
    } else {
      result.loops.push_back(loop);
    }
    below = below || loop.get() == location;
  }
  PrimExpr predicate;
  if (const auto* branch = body.As<IfThenElseNode>()) {
    predicate = branch->condition();
    const Stmt then_case = branch->then_case();
    body = then_case;
  }
  for (const For& loop : copy.outer_loops) {
    if (loop->for_kind() != ForKind::kThreadBinding) continue;
    if (IsSharedByThreads(MemoryScope(scope),
                          ThreadScope(loop->thread()->thread_tag()))) {
      ranges.Set(loop->loop_var(), {loop->min(), loop->extent()});
      relaxed.push_back(loop);
    }
  }
  const auto* store = body.As<BufferStoreNode>();
  if (store == nullptr) {
    return ErrorAt(stmt->span(), "an automatic copy must be a store");
  }
  BufferLoad fragment_load;
  if (is_write) {
    BATON_ASSIGN_OR_RETURN(fragment_load, FragmentLoad(stmt));
  }
  std::vector<PrimExpr> indices;
  std::vector<PrimExpr> shape;
  bool by_splits = false;
  const auto* load = store->value().As<BufferLoadNode>();
  if (!is_write && load != nullptr) {
    by_splits = true;
    for (const PrimExpr& index : load->indices()) {
      const auto split = IndexSplitter(ranges).Split(index);
      if (!split.has_value()) {
        by_splits = false;
        break;
      }
      indices.push_back(split->first);
      shape.push_back(split->second);
    }
    by_splits = by_splits && !shape.empty();
  }
  std::vector<For> all = relaxed;
  all.insert(all.end(), inner.begin(), inner.end());
  if (!by_splits) {
    indices.clear();
    shape.clear();
  }
  NodeMap<PrimExpr> renamed;
  std::vector<Var> new_vars;
  for (const For& loop : all) {
    new_vars.push_back(WithSuffix(loop->loop_var(), "_cache"));
    renamed[loop->loop_var().get()] = new_vars.back();
    if (by_splits) continue;
    shape.push_back(loop->extent());
    indices.push_back(loop->loop_var());
  }
  result.cache = WithScope(is_write ? fragment_load->buffer() : store->buffer(),
                           scope, std::move(shape));
  const BufferLoad cache_load(result.cache, indices);
  // The part with new variables: to global memory from the cache, or to the
  // cache.
  Stmt renamed_part;
  Stmt other_part;
  if (is_write) {
    renamed_part = Substitute(LoadReplacer(fragment_load->buffer(), cache_load)
                                  .Rewrite(Stmt(BufferStore(store))),
                              renamed);
    other_part = BufferStore(result.cache, fragment_load, indices);
  } else {
    std::vector<PrimExpr> renamed_indices;
    for (const PrimExpr& index : indices) {
      renamed_indices.push_back(Substitute(index, renamed));
    }
    renamed_part =
        BufferStore(result.cache, Substitute(store->value(), renamed),
                    std::move(renamed_indices));
    other_part = BufferStore(store->buffer(), cache_load,
                             {store->indices().begin(), store->indices().end()},
                             store->span());
  }
  if (predicate.defined()) {
    if (inner.size() != 2) {
      return ErrorAt(stmt->span(),
                     "a condition of an automatic copy is not in two loops");
    }
    renamed_part =
        IfThenElse(Substitute(predicate, renamed), std::move(renamed_part));
    other_part = IfThenElse(predicate, std::move(other_part));
  }
  for (size_t i = inner.size(); i-- > 0;) {
    ForNode::Parts parts = inner[i]->parts();
    parts.loop_var = new_vars[i + relaxed.size()];
    parts.body = std::move(renamed_part);
    renamed_part = For(std::move(parts), inner[i]->span());
  }
  for (size_t i = relaxed.size(); i-- > 0;) {
    ForNode::Parts parts;
    parts.loop_var = new_vars[i];
    parts.min = relaxed[i]->min();
    parts.extent = relaxed[i]->extent();
    parts.body = std::move(renamed_part);
    renamed_part = For(std::move(parts), relaxed[i]->span());
  }
  other_part = WithLoops(inner, std::move(other_part));
  result.first = is_write ? other_part : renamed_part;
  result.second = is_write ? renamed_part : other_part;
  return result;
}

Stmt BothParts(const CachedCopy& copy) {
  std::vector<Stmt> seq;
  AppendFlattened(copy.first, seq);
  AppendFlattened(copy.second, seq);
  return WithLoops(copy.loops, MakeSeq(std::move(seq)));
}

// From global memory to registers, and from these to shared memory.
absl::StatusOr<CachedCopy> WithLocalStage(const Stmt& stmt,
                                          const AutoCopy& copy) {
  Stmt body = stmt;
  std::vector<For> threads;
  std::vector<For> others;
  for (const For& loop : LoopsOf(body)) {
    (loop->for_kind() == ForKind::kThreadBinding ? threads : others)
        .push_back(loop);
  }
  body = WithLoops(others, std::move(body));
  Stmt lifted = std::move(body);
  const ForNode* location = nullptr;
  for (size_t i = threads.size(); i-- > 0;) {
    lifted = WithBody(threads[i], std::move(lifted));
    if (i + 1 == threads.size()) location = lifted.As<ForNode>();
  }
  return WithCache(lifted, /*is_write=*/false, "local", location, copy);
}

// --- Matrix instructions -----------------------------------------------------

struct TiledLoops {
  Stmt body;
  // The outer loop over tiles; null if the loops are not tiled.
  const ForNode* location = nullptr;
};

// Tiles the two innermost loops.
absl::StatusOr<TiledLoops> Tiled(const Stmt& stmt, int64_t size) {
  Stmt body = stmt;
  std::vector<For> loops = LoopsOf(body);
  if (loops.size() < 2) {
    return ErrorAt(stmt->span(),
                   "an automatic copy of a matrix has less than two loops");
  }
  const For columns = loops.back();
  loops.pop_back();
  const For rows = loops.back();
  loops.pop_back();
  Analyzer analyzer;
  for (const For& loop : {columns, rows}) {
    if (!analyzer.CanProveEqual(FloorMod(loop->extent(), Int(size)), Int(0))) {
      return TiledLoops{stmt, nullptr};
    }
  }
  const Var row_0 = WithSuffix(rows->loop_var(), "_0");
  const Var column_0 = WithSuffix(columns->loop_var(), "_0");
  const Var row_1 = WithSuffix(rows->loop_var(), "_1");
  const Var column_1 = WithSuffix(columns->loop_var(), "_1");
  NodeMap<PrimExpr> values;
  values[rows->loop_var().get()] = Add(Mul(row_0, Int(size)), row_1);
  values[columns->loop_var().get()] = Add(Mul(column_0, Int(size)), column_1);
  body = Substitute(body, values);
  body = Loop(column_1, Int(size), ForKind::kSerial, std::move(body));
  body = Loop(row_1, Int(size), ForKind::kSerial, std::move(body));
  body = Loop(column_0, FloorDiv(columns->extent(), Int(size)),
              ForKind::kSerial, std::move(body));
  body = Loop(row_0, FloorDiv(rows->extent(), Int(size)), ForKind::kSerial,
              std::move(body));
  const auto* location = body.As<ForNode>();
  return TiledLoops{WithLoops(loops, std::move(body)), location};
}

// A copy of a tile, taken apart.
struct TileCopy {
  std::vector<For> loops;  // around the loops over the tile
  BufferRegion read;
  BufferRegion write;
};

std::vector<Range> Relaxed(absl::Span<const PrimExpr> indices,
                           const Buffer& buffer, const Domains& domains) {
  std::vector<Range> region;
  for (size_t i = 0; i < indices.size(); ++i) {
    region.push_back(
        EvalSet(indices[i], domains).CoverRange({Int(0), buffer->shape()[i]}));
  }
  return region;
}

// `scope` is that of the loaded fragment; empty: the value is a load.
absl::StatusOr<TileCopy> TileOf(const Stmt& stmt, absl::string_view scope) {
  Stmt body = stmt;
  TileCopy result;
  result.loops = LoopsOf(body);
  const auto* store = body.As<BufferStoreNode>();
  if (store == nullptr || result.loops.size() < 2) {
    return ErrorAt(stmt->span(), "the copy of a tile is no store in two loops");
  }
  BufferLoad load;
  if (scope.empty()) {
    load = BufferLoad(store->value().As<BufferLoadNode>());
  } else {
    PostOrderVisit(store->value(), [&](const PrimExpr& e) {
      const auto* node = e.As<BufferLoadNode>();
      if (node != nullptr && node->buffer()->scope() == scope) {
        load = BufferLoad(node);
      }
    });
  }
  if (!load.defined()) {
    return ErrorAt(stmt->span(), "the copy of a tile does not load a matrix");
  }
  Domains domains;
  for (int i = 0; i < 2; ++i) {
    const For& loop = result.loops.back();
    domains.Set(loop->loop_var(),
                IntSet::FromMinExtent(loop->min(), loop->extent()));
    result.loops.pop_back();
  }
  result.read = BufferRegion(load->buffer(),
                             Relaxed(load->indices(), load->buffer(), domains));
  result.write = BufferRegion(
      store->buffer(), Relaxed(store->indices(), store->buffer(), domains));
  return result;
}

// A tile of `size` rows and columns that matches a region of `buffer`.
Buffer TileBuffer(const std::string& name, const Buffer& buffer, DType dtype,
                  int64_t size, bool has_strides) {
  BufferNode::Parts parts;
  parts.name = name;
  parts.data = Var::Pointer(name, dtype, std::string(buffer->data()->scope()));
  parts.dtype = dtype;
  parts.shape = {Int(size), Int(size)};
  if (has_strides) parts.strides = {Var("s1", kInt32), Var("s0", kInt32)};
  parts.elem_offset = Var(absl::StrCat(name, "_elem_offset"), kInt32);
  parts.offset_factor = size;
  return Buffer(std::move(parts));
}

Stmt TileBlock(const TileCopy& tile, const std::string& name,
               const Buffer& source, const Buffer& target, Stmt body) {
  BlockNode::Parts parts;
  parts.name = name;
  parts.reads = {tile.read};
  parts.writes = {tile.write};
  parts.match_buffers = {MatchRegion(source, tile.read),
                         MatchRegion(target, tile.write)};
  parts.body = std::move(body);
  return WithLoops(tile.loops, BlockRealize({}, IntImm::Bool(true),
                                            Block(std::move(parts))));
}

// The index of a fragment of 16 x 16 elements.
PrimExpr FragmentIndex(const Buffer& fragment) {
  const PrimExpr& offset = fragment->elem_offset();
  return Add(FloorDiv(offset, Int(256)),
             FloorDiv(FloorMod(offset, Int(256)), Int(16)));
}
PrimExpr PointerTo(const Buffer& tile, int64_t access) {
  return Call(
      kHandle, BATON_OP("tir.tvm_access_ptr"),
      {Call(tile->dtype(), BATON_OP("tir.type_annotation"), {}), tile->data(),
       tile->elem_offset(), Mul(tile->strides()[0], Int(16)), Int(access)});
}

absl::StatusOr<Stmt> LoadedByInstruction(const Stmt& stmt) {
  BATON_ASSIGN_OR_RETURN(const TileCopy tile, TileOf(stmt, ""));
  const Buffer& to = tile.write->buffer();
  const DType dtype = DType::Float(16);
  const Buffer source =
      TileBuffer("src", tile.read->buffer(), dtype, 16, /*has_strides=*/true);
  const Buffer target = TileBuffer("tgt", to, dtype, 16, /*has_strides=*/false);
  const char* layout =
      to->scope() == "wmma.matrix_a" ? "row_major" : "col_major";
  return TileBlock(tile, "wmma_load", source, target,
                   Evaluate(Call(kHandle, BATON_OP("tir.tvm_load_matrix_sync"),
                                 {target->data(), Int(16), Int(16), Int(16),
                                  FragmentIndex(target), PointerTo(source, 1),
                                  source->strides()[0], StringImm(layout)})));
}

absl::StatusOr<Stmt> StoredByInstruction(const Stmt& stmt) {
  BATON_ASSIGN_OR_RETURN(const TileCopy tile, TileOf(stmt, "wmma.accumulator"));
  const DType dtype = tile.read->buffer()->dtype();
  const Buffer source =
      TileBuffer("src", tile.read->buffer(), dtype, 16, /*has_strides=*/false);
  const Buffer target =
      TileBuffer("tgt", tile.write->buffer(), dtype, 16, /*has_strides=*/true);
  return TileBlock(
      tile, "wmma_store", source, target,
      Evaluate(Call(kHandle, BATON_OP("tir.tvm_store_matrix_sync"),
                    {source->data(), Int(16), Int(16), Int(16),
                     FragmentIndex(source), PointerTo(target, 2),
                     target->strides()[0], StringImm("row_major")})));
}

// Each thread of a warp stores its two elements of the 8 x 8 tile.
absl::StatusOr<Stmt> StoredByThreads(const Stmt& stmt) {
  BATON_ASSIGN_OR_RETURN(const TileCopy tile, TileOf(stmt, "m16n8k8.matrixC"));
  const DType dtype = tile.read->buffer()->dtype();
  const Buffer source =
      TileBuffer("src", tile.read->buffer(), dtype, 8, /*has_strides=*/false);
  const Buffer target =
      TileBuffer("tgt", tile.write->buffer(), dtype, 8, /*has_strides=*/true);
  const Var tx("tx", kInt32);
  const Var lane("vec", kInt32);
  const std::vector<PrimExpr> indices = {
      FloorDiv(tx, Int(4)), Add(Mul(FloorMod(tx, Int(4)), Int(2)), lane)};
  return TileBlock(
      tile, "mma_store", source, target,
      AttrStmt(
          IterVar({Int(0), Int(32)}, tx, IterVarType::kThreadIndex,
                  "threadIdx.x"),
          "thread_extent", Int(32),
          Loop(lane, Int(2), ForKind::kVectorized,
               BufferStore(target, BufferLoad(source, indices), indices))));
}

constexpr int64_t kMatrixPadding = 8;

}  // namespace

absl::StatusOr<AutoCopyResult> RewriteAutoCopy(const Stmt& body,
                                               const AutoCopy& copy) {
  const MemoryRank from = RankOf(copy.read->buffer());
  const MemoryRank to = RankOf(copy.write->buffer());
  constexpr MemoryRank kGlobal = MemoryRank::kGlobal;
  constexpr MemoryRank kShared = MemoryRank::kShared;
  AutoCopyResult result;
  result.body = body;
  if (from == kShared && to == kGlobal) {
    BATON_ASSIGN_OR_RETURN(result.body, Inverted(result.body, copy));
    BATON_ASSIGN_OR_RETURN(result.body, Coalesced(result.body, copy));
  } else if (from == kGlobal && to == kShared) {
    BATON_ASSIGN_OR_RETURN(result.body, Coalesced(result.body, copy));
    if (copy.local_stage) {
      BATON_ASSIGN_OR_RETURN(const CachedCopy cached,
                             WithLocalStage(result.body, copy));
      result.body = BothParts(cached);
      result.alloc_buffers.push_back(cached.cache);
    }
  } else if (from == kShared && (to == MemoryRank::kWmmaMatrixA ||
                                 to == MemoryRank::kWmmaMatrixB)) {
    BATON_ASSIGN_OR_RETURN(const TiledLoops tiled, Tiled(result.body, 16));
    result.padding.emplace_back(copy.read->buffer(), kMatrixPadding);
    BATON_ASSIGN_OR_RETURN(result.body, LoadedByInstruction(tiled.body));
  } else if (from == MemoryRank::kWmmaAccumulator && to == kShared) {
    BATON_ASSIGN_OR_RETURN(const TiledLoops tiled, Tiled(result.body, 16));
    result.padding.emplace_back(copy.write->buffer(), kMatrixPadding);
    BATON_ASSIGN_OR_RETURN(result.body, StoredByInstruction(tiled.body));
  } else if ((from == MemoryRank::kWmmaAccumulator ||
              from == MemoryRank::kMmaMatrixC) &&
             to == kGlobal) {
    const bool is_wmma = from == MemoryRank::kWmmaAccumulator;
    BATON_ASSIGN_OR_RETURN(const TiledLoops tiled,
                           Tiled(result.body, is_wmma ? 16 : 8));
    BATON_ASSIGN_OR_RETURN(CachedCopy cached,
                           WithCache(tiled.body, /*is_write=*/true,
                                     "shared.dyn", tiled.location, copy));
    BATON_ASSIGN_OR_RETURN(cached.first, is_wmma
                                             ? StoredByInstruction(cached.first)
                                             : StoredByThreads(cached.first));
    BATON_ASSIGN_OR_RETURN(cached.second, Coalesced(cached.second, copy));
    result.body = BothParts(cached);
    result.padding.emplace_back(cached.cache, kMatrixPadding);
    result.alloc_buffers.push_back(cached.cache);
  }
  return result;
}

}  // namespace baton::tir
