#include "baton/tir/usmp/convert_pool_allocations_to_offsets.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/error_at.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/func_target.h"
#include "baton/tir/transform/with_parts.h"
#include "baton/tir/usmp/call_visitor.h"
#include "baton/tir/usmp/memory_pools.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

constexpr DType kByte = DType::UInt(8);
constexpr int64_t kPoolAlignment = 16;

// A pool that allocations have places in.
struct UsedPool {
  Dict config;  // its properties; null if the allocation does not list it
  int64_t bytes = 0;
  // Dictionaries of constants: name, offset, and elements.
  std::vector<PrimExpr> constants;
};
using UsedPools = std::map<std::string, UsedPool>;  // by name

// The place that an annotation of an allocation gives it.
struct Place {
  std::string pool;
  int64_t offset = 0;
};
// The largest offset in a pool, in bytes, and the largest allocation.
constexpr int64_t kMaxOffset = int64_t{1} << 60;

absl::StatusOr<Place> PlaceOf(const PrimExpr& annotation, const Span& span) {
  Place place;
  const auto* dict = annotation.As<DictNode>();
  const PrimExpr name = dict == nullptr ? PrimExpr() : dict->Find(kPoolName);
  const auto* text = name.defined() ? name.As<StringImmNode>() : nullptr;
  if (text == nullptr || text->value().empty() ||
      !IntegerOf(dict->Find(kByteOffset), place.offset) || place.offset < 0 ||
      place.offset > kMaxOffset) {
    return ErrorAt(span, absl::StrCat("the annotation ", kPoolAllocation,
                                      " is no {\"byte_offset\": BYTES, "
                                      "\"pool_name\": NAME}"));
  }
  place.pool = text->value();
  return place;
}

// The functions that get pools: ReachedFrom(). An error if another function of
// the module calls one of them.
absl::StatusOr<std::vector<std::string>> FunctionsWithPools(
    const std::string& main, const IRModule& module) {
  BATON_ASSIGN_OR_RETURN(std::vector<std::string> reached,
                         ReachedFrom(main, module));
  const FlatHashSet<std::string> known(reached.begin(), reached.end());
  for (const auto& [var, function] : module.functions<PrimFunc>()) {
    if (known.contains(var->name())) continue;
    BATON_ASSIGN_OR_RETURN(const std::vector<std::string> calls,
                           CalledNames(function, module));
    for (const std::string& called : calls) {
      if (!known.contains(called)) continue;
      return ErrorAt(
          function->span(),
          absl::StrCat(var->name(), " calls ", called, ", which ", main,
                       " calls, too: ", main, " must call ", var->name(),
                       ", or it has no memory pools to pass"));
    }
  }
  return reached;
}

// Finds the pools that the allocations of functions have places in.
class PoolFinder final : public Visitor {
 public:
  absl::Status Add(const PrimFunc& function) {
    Visit(function->body());
    return status_;
  }
  UsedPools& pools() { return pools_; }

 protected:
  void VisitAllocate(const AllocateNode* node) override {
    AddPlace(node, node->dtype(), node->extents(), node->annotations());
    Visitor::VisitAllocate(node);
  }
  void VisitAllocateConst(const AllocateConstNode* node) override {
    AddPlace(node, node->dtype(), node->extents(), node->annotations());
    Visitor::VisitAllocateConst(node);
  }

 private:
  void AddPlace(const StmtNode* stmt, DType dtype,
                absl::Span<const PrimExpr> extents, const Dict& annotations) {
    const PrimExpr annotation = annotations.Find(kPoolAllocation);
    if (!annotation.defined() || !status_.ok()) return;
    const absl::StatusOr<Place> place = PlaceOf(annotation, stmt->span());
    const int64_t bytes = AllocationBytes(dtype, extents);
    if (!place.ok() || bytes < 0) {
      status_ = place.ok() ? ErrorAt(stmt->span(),
                                     "the extents of an allocation with "
                                     "a place are not constant")
                           : place.status();
      return;
    }
    UsedPool& pool = pools_[place->pool];
    if (bytes > kMaxOffset) {
      status_ =
          ErrorAt(stmt->span(), "an allocation with a place is too large");
      return;
    }
    pool.bytes = std::max(pool.bytes, place->offset + bytes);
    if (pool.config.defined()) return;
    const PrimExpr list = annotations.Find(kCandidatePools);
    const auto* candidates = list.defined() ? list.As<ListNode>() : nullptr;
    if (candidates == nullptr) return;
    for (const PrimExpr& item : candidates->items()) {
      const auto* config = item.As<DictNode>();
      if (config == nullptr) continue;
      const PrimExpr name = config->Find(kPoolName);
      const auto* text = name.defined() ? name.As<StringImmNode>() : nullptr;
      if (text != nullptr && text->value() == place->pool) {
        pool.config = Dict(config);
      }
    }
  }

  UsedPools pools_;
  absl::Status status_;
};

class Converter final : public Rewriter {
 public:
  Converter(const IRModule& module, UsedPools& pools, bool printable)
      : module_(module), pools_(pools), printable_(printable) {}

  absl::StatusOr<PrimFunc> Run(const PrimFunc& function) {
    PrimFuncNode::Parts parts = function->parts();
    const bool has_handle = TakesHandle(function);
    Var handle;
    if (has_handle) {
      handle = parts.params.back();
      parts.params.pop_back();
    }
    buffers_.clear();
    for (const auto& [name, pool] : pools_) {
      const std::string prefix = absl::StrCat(name, "_", num_params_++);
      const std::string var_name = absl::StrCat(prefix, "_var");
      const Buffer buffer({
          .name = absl::StrCat(prefix, "_buffer_var"),
          .data = Var::Pointer(var_name, kByte, "global"),
          .dtype = kByte,
          .shape = {AttrInteger(pool.bytes)},
          .strides = {IntImm(kInt32, 1)},
          .elem_offset = IntImm(kInt32, 0),
          .alignment = kPoolAlignment,
      });
      parts.buffers.push_back(
          {static_cast<int64_t>(parts.params.size()), buffer});
      parts.params.push_back(Var::Pointer(var_name, kByte, "global"));
      buffers_[name] = buffer;
    }
    if (has_handle) parts.params.push_back(handle);
    parts.body = Rewrite(function->body());
    BATON_RETURN_IF_ERROR(status_);
    if (printable_) {
      const AttrValue* symbol = parts.attrs.Find(kGlobalSymbol);
      parts.attrs = symbol == nullptr
                        ? DictAttrs()
                        : DictAttrs({{std::string(kGlobalSymbol), *symbol}});
    }
    return WithParts(function, std::move(parts));
  }

  // Adds the attribute `pool_args` to a converted function; with what the pools
  // of constants hold if `with_constants`.
  PrimFunc WithPoolArgs(const PrimFunc& function, bool with_constants) const {
    std::vector<PrimExpr> items;
    int64_t index = static_cast<int64_t>(function->params().size()) -
                    static_cast<int64_t>(pools_.size());
    if (TakesHandle(function)) --index;
    for (const auto& [name, pool] : pools_) {
      Dict info = pool.config.defined()
                      ? pool.config
                      : Dict::OfAll({{kPoolName, StringImm(name)}});
      if (with_constants && !pool.constants.empty()) {
        info =
            WithMissing(info, {{"constant_info_array", List(pool.constants)}});
      }
      items.push_back(Dict::OfAll({{"allocated_size", AttrInteger(pool.bytes)},
                                   {"pool_info", std::move(info)},
                                   {"pool_var_idx", AttrInteger(index++)}}));
    }
    AttrValue value;
    AttrOfExpr(List(std::move(items)), value);
    return WithAttr(function, kPoolArgsAttr, std::move(value));
  }

  // The places of inputs and outputs that were converted, by their names.
  const std::vector<Dict::Entry>& io_places() const { return io_places_; }

  static bool TakesHandle(const PrimFunc& function) {
    const auto last = static_cast<int>(function->params().size()) - 1;
    return last >= 0 && !function->BufferOf(last).defined();
  }

 protected:
  Stmt VisitAllocate(const AllocateNode* node) override {
    const PrimExpr annotation = node->annotations().Find(kPoolAllocation);
    if (!annotation.defined()) return Rewriter::VisitAllocate(node);
    for (const char* key : {kInputTensor, kOutputTensor}) {
      const PrimExpr param = node->annotations().Find(key);
      const auto* name = param.defined() ? param.As<StringImmNode>() : nullptr;
      if (name != nullptr) io_places_.emplace_back(name->value(), annotation);
    }
    return ToLet(node->var(), annotation, node->body(), node->span());
  }
  Stmt VisitAllocateConst(const AllocateConstNode* node) override {
    const PrimExpr annotation = node->annotations().Find(kPoolAllocation);
    if (!annotation.defined()) return Rewriter::VisitAllocateConst(node);
    const absl::StatusOr<Place> place = PlaceOf(annotation, node->span());
    if (place.ok()) {
      pools_[place->pool].constants.push_back(Dict::OfAll(
          {{"name_hint", StringImm(LetName(node->var()))},
           {kByteOffset, AttrInteger(place->offset)},
           {"data", StringImm(absl::BytesToHexString(node->data().bytes()))}}));
    }
    return ToLet(node->var(), annotation, node->body(), node->span());
  }
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    const Stmt visited = Rewriter::VisitAttrStmt(node);
    const auto* var = node->node().As<VarNode>();
    const Var let = var == nullptr ? Var() : LetOf(var);
    if (!let.defined()) return visited;
    const auto* attr = visited.As<AttrStmtNode>();
    return AttrStmt(let, attr->key(), attr->value(), attr->body(),
                    attr->span());
  }
  PrimExpr VisitVar(const VarNode* node) override {
    Var let = LetOf(node);
    return let.defined() ? let : Var(node);
  }
  Buffer RewriteBuffer(const Buffer& buffer) override {
    const Var let = LetOf(buffer->data().get());
    if (!let.defined()) return buffer;
    const Buffer* known = remapped_.Find(buffer);
    if (known != nullptr && (*known)->data() == let) return *known;
    BufferNode::Parts parts = buffer->parts();
    parts.data = let;
    Buffer made(std::move(parts), buffer->span());
    remapped_.Set(buffer, made);
    return made;
  }
  PrimExpr VisitCall(const CallNode* node) override {
    const PrimExpr visited = Rewriter::VisitCall(node);
    const absl::StatusOr<CalledFunction> called = CalledBy(node, module_);
    if (!called.ok() || !called->function.defined()) return visited;
    const auto* call = visited.As<CallNode>();
    std::vector<PrimExpr> args = {call->args().begin(), call->args().end()};
    // Pools are before the context of a device, or before the handle that the
    // function takes behind its pools.
    const bool is_last = !called->has_context && !TakesHandle(called->function);
    std::vector<PrimExpr> pools;
    for (const auto& [name, pool] : pools_) {
      pools.push_back(buffers_.find(name)->second->data());
    }
    if (called->has_context && TakesHandle(called->function)) {
      args.insert(args.end() - 2, pools.begin(), pools.end());
    } else {
      args.insert(is_last ? args.end() : args.end() - 1, pools.begin(),
                  pools.end());
    }
    return Call(call->dtype(), call->op(), std::move(args), call->span());
  }

 private:
  // The address that replaces a pointer; null if there is none.
  Var LetOf(const VarNode* pointer) const {
    const Var* let = lets_.Find(pointer);
    return let == nullptr ? Var() : *let;
  }
  static std::string LetName(const Var& var) {
    return absl::StrCat(var->name(), "_let");
  }

  Stmt ToLet(const Var& var, const PrimExpr& annotation, const Stmt& body,
             const Span& span) {
    const absl::StatusOr<Place> place = PlaceOf(annotation, span);
    if (!place.ok()) {
      if (status_.ok()) status_ = place.status();
      return body;
    }
    const Buffer& pool = buffers_.find(place->pool)->second;
    const Var let =
        Var::Pointer(LetName(var), var->element(),
                     printable_ ? std::string() : var->scope(), var->span());
    const Var outer = std::exchange(lets_[var.get()], let);
    Stmt rewritten = Rewrite(body);
    lets_[var.get()] = outer;
    return LetStmt(
        let,
        CallIntrinsic("address_of",
                      {BufferLoad(pool, {AttrInteger(place->offset)})}),
        std::move(rewritten), span);
  }

  const IRModule& module_;
  UsedPools& pools_;
  const bool printable_;
  int num_params_ = 0;
  std::map<std::string, Buffer> buffers_;  // of the function's pools
  NodeMap<Var> lets_;
  BufferMap remapped_;
  std::vector<Dict::Entry> io_places_;
  absl::Status status_;
};

absl::StatusOr<IRModule> Converted(
    IRModule module, const ConvertPoolAllocationsToOffsetsOptions& options) {
  BATON_ASSIGN_OR_RETURN(const GlobalVar main,
                         MainFunctionOf(module, options.main_function));
  if (!main.defined()) return module;
  BATON_ASSIGN_OR_RETURN(const std::vector<std::string> reached,
                         FunctionsWithPools(main->name(), module));
  PoolFinder finder;
  for (const std::string& name : reached) {
    BATON_RETURN_IF_ERROR(finder.Add(module.Find<PrimFunc>(name)));
  }
  if (finder.pools().empty()) return module;
  const IRModule before = module;
  Converter converter(before, finder.pools(), options.emit_tvmscript_printable);
  for (const std::string& name : reached) {
    BATON_ASSIGN_OR_RETURN(PrimFunc converted,
                           converter.Run(before.Find<PrimFunc>(name)));
    module.Set(name, std::move(converted));
  }
  if (options.emit_tvmscript_printable) return module;
  for (const std::string& name : reached) {
    const bool is_main = name == main->name();
    PrimFunc function = converter.WithPoolArgs(module.Find<PrimFunc>(name),
                                               /*with_constants=*/is_main);
    if (is_main && !converter.io_places().empty()) {
      AttrValue places;
      AttrOfExpr(Dict::OfAll(converter.io_places()), places);
      function = WithAttr(function, kIoPlacesAttr, std::move(places));
    }
    module.Set(name, std::move(function));
  }
  return module;
}

}  // namespace

Pass ConvertPoolAllocationsToOffsets(
    ConvertPoolAllocationsToOffsetsOptions options) {
  return CreateModulePass(
      [options](IRModule module,
                const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        return Converted(std::move(module), options);
      },
      {.name = "tir.usmp.ConvertPoolAllocationsToOffsets",
       .doc = "Memory pools become parameters, and allocations addresses.",
       .idempotent = true,
       .examples = {"emit_tvmscript_printable=true"}},
      options);
}
BATON_REGISTER_PASS_AS("tir.usmp.ConvertPoolAllocationsToOffsets",
                       ConvertPoolAllocationsToOffsets);

}  // namespace baton::tir
