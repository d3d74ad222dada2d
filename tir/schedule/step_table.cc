#include "baton/tir/schedule/step_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/near_names.h"
#include "baton/base/status_macros.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/script_reader.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/step_text.h"
#include "baton/tir/schedule/steps.h"
#include "baton/tir/schedule/tensor_intrin.h"

namespace baton::tir {
namespace {

// The variables of a function that maps of indices may use: parameters and
// extents of buffers.
std::vector<Var> VariablesOf(const PrimFunc& function) {
  std::vector<Var> vars;
  const auto add = [&vars](const PrimExpr& e) {
    const auto* var = e.As<VarNode>();
    if (var == nullptr || !var->dtype().is_int()) return;
    if (std::find(vars.begin(), vars.end(), Var(var)) == vars.end()) {
      vars.emplace_back(var);
    }
  };
  for (int i = 0; i < static_cast<int>(function->params().size()); ++i) {
    add(function->params()[i]);
    const Buffer& buffer = function->BufferOf(i);
    if (!buffer.defined()) continue;
    for (const PrimExpr& extent : buffer->shape()) PostOrderVisit(extent, add);
  }
  return vars;
}

// The value with the type of integers that do not fit 32 bits. The depth of a
// value is limited by ParseStep().
AttrValue Typed(const AttrValue& value) {
  if (const int64_t* number = value.As<int64_t>()) {
    if (*number >= INT32_MIN && *number <= INT32_MAX) return value;
    return AttrMap{{"T.int64", value}};
  }
  if (const AttrList* list = value.As<AttrList>()) {
    AttrList result;
    for (const AttrValue& item : *list) result.push_back(Typed(item));
    return result;
  }
  if (const AttrMap* map = value.As<AttrMap>()) {
    // An integer with its type.
    if (map->size() == 1 && absl::StartsWith(map->front().first, "T.")) {
      return value;
    }
    AttrMap result;
    for (const auto& [key, item] : *map) result.emplace_back(key, Typed(item));
    return result;
  }
  return value;
}

// Reads the parameters of a step. After the first error, getters return
// anything; Finish() returns the error.
class StepReader {
 public:
  StepReader(const ScheduleState& state, const Step& step)
      : state_(state), step_(step) {}

  const Site* Block(const char* key) {
    const AttrValue* value = Find(key, true);
    return value == nullptr ? state_.root() : BlockOf(key, *value);
  }
  const Site* Loop(const char* key) {
    const Site* site = BlockOrLoop(key);
    if (site->is_block()) Fail(key, "expected a loop");
    return site;
  }
  const Site* BlockOrLoop(const char* key) {
    const AttrValue* value = Find(key, true);
    return value == nullptr ? state_.root() : SiteOf(key, *value);
  }
  std::vector<const Site*> Loops(const char* key) {
    std::vector<const Site*> result;
    for (const AttrValue& value : ListOf(key, true)) {
      result.push_back(SiteOf(key, value));
      if (result.back()->is_block()) Fail(key, "expected loops");
    }
    return result;
  }
  // None if the parameter is missing.
  std::vector<const Site*> Blocks(const char* key) {
    std::vector<const Site*> result;
    const AttrValue* value = Find(key, false);
    if (value == nullptr || value->is_none()) return result;
    if (value->As<AttrList>() == nullptr) return {BlockOf(key, *value)};
    for (const AttrValue& item : *value->As<AttrList>()) {
      result.push_back(BlockOf(key, item));
    }
    return result;
  }
  bool IsList(const char* key) {
    const AttrValue* value = Find(key, false);
    return value != nullptr && value->As<AttrList>() != nullptr;
  }

  int64_t Int(const char* key, std::optional<int64_t> by_default = {}) {
    const AttrValue* value = Find(key, !by_default.has_value());
    if (value == nullptr || value->is_none()) return by_default.value_or(0);
    if (const int64_t* number = value->As<int64_t>()) return *number;
    Fail(key, "expected an integer");
    return 0;
  }
  // An integer that fits an int.
  int SmallInt(const char* key, std::optional<int64_t> by_default = {}) {
    const int64_t value = Int(key, by_default);
    if (value >= -INT32_MAX && value <= INT32_MAX) {
      return static_cast<int>(value);
    }
    Fail(key, "the number is too large");
    return 0;
  }
  bool Bool(const char* key, bool by_default) {
    const AttrValue* value = Find(key, false);
    if (value == nullptr) return by_default;
    if (const bool* b = value->As<bool>()) return *b;
    if (const int64_t* i = value->As<int64_t>()) return *i != 0;
    Fail(key, "expected true or false");
    return by_default;
  }
  std::string String(const char* key) {
    const AttrValue* value = Find(key, true);
    if (value == nullptr) return {};
    if (const std::string* text = value->As<std::string>()) return *text;
    Fail(key, "expected a string");
    return {};
  }
  std::vector<int64_t> Ints(const char* key, bool required = true) {
    std::vector<int64_t> result;
    for (const AttrValue& value : ListOf(key, required)) {
      const int64_t* number = value.As<int64_t>();
      if (number == nullptr) {
        Fail(key, "expected integers");
        return {};
      }
      result.push_back(*number);
    }
    return result;
  }
  // Integers of 32 bits.
  std::vector<int64_t> SmallInts(const char* key) {
    std::vector<int64_t> result = Ints(key);
    for (const int64_t number : result) Narrow(key, number);
    return result;
  }
  std::vector<double> Numbers(const char* key) {
    std::vector<double> result;
    for (const AttrValue& value : ListOf(key, true)) {
      if (const double* real = value.As<double>()) {
        result.push_back(*real);
      } else if (const int64_t* number = value.As<int64_t>()) {
        result.push_back(static_cast<double>(*number));
      } else {
        Fail(key, "expected numbers");
      }
    }
    return result;
  }
  // None if the parameter is missing or null.
  std::optional<int> Decision(const char* key) {
    const AttrValue* value = Find(key, false);
    if (value == nullptr || value->is_none()) return std::nullopt;
    return SmallInt(key);
  }
  bool Has(const char* key) { return Find(key, false) != nullptr; }
  // null and -1 are null.
  std::vector<PrimExpr> Factors(const char* key) {
    std::vector<PrimExpr> result;
    for (const AttrValue& value : ListOf(key, true)) {
      const int64_t* number = value.As<int64_t>();
      if (value.is_none() || (number != nullptr && *number == -1)) {
        result.push_back({});
      } else if (number != nullptr) {
        const bool fits = *number >= -INT32_MAX && *number <= INT32_MAX;
        result.push_back(IntImm(fits ? kInt32 : DType::Int(64), *number));
      } else {
        Fail(key, "expected integers or null");
      }
    }
    return result;
  }
  PrimExpr Value(const char* key) {
    const AttrValue* value = Find(key, true);
    return value == nullptr ? PrimExpr() : ExprOfAttr(Typed(*value));
  }
  // `lambda i, j: (j, i)`
  tir::IndexMap Map(const char* key) {
    const AttrValue* value = Find(key, true);
    if (value == nullptr || failed()) return {};
    const std::string* text = value->As<std::string>();
    if (text == nullptr) {
      Fail(key, "expected a map: lambda i, j: (j, i)");
      return {};
    }
    // The texts that the reference has for a map.
    absl::string_view inner = *text;
    if (!absl::ConsumePrefix(&inner, "T.index_map") &&
        !absl::ConsumePrefix(&inner, "tvm.tir.IndexMap.from_func")) {
      inner = {};
    }
    const absl::StatusOr<PrimExpr> map =
        ParseScriptExpr(inner.empty() ? absl::StrCat("T.index_map(", *text, ")")
                                      : absl::StrCat("T.index_map", inner),
                        VariablesOf(state_.function()));
    if (!map.ok()) {
      Fail(key, std::string(map.status().message()));
      return {};
    }
    const auto* node = map->As<IndexMapNode>();
    if (node == nullptr) Fail(key, "expected a map: lambda i, j: (j, i)");
    return tir::IndexMap(node);
  }

  // A value for the padding of a buffer: an integer for a buffer of integers or
  // a number with a point for one of floats, a constant with its type
  // (`T.int8(0)`), or a map of indices; null if the parameter is missing.
  tir::IndexMap PadValue(const char* key, DType dtype) {
    const AttrValue* value = Find(key, false);
    if (value == nullptr || value->is_none() || failed()) return {};
    const std::string* text = value->As<std::string>();
    if (text != nullptr && absl::StrContains(*text, "lambda")) return Map(key);
    PrimExpr constant;
    if (text != nullptr) {
      absl::StatusOr<PrimExpr> parsed = ParseScriptExpr(*text, {});
      if (!parsed.ok()) {
        Fail(key, std::string(parsed.status().message()));
        return {};
      }
      constant = *std::move(parsed);
    } else if (const int64_t* number = value->As<int64_t>();
               number != nullptr && (dtype.is_int() || dtype.is_uint())) {
      constant = CastTo(dtype, IntImm(DType::Int(64), *number));
    } else {
      constant = ExprOfAttr(*value);
      if (const auto* real = constant.As<FloatImmNode>();
          real != nullptr && dtype.is_float()) {
        constant = FloatImm(dtype, real->value());
      }
    }
    return tir::IndexMap({}, {constant});
  }

  struct Access {
    int index = 0;
    AccessKind kind = AccessKind::kRead;
  };
  // An index, the name of a buffer, or a list of "read" or "write" and an
  // index.
  Access BufferOf(const char* key, const Site* block,
                  std::optional<AccessKind> required = {}) {
    Access access = {0, required.value_or(AccessKind::kRead)};
    const AttrValue* value = Find(key, true);
    if (value == nullptr || failed() || !block->is_block()) return access;
    if (const int64_t* index = value->As<int64_t>()) {
      if (!required.has_value()) Fail(key, "expected a name, or a pair");
      access.index = Narrow(key, *index);
    } else if (const std::string* name = value->As<std::string>()) {
      access = BufferNamed(key, block, *name);
    } else if (const AttrList* pair = value->As<AttrList>();
               pair != nullptr && pair->size() == 2 &&
               (*pair)[0].As<std::string>() != nullptr &&
               (*pair)[1].As<int64_t>() != nullptr) {
      const std::string& kind = *(*pair)[0].As<std::string>();
      if (kind != "read" && kind != "write") {
        Fail(key, "expected \"read\" or \"write\"");
      }
      access.kind = kind == "read" ? AccessKind::kRead : AccessKind::kWrite;
      access.index = Narrow(key, *(*pair)[1].As<int64_t>());
    } else {
      Fail(key, "expected an index, a name, or a pair [\"read\", 0]");
    }
    if (required.has_value() && access.kind != *required) {
      Fail(key, *required == AccessKind::kRead
                    ? "the block writes the buffer, it must only read it"
                    : "the block does not write the buffer");
    }
    return access;
  }

  // The type of a buffer; the step's error if there is one.
  absl::StatusOr<DType> DTypeOf(const Site* block, const Access& access) {
    BATON_RETURN_IF_ERROR(error_);
    BATON_ASSIGN_OR_RETURN(const BufferRegion region,
                           AccessedRegion(block, access.index, access.kind));
    return region->buffer()->dtype();
  }

  // Ignores a parameter.
  void Skip(const char* key) { Find(key, false); }

  bool failed() const { return !error_.ok(); }
  absl::Status Finish() {
    for (const auto& [key, value] : step_.params) {
      if (used_.contains(key)) continue;
      Fail(key, "the step has no such parameter");
    }
    return error_;
  }

 private:
  void Fail(absl::string_view key, absl::string_view message) {
    if (failed()) return;
    error_ =
        absl::InvalidArgumentError(absl::StrCat("\"", key, "\": ", message));
  }
  void Fail(const absl::Status& status) {
    if (!failed()) error_ = status;
  }
  int Narrow(const char* key, int64_t value) {
    if (value >= -INT32_MAX && value <= INT32_MAX) {
      return static_cast<int>(value);
    }
    Fail(key, "the number is too large");
    return 0;
  }

  const AttrValue* Find(const char* key, bool required) {
    used_.insert(key);
    for (const auto& [name, value] : step_.params) {
      if (name == key) return &value;
    }
    if (required) Fail(key, "the parameter is missing");
    return nullptr;
  }
  const AttrList& ListOf(const char* key, bool required) {
    static const AttrList* const kEmpty = new AttrList;
    const AttrValue* value = Find(key, required);
    if (value == nullptr || value->is_none()) return *kEmpty;
    if (const AttrList* list = value->As<AttrList>()) return *list;
    Fail(key, "expected a list");
    return *kEmpty;
  }

  static const AttrValue* Entry(const AttrMap& map, absl::string_view key) {
    for (const auto& [name, value] : map) {
      if (name == key) return &value;
    }
    return nullptr;
  }
  const Site* BlockOf(const char* key, const AttrValue& value) {
    const std::string* name = value.As<std::string>();
    const int64_t* index = nullptr;
    if (const AttrMap* map = value.As<AttrMap>()) {
      if (const AttrValue* entry = Entry(*map, "block")) {
        name = entry->As<std::string>();
      }
      if (const AttrValue* entry = Entry(*map, "index")) {
        index = entry->As<int64_t>();
        if (index == nullptr) {
          Fail(key, "the index of a block is no integer");
          return state_.root();
        }
      }
    }
    if (name == nullptr) {
      Fail(key, "expected a block: {\"block\": \"C\"}");
      return state_.root();
    }
    const std::vector<const Site*> blocks = state_.BlocksNamed(*name);
    if (index != nullptr && *index >= 0 &&
        *index < static_cast<int64_t>(blocks.size())) {
      return blocks[*index];
    }
    if (index == nullptr && blocks.size() == 1) return blocks[0];
    if (blocks.empty()) {
      Fail(key, absl::StrCat("there is no block ", *name));
    } else if (index != nullptr) {
      Fail(key, absl::StrCat("the index ", *index, " is none of the ",
                             blocks.size(), " blocks of the name ", *name));
    } else {
      Fail(key,
           absl::StrCat("there are ", blocks.size(), " blocks of the name ",
                        *name, ": \"index\" says which"));
    }
    return state_.root();
  }
  const Site* SiteOf(const char* key, const AttrValue& value) {
    const AttrMap* map = value.As<AttrMap>();
    const AttrValue* of = map == nullptr ? nullptr : Entry(*map, "of");
    if (of == nullptr) return BlockOf(key, value);
    const Site* block = BlockOf(key, *of);
    const AttrValue* loop = Entry(*map, "loop");
    const int64_t* index = loop == nullptr ? nullptr : loop->As<int64_t>();
    const std::vector<const Site*> loops = LoopsOf(block);
    if (index == nullptr) {
      Fail(key, "expected a loop: {\"loop\": 0, \"of\": \"C\"}");
    } else if (*index < 0 || *index >= static_cast<int64_t>(loops.size())) {
      Fail(key,
           absl::StrCat("there is no loop ", *index, ": ", block->Describe(),
                        " has ", loops.size(), " loops around it"));
    } else {
      return loops[*index];
    }
    return state_.root();
  }
  Access BufferNamed(const char* key, const Site* block,
                     const std::string& name) {
    Access access;
    tir::Buffer found;
    const auto look = [&](const auto& regions, AccessKind kind) {
      for (size_t i = 0; i < regions.size(); ++i) {
        const tir::Buffer& buffer = regions[i]->buffer();
        if (buffer->name() != name) continue;
        if (found.defined() && found != buffer) {
          Fail(key, absl::StrCat("several buffers have the name ", name));
        }
        found = buffer;
        access = {static_cast<int>(i), kind};
      }
    };
    look(block->block()->reads(), AccessKind::kRead);
    look(block->block()->writes(), AccessKind::kWrite);
    if (!found.defined()) {
      Fail(key,
           absl::StrCat(block->Describe(), " does not access buffer ", name));
    }
    return access;
  }

  const ScheduleState& state_;
  const Step& step_;
  FlatHashSet<absl::string_view> used_;
  absl::Status error_;
};

using Handler = absl::Status (*)(ScheduleState& state, StepReader& args,
                                 StepResult& result);

// Puts what a step returns into the result.
absl::Status Put(absl::StatusOr<Block> made, StepResult& result) {
  if (made.ok()) result.blocks.push_back(*std::move(made));
  return made.status();
}
absl::Status Put(absl::StatusOr<std::vector<Block>> made, StepResult& result) {
  if (made.ok()) result.blocks = *std::move(made);
  return made.status();
}
absl::Status Put(absl::StatusOr<For> made, StepResult& result) {
  if (made.ok()) result.loops.push_back(*std::move(made));
  return made.status();
}
absl::Status Put(absl::StatusOr<std::vector<For>> made, StepResult& result) {
  if (made.ok()) result.loops = *std::move(made);
  return made.status();
}

absl::Status PutFactors(absl::StatusOr<std::vector<int64_t>> factors,
                        StepResult& result) {
  if (!factors.ok()) return factors.status();
  AttrList list;
  for (const int64_t factor : *factors) list.emplace_back(factor);
  result.decision = std::move(list);
  result.values = *std::move(factors);
  return absl::OkStatus();
}

template <absl::Status (*kStep)(ScheduleState&, const Site*)>
absl::Status OnLoop(ScheduleState& state, StepReader& args, StepResult&) {
  const Site* loop = args.Loop("loop");
  BATON_RETURN_IF_ERROR(args.Finish());
  return kStep(state, loop);
}

template <absl::Status (*kStep)(ScheduleState&, const Site*)>
absl::Status OnBlock(ScheduleState& state, StepReader& args, StepResult&) {
  const Site* block = args.Block("block");
  BATON_RETURN_IF_ERROR(args.Finish());
  return kStep(state, block);
}

template <absl::Status (*kStep)(ScheduleState&, const Site*, const Site*, bool,
                                int)>
absl::Status MoveBlock(ScheduleState& state, StepReader& args, StepResult&) {
  const Site* block = args.Block("block");
  const Site* loop = args.Loop("loop");
  const bool preserve = args.Bool("preserve_unit_loops", false);
  const int index = args.SmallInt("index", -1);
  BATON_RETURN_IF_ERROR(args.Finish());
  return kStep(state, block, loop, preserve, index);
}

template <absl::StatusOr<Block> (*kStep)(ScheduleState&, const Site*, int,
                                         const std::string&, Sites),
          AccessKind kKind>
absl::Status Cache(ScheduleState& state, StepReader& args, StepResult& result) {
  const Site* block = args.Block("block");
  const auto buffer = args.BufferOf(
      kKind == AccessKind::kRead ? "read_buffer_index" : "write_buffer_index",
      block, kKind);
  const std::string scope = args.String("storage_scope");
  const std::vector<const Site*> consumers = args.Blocks("consumer_blocks");
  BATON_RETURN_IF_ERROR(args.Finish());
  return Put(kStep(state, block, buffer.index, scope, consumers), result);
}

template <absl::StatusOr<Block> (*kStep)(ScheduleState&, const Site*, int,
                                         const std::string&, const IndexMap&),
          AccessKind kKind>
absl::Status ReindexCache(ScheduleState& state, StepReader& args,
                          StepResult& result) {
  const Site* block = args.Block("block");
  const auto buffer = args.BufferOf(
      kKind == AccessKind::kRead ? "read_buffer_index" : "write_buffer_index",
      block, kKind);
  const std::string scope = args.String("storage_scope");
  const IndexMap map = args.Map("index_map");
  BATON_RETURN_IF_ERROR(args.Finish());
  return Put(kStep(state, block, buffer.index, scope, map), result);
}

template <absl::StatusOr<Block> (*kStep)(ScheduleState&, const Site*,
                                         const Site*, int, const std::string&),
          AccessKind kKind>
absl::Status CopyAt(ScheduleState& state, StepReader& args,
                    StepResult& result) {
  const Site* loop = args.Loop("loop");
  const Site* block = args.Block("block");
  const auto buffer = args.BufferOf(
      kKind == AccessKind::kRead ? "read_buffer_index" : "write_buffer_index",
      block, kKind);
  const std::string scope = args.String("storage_scope");
  BATON_RETURN_IF_ERROR(args.Finish());
  return Put(kStep(state, loop, block, buffer.index, scope), result);
}

template <absl::StatusOr<Block> (*kStep)(ScheduleState&, const Site*,
                                         const Site*)>
absl::Status OnBlockAndLoop(ScheduleState& state, StepReader& args,
                            StepResult& result) {
  const Site* block = args.Block("block");
  const Site* loop = args.Loop("loop");
  BATON_RETURN_IF_ERROR(args.Finish());
  return Put(kStep(state, block, loop), result);
}

struct Entry {
  absl::string_view name;
  Handler handler;
};

constexpr Entry kSteps[] = {
    {"add_unit_loop",
     [](ScheduleState& state, StepReader& args, StepResult& result) {
       const Site* site = args.BlockOrLoop("block_or_loop");
       BATON_RETURN_IF_ERROR(args.Finish());
       return Put(AddUnitLoop(state, site), result);
     }},
    {"annotate",
     [](ScheduleState& state, StepReader& args, StepResult&) {
       const Site* site = args.BlockOrLoop("block_or_loop");
       const std::string key = args.String("ann_key");
       PrimExpr value = args.Value("ann_val");
       BATON_RETURN_IF_ERROR(args.Finish());
       return Annotate(state, site, key, std::move(value));
     }},
    {"bind",
     [](ScheduleState& state, StepReader& args, StepResult&) {
       const Site* loop = args.Loop("loop");
       const std::string axis = args.String("thread_axis");
       BATON_RETURN_IF_ERROR(args.Finish());
       return Bind(state, loop, axis);
     }},
    {"blockize",
     [](ScheduleState& state, StepReader& args, StepResult& result) {
       const bool preserve = args.Bool("preserve_unit_iters", true);
       if (args.IsList("target")) {
         const std::vector<const Site*> blocks = args.Blocks("target");
         BATON_RETURN_IF_ERROR(args.Finish());
         return Put(BlockizeBlocks(state, blocks, preserve), result);
       }
       const Site* loop = args.Loop("target");
       BATON_RETURN_IF_ERROR(args.Finish());
       return Put(Blockize(state, loop, preserve), result);
     }},
    {"cache_index",
     [](ScheduleState& state, StepReader& args, StepResult& result) {
       const Site* block = args.Block("block");
       const std::string scope = args.String("storage_scope");
       const int threshold = args.SmallInt("cse_thresh", 0);
       BATON_RETURN_IF_ERROR(args.Finish());
       return Put(CacheIndex(state, block, scope, threshold), result);
     }},
    {"cache_inplace",
     [](ScheduleState& state, StepReader& args, StepResult& result) {
       const Site* block = args.Block("block");
       // A buffer that is read and written is found as a written one.
       const auto buffer =
           args.BufferOf("read_buffer_index", block, AccessKind::kRead);
       const std::string scope = args.String("storage_scope");
       BATON_RETURN_IF_ERROR(args.Finish());
       return Put(CacheInplace(state, block, buffer.index, scope), result);
     }},
    {"cache_read", Cache<CacheRead, AccessKind::kRead>},
    {"cache_write", Cache<CacheWrite, AccessKind::kWrite>},
    {"compute_at", MoveBlock<ComputeAt>},
    {"compute_inline", OnBlock<ComputeInline>},
    {"decompose_padding", OnBlockAndLoop<DecomposePadding>},
    {"decompose_reduction", OnBlockAndLoop<DecomposeReduction>},
    // Divides a trace into what a search changes and what always follows.
    {"enter_postproc", [](ScheduleState&, StepReader& args,
                          StepResult&) { return args.Finish(); }},
    {"fuse",
     [](ScheduleState& state, StepReader& args, StepResult& result) {
       const std::vector<const Site*> loops = args.Loops("loops");
       const bool preserve = args.Bool("preserve_unit_iters", true);
       BATON_RETURN_IF_ERROR(args.Finish());
       return Put(Fuse(state, loops, preserve), result);
     }},
    {"merge",
     [](ScheduleState& state, StepReader& args, StepResult& result) {
       const std::vector<const Site*> loops = args.Loops("loops");
       BATON_RETURN_IF_ERROR(args.Finish());
       return Put(Merge(state, loops), result);
     }},
    {"pad_einsum",
     [](ScheduleState& state, StepReader& args, StepResult&) {
       const Site* block = args.Block("block");
       const std::vector<int64_t> padding = args.SmallInts("padding");
       BATON_RETURN_IF_ERROR(args.Finish());
       return PadEinsum(state, block, padding);
     }},
    {"parallel", OnLoop<Parallel>},
    {"read_at", CopyAt<ReadAt, AccessKind::kRead>},
    {"reindex",
     [](ScheduleState& state, StepReader& args, StepResult& result) {
       const Site* block = args.Block("block");
       const auto buffer = args.BufferOf("buffer", block);
       BATON_RETURN_IF_ERROR(args.Finish());
       return Put(ReIndex(state, block, buffer.index, buffer.kind), result);
     }},
    {"reindex_cache_read", ReindexCache<ReindexCacheRead, AccessKind::kRead>},
    {"reindex_cache_write",
     ReindexCache<ReindexCacheWrite, AccessKind::kWrite>},
    {"reorder",
     [](ScheduleState& state, StepReader& args, StepResult&) {
       const std::vector<const Site*> loops = args.Loops("ordered_loops");
       BATON_RETURN_IF_ERROR(args.Finish());
       return Reorder(state, loops);
     }},
    {"reorder_block_iter_var",
     [](ScheduleState& state, StepReader& args, StepResult&) {
       const Site* block = args.Block("block");
       const std::vector<int64_t> order = args.Ints("new_order");
       BATON_RETURN_IF_ERROR(args.Finish());
       return ReorderBlockIterVar(state, block, order);
     }},
    {"reverse_compute_at", MoveBlock<ReverseComputeAt>},
    {"reverse_compute_inline", OnBlock<ReverseComputeInline>},
    {"rfactor",
     [](ScheduleState& state, StepReader& args, StepResult& result) {
       const Site* loop = args.Loop("loop");
       const int axis = args.SmallInt("factor_axis");
       BATON_RETURN_IF_ERROR(args.Finish());
       return Put(RFactor(state, loop, axis), result);
     }},
    {"rolling_buffer",
     [](ScheduleState& state, StepReader& args, StepResult&) {
       const Site* block = args.Block("block");
       const auto buffer =
           args.BufferOf("write_buffer_index", block, AccessKind::kWrite);
       BATON_RETURN_IF_ERROR(args.Finish());
       return RollingBuffer(state, block, buffer.index);
     }},
    {"sample_categorical",
     [](ScheduleState&, StepReader& args, StepResult& result) {
       const std::vector<int64_t> candidates = args.Ints("candidates");
       const std::vector<double> probs = args.Numbers("probs");
       const std::optional<int> decision = args.Decision("decision");
       BATON_RETURN_IF_ERROR(args.Finish());
       BATON_ASSIGN_OR_RETURN(const int chosen,
                              Categorical(candidates, probs, decision));
       result.decision = int64_t{chosen};
       result.values = {candidates[chosen]};
       return absl::OkStatus();
     }},
    {"sample_compute_location",
     [](ScheduleState& state, StepReader& args, StepResult& result) {
       const Site* block = args.Block("block");
       const std::optional<int> decision = args.Decision("decision");
       BATON_RETURN_IF_ERROR(args.Finish());
       const int64_t location = ComputeLocation(state, block, decision);
       result.decision = location;
       result.values = {location};
       return absl::OkStatus();
     }},
    {"sample_partitioned_tile",
     [](ScheduleState&, StepReader& args, StepResult& result) {
       const Site* loop = args.Loop("loop");
       const int n = args.SmallInt("n");
       const int position = args.SmallInt("partition_pos", 0);
       const int factor = args.SmallInt("innerpart_factor", 1);
       const std::vector<int64_t> decision = args.Ints("decision", false);
       BATON_RETURN_IF_ERROR(args.Finish());
       return PutFactors(PartitionedTile(loop, n, position, factor, decision),
                         result);
     }},
    {"sample_perfect_tile",
     [](ScheduleState&, StepReader& args, StepResult& result) {
       const Site* loop = args.Loop("loop");
       const int n = args.SmallInt("n");
       const int innermost = args.SmallInt("max_innermost_factor", 16);
       const std::vector<int64_t> decision = args.Ints("decision", false);
       BATON_RETURN_IF_ERROR(args.Finish());
       return PutFactors(PerfectTile(loop, n, innermost, decision), result);
     }},
    {"set_axis_separator",
     [](ScheduleState& state, StepReader& args, StepResult&) {
       const Site* block = args.Block("block");
       const auto buffer = args.BufferOf("buffer", block);
       const std::vector<int64_t> separators =
           args.SmallInts("axis_separators");
       BATON_RETURN_IF_ERROR(args.Finish());
       return SetAxisSeparator(state, block, buffer.index, buffer.kind,
                               separators);
     }},
    {"set_scope",
     [](ScheduleState& state, StepReader& args, StepResult&) {
       const Site* block = args.Block("block");
       const auto buffer =
           args.BufferOf("buffer_index", block, AccessKind::kWrite);
       const std::string scope = args.String("storage_scope");
       BATON_RETURN_IF_ERROR(args.Finish());
       return SetScope(state, block, buffer.index, scope);
     }},
    {"split",
     [](ScheduleState& state, StepReader& args, StepResult& result) {
       const Site* loop = args.Loop("loop");
       const std::vector<PrimExpr> factors = args.Factors("factors");
       const bool preserve = args.Bool("preserve_unit_iters", true);
       BATON_RETURN_IF_ERROR(args.Finish());
       return Put(Split(state, loop, factors, preserve), result);
     }},
    {"storage_align",
     [](ScheduleState& state, StepReader& args, StepResult&) {
       const Site* block = args.Block("block");
       const int buffer = args.SmallInt("buffer_index");
       const int axis = args.SmallInt("axis");
       const int factor = args.SmallInt("factor");
       const int offset = args.SmallInt("offset");
       BATON_RETURN_IF_ERROR(args.Finish());
       return StorageAlign(state, block, buffer, axis, factor, offset);
     }},
    {"tensorize",
     [](ScheduleState& state, StepReader& args, StepResult&) {
       const Site* site = args.BlockOrLoop("block_or_loop");
       // A registered intrinsic, or the scripts of one.
       TensorIntrin intrin;
       std::string name;
       const bool is_written = args.Has("desc");
       if (is_written) {
         intrin.description = args.String("desc");
         intrin.implementation = args.String("impl");
       } else {
         name = args.String("tensor_intrin");
       }
       const bool preserve = args.Bool("preserve_unit_iters", true);
       BATON_RETURN_IF_ERROR(args.Finish());
       if (!is_written) {
         BATON_ASSIGN_OR_RETURN(const TensorIntrin* registered,
                                TensorIntrinRegistry().Get(name));
         intrin = *registered;
       }
       BATON_ASSIGN_OR_RETURN(const PrimFunc desc, intrin.Description());
       BATON_ASSIGN_OR_RETURN(const PrimFunc impl, intrin.Implementation());
       return Tensorize(state, site, desc, impl, preserve);
     }},
    {"transform_block_layout",
     [](ScheduleState& state, StepReader& args, StepResult&) {
       const Site* block = args.Block("block");
       const IndexMap map = args.Map("index_map");
       BATON_RETURN_IF_ERROR(args.Finish());
       return TransformBlockLayout(state, block, map);
     }},
    {"transform_layout",
     [](ScheduleState& state, StepReader& args, StepResult&) {
       const Site* block = args.Block("block");
       const auto buffer = args.BufferOf("buffer", block);
       const IndexMap map = args.Map("index_map");
       const bool assume = args.Bool("assume_injective_transform", false);
       BATON_ASSIGN_OR_RETURN(const DType dtype, args.DTypeOf(block, buffer));
       const IndexMap pad_value = args.PadValue("pad_value", dtype);
       BATON_RETURN_IF_ERROR(args.Finish());
       return TransformLayout(state, block, buffer.index, buffer.kind, map,
                              pad_value, assume);
     }},
    {"unannotate",
     [](ScheduleState& state, StepReader& args, StepResult&) {
       const Site* site = args.BlockOrLoop("block_or_loop");
       const std::string key = args.String("ann_key");
       BATON_RETURN_IF_ERROR(args.Finish());
       return Unannotate(state, site, key);
     }},
    {"unroll", OnLoop<Unroll>},
    {"unsafe_hide_buffer_access",
     [](ScheduleState& state, StepReader& args, StepResult&) {
       const Site* block = args.Block("block");
       const std::string kind = args.String("buf_type");
       const std::vector<int64_t> indices = args.Ints("buf_index_array");
       BATON_RETURN_IF_ERROR(args.Finish());
       if (kind != "read" && kind != "write") {
         return absl::InvalidArgumentError(
             "\"buf_type\": expected \"read\" or \"write\"");
       }
       return UnsafeHideBufferAccess(
           state, block,
           kind == "read" ? AccessKind::kRead : AccessKind::kWrite, indices);
     }},
    {"unsafe_set_dtype",
     [](ScheduleState& state, StepReader& args, StepResult&) {
       const Site* block = args.Block("block");
       const int buffer = args.SmallInt("buffer_index");
       const std::string name = args.String("dtype");
       BATON_RETURN_IF_ERROR(args.Finish());
       BATON_ASSIGN_OR_RETURN(const DType dtype, DType::Parse(name));
       return UnsafeSetDType(state, block, buffer, dtype);
     }},
    {"vectorize", OnLoop<Vectorize>},
    {"write_at", CopyAt<WriteAt, AccessKind::kWrite>},
};

}  // namespace

absl::StatusOr<StepResult> ApplyStep(ScheduleState& state, const Step& step) {
  for (const Entry& entry : kSteps) {
    if (entry.name != step.name) continue;
    StepReader reader(state, step);
    StepResult result;
    const absl::Status status = entry.handler(state, reader, result);
    if (status.ok()) return result;
    return absl::Status(status.code(),
                        absl::StrCat(step.name, ": ", status.message()));
  }
  return absl::NotFoundError(absl::StrCat("there is no step ", step.name,
                                          DidYouMean(step.name, StepNames())));
}

absl::StatusOr<AttrValue> SiteParam(const ScheduleState& state,
                                    const Site* site) {
  const auto block_param = [&](const Site* block) -> AttrMap {
    const std::string& name = block->block()->name();
    AttrMap map = {{"block", name}};
    const std::vector<const Site*> blocks = state.BlocksNamed(name);
    if (blocks.size() > 1) {
      const auto it = std::find(blocks.begin(), blocks.end(), block);
      map.emplace_back("index", static_cast<int64_t>(it - blocks.begin()));
    }
    return map;
  };
  if (site->is_block()) return AttrValue(block_param(site));
  const std::vector<const Site*> blocks = ChildBlocks(state, site);
  if (blocks.empty()) {
    return SiteError(site,
                     absl::StrCat(site->Describe(), " has no block in it"));
  }
  const std::vector<const Site*> loops = LoopsOf(blocks[0]);
  const int64_t index =
      std::find(loops.begin(), loops.end(), site) - loops.begin();
  const AttrMap block = block_param(blocks[0]);
  return AttrValue(
      AttrMap{{"loop", index},
              {"of", block.size() == 1 ? block[0].second : AttrValue(block)},
              {"var", site->loop()->loop_var()->name()}});
}

std::vector<std::string> StepNames() {
  std::vector<std::string> names;
  for (const Entry& entry : kSteps) names.emplace_back(entry.name);
  return names;
}

}  // namespace baton::tir
