#include "baton/triage/reducer.h"

#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_list.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/sequential.h"
#include "baton/triage/bisection.h"
#include "baton/triage/failure.h"
#include "baton/triage/interrupt.h"
#include "baton/triage/shrink.h"
#include "baton/triage/shrink_loops.h"

namespace baton {
namespace {

using relay::Constant;
using relay::Function;

class FailureOracleRun final : public OracleRun {
 public:
  FailureOracleRun(PipelineRun run, const Failure* wanted)
      : run_(std::move(run)), wanted_(wanted) {}
  bool Wait() override { return SameFailure(*wanted_, run_.Wait()); }

 private:
  PipelineRun run_;
  const Failure* const wanted_;
};

class TheFailureOracle final : public Oracle {
 public:
  TheFailureOracle(Failure failure, PipelineSettings settings,
                   ChildLimits limits)
      : failure_(std::move(failure)),
        settings_(std::move(settings)),
        limits_(limits) {}

  absl::StatusOr<std::unique_ptr<OracleRun>> Start(
      const ReducedCase& reduced) const override {
    BATON_ASSIGN_OR_RETURN(
        PipelineRun run,
        PipelineRun::Start(reduced.module, Sequential(reduced.passes),
                           settings_, limits_));
    return std::make_unique<FailureOracleRun>(std::move(run), &failure_);
  }

 private:
  const Failure failure_;
  const PipelineSettings settings_;
  const ChildLimits limits_;
};

// The text of passes in a key; for passes without text, their addresses.
std::string TextOf(const std::vector<Pass>& passes) {
  std::string text;
  for (const Pass& pass : passes) {
    const absl::StatusOr<std::string> one = pass.ToString();
    absl::StrAppend(
        &text,
        one.ok() ? *one
                 : absl::StrCat(pass.name(), "#",
                                reinterpret_cast<uintptr_t>(&pass.impl())),
        ",");
  }
  return text;
}

constexpr char kMain[] = "main";

// Two bisections over the nodes of `main`: `main` returns the first node for
// which `takes` is true, and then as many nodes as possible are cut off at the
// beginning. `takes` receives smaller modules, and remembers in `best` those
// for which it is true.
absl::Status Narrow(
    const Shrinker& shrinker, const IRModule& best,
    absl::FunctionRef<absl::StatusOr<bool>(std::optional<IRModule>)> takes) {
  IRModule module = best;
  std::vector<Expr> nodes = shrinker.Nodes(module, kMain);
  const auto end = [&nodes] { return static_cast<int64_t>(nodes.size()); };
  // The last node is the result that `main` has.
  BATON_RETURN_IF_ERROR(FirstBad(0, end(), [&](int64_t i) {
                          return takes(
                              shrinker.ReturnNode(module, nodes[i - 1]));
                        }).status());
  module = best;
  nodes = shrinker.Nodes(module, kMain);
  return FirstBad(0, end(),
                  [&](int64_t i) -> absl::StatusOr<bool> {
                    BATON_ASSIGN_OR_RETURN(
                        const bool is_taken,
                        takes(shrinker.CutNodes(module, nodes, 0, i)));
                    return !is_taken;
                  })
      .status();
}

using MakeCase = std::function<std::optional<ReducedCase>()>;

class Reducer {
 public:
  Reducer(ReducedCase start, const Oracle& oracle, const ReduceOptions& options)
      : oracle_(oracle), options_(options), best_(std::move(start)) {
    best_size_ = SizeOf(best_.module);
  }

  absl::StatusOr<ReduceResult> Run();

 private:
  using Size = std::pair<ProgramSize, size_t>;

  bool OutOfTime() {
    const double now = Now();
    if (options_.seconds > 0 && now > begin_ + options_.seconds) {
      result_.timed_out = true;
    }
    if (InterruptGuard::Signal() != 0) result_.interrupted = true;
    return result_.timed_out || result_.interrupted || !error_.ok();
  }
  // Seconds of processor time that were used.
  static double Now() {
    double seconds = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage usage = {};
      getrusage(who, &usage);
      for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
        seconds += static_cast<double>(time.tv_sec) +
                   static_cast<double>(time.tv_usec) * 1e-6;
      }
    }
    return seconds;
  }

  // Tests if the start fails, and if it always does.
  absl::Status CheckStart();

  // The first case, of those that are smaller, that the oracle accepts becomes
  // the best one; the index of its maker, or nullopt. Tests up to `jobs` at
  // once, which shows only in the time.
  std::optional<size_t> First(const std::vector<MakeCase>& makers);
  // Tries all of them. After one is accepted, calls `make` for those of the new
  // program and continues at the same place.
  bool Greedy(const std::function<std::vector<Smaller>(const IRModule&)>& make);

  bool ReducePasses();
  // Tries to leave out ranges of parts, long ones first.
  bool CutChunks(const std::function<ProgramParts(const IRModule&)>& parts_of);

  void Accept(ReducedCase reduced);
  std::vector<MakeCase> FewerPasses() const;
  MakeCase WithModule(Smaller make) const {
    return [this, make = std::move(make)]() -> std::optional<ReducedCase> {
      std::optional<IRModule> module = make();
      if (!module.has_value()) return std::nullopt;
      return ReducedCase{*std::move(module), best_.passes};
    };
  }
  bool TryModule(Smaller make) {
    return First({WithModule(std::move(make))}).has_value();
  }

  // A case that was tested, and what came of it.
  struct Tested {
    IRModule module;
    std::string passes;
    bool fails;
  };
  uint64_t KeyOf(const ReducedCase& reduced, const std::string& passes) const {
    return StructuralHash(reduced.module) ^ std::hash<std::string>()(passes);
  }
  const Tested* FindTested(uint64_t key, const ReducedCase& reduced,
                           const std::string& passes) const {
    const auto it = tested_.find(key);
    if (it == tested_.end()) return nullptr;
    for (const Tested& tested : it->second) {
      if (tested.passes == passes &&
          StructuralEqual(tested.module, reduced.module)) {
        return &tested;
      }
    }
    return nullptr;
  }

  const Oracle& oracle_;
  const ReduceOptions& options_;
  const double begin_ = Now();
  ReducedCase best_;
  ProgramSize best_size_;
  Shrinker shrinker_{true};
  FlatHashMap<uint64_t, std::vector<Tested>> tested_;
  ReduceResult result_;
  absl::Status error_;
};

void Reducer::Accept(ReducedCase reduced) {
  best_ = std::move(reduced);
  best_size_ = SizeOf(best_.module);
  if (options_.on_better != nullptr) error_.Update(options_.on_better(best_));
}

absl::Status Reducer::CheckStart() {
  int failed = 0;
  for (int i = 0; i < options_.start_tests; ++i) {
    BATON_ASSIGN_OR_RETURN(const std::unique_ptr<OracleRun> run,
                           oracle_.Start(best_));
    ++result_.tests;
    const bool fails = run->Wait();
    if (InterruptGuard::Signal() != 0) break;
    if (fails && failed++ == 0 && options_.on_better != nullptr) {
      BATON_RETURN_IF_ERROR(options_.on_better(best_));
    }
    result_.flaky = failed <= i;
  }
  if (failed == 0 && InterruptGuard::Signal() != 0) {
    return absl::CancelledError("interrupted");
  }
  if (failed == 0) {
    return absl::NotFoundError(
        "the program does not show the failure that is to be reduced");
  }
  return absl::OkStatus();
}

std::optional<size_t> Reducer::First(const std::vector<MakeCase>& makers) {
  struct Pending {
    size_t index;
    ReducedCase reduced;
    uint64_t key;
    std::string passes;
    std::unique_ptr<OracleRun> run;  // null if the answer is known
    bool fails = false;
  };
  const auto jobs = static_cast<size_t>(std::max(options_.jobs, 1));
  std::deque<Pending> pending;
  size_t next = 0;
  while (!OutOfTime()) {
    while (next < makers.size() && pending.size() < jobs) {
      const size_t index = next++;
      std::optional<ReducedCase> reduced = makers[index]();
      if (!reduced.has_value()) continue;
      const ProgramSize size = SizeOf(reduced->module);
      std::string passes = TextOf(reduced->passes);
      const std::string best_passes = TextOf(best_.passes);
      const bool fewer = passes.size() < best_passes.size();
      // Never larger in one way for being smaller in the other.
      if (best_size_ < size || (!fewer && !(size < best_size_))) continue;
      Pending entry{.index = index,
                    .reduced = *std::move(reduced),
                    .key = 0,
                    .passes = std::move(passes),
                    .run = nullptr};
      entry.key = KeyOf(entry.reduced, entry.passes);
      if (const Tested* known =
              FindTested(entry.key, entry.reduced, entry.passes)) {
        ++result_.cached;
        entry.fails = known->fails;
        if (!entry.fails) continue;
      } else {
        auto run = oracle_.Start(entry.reduced);
        if (!run.ok()) {
          error_ = run.status();
          return std::nullopt;
        }
        entry.run = *std::move(run);
      }
      pending.push_back(std::move(entry));
    }
    if (pending.empty()) return std::nullopt;
    Pending entry = std::move(pending.front());
    pending.pop_front();
    if (entry.run != nullptr) {
      ++result_.tests;
      entry.fails = entry.run->Wait();
      if (entry.fails && result_.flaky) {
        // A failure that is not reproduced is no progress.
        auto again = oracle_.Start(entry.reduced);
        ++result_.tests;
        entry.fails = again.ok() && (*again)->Wait();
      }
      // A killed test has no result.
      if (InterruptGuard::Signal() != 0) continue;
      tested_[entry.key].push_back(
          {entry.reduced.module, entry.passes, entry.fails});
    }
    if (entry.fails) {
      Accept(std::move(entry.reduced));
      return entry.index;
    }
  }
  return std::nullopt;
}

bool Reducer::Greedy(
    const std::function<std::vector<Smaller>(const IRModule&)>& make) {
  bool any = false;
  size_t from = 0;
  while (!OutOfTime()) {
    std::vector<MakeCase> makers;
    std::vector<Smaller> smaller = make(best_.module);
    // The earlier variants were tried on a nearly equal program: they are tried
    // again in the next round.
    for (size_t i = from; i < smaller.size(); ++i) {
      makers.push_back(WithModule(std::move(smaller[i])));
    }
    const std::optional<size_t> found = First(makers);
    if (!found.has_value()) break;
    any = true;
    from += *found;
  }
  return any;
}

std::vector<MakeCase> Reducer::FewerPasses() const {
  std::vector<MakeCase> makers;
  const auto add = [&](std::vector<Pass> passes) {
    makers.push_back(
        [module = best_.module,
         passes = std::move(passes)]() -> std::optional<ReducedCase> {
          return ReducedCase{module, passes};
        });
  };
  const std::vector<Pass>& passes = best_.passes;
  // Stretches of passes, long ones first.
  for (size_t size = passes.size(); size >= 1; size /= 2) {
    for (size_t begin = 0; begin < passes.size(); begin += size) {
      const size_t end = std::min(begin + size, passes.size());
      std::vector<Pass> fewer(
          passes.begin(), passes.begin() + static_cast<std::ptrdiff_t>(begin));
      fewer.insert(fewer.end(),
                   passes.begin() + static_cast<std::ptrdiff_t>(end),
                   passes.end());
      add(std::move(fewer));
    }
  }
  for (size_t i = 0; i < passes.size(); ++i) {
    const auto with = [&](const std::vector<Pass>& instead) {
      std::vector<Pass> changed = passes;
      changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
      changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(i),
                     instead.begin(), instead.end());
      add(std::move(changed));
    };
    // The passes of a list: in its place, and without one of them.
    const absl::string_view keyword = passes[i].impl().list_keyword();
    const absl::Span<const Pass> listed = passes[i].impl().listed_passes();
    if (!keyword.empty()) {
      with({listed.begin(), listed.end()});
      const PassListKind* kind = PassListKinds().Find(keyword);
      for (size_t k = 0; kind != nullptr && k < listed.size(); ++k) {
        std::vector<Pass> fewer(listed.begin(), listed.end());
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
        const absl::StatusOr<Pass> list = kind->make(std::move(fewer), {});
        if (list.ok()) with({*list});
      }
      continue;
    }
    // An option less.
    const absl::StatusOr<AttrMap> values = passes[i].impl().options().Values();
    if (!values.ok()) continue;
    for (size_t k = 0; k < values->size(); ++k) {
      AttrMap fewer = *values;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
      const absl::StatusOr<Pass> pass =
          PassRegistry::Global().Create(passes[i].name(), fewer);
      if (pass.ok()) with({*pass});
    }
  }
  return makers;
}

bool Reducer::ReducePasses() {
  bool any = false;
  while (First(FewerPasses()).has_value()) any = true;
  return any;
}

bool Reducer::CutChunks(
    const std::function<ProgramParts(const IRModule&)>& parts_of) {
  bool any = false;
  size_t size = (parts_of(best_.module).count + 1) / 2;
  for (; size >= 2 && !OutOfTime(); size /= 2) {
    size_t begin = 0;
    while (!OutOfTime()) {
      const ProgramParts parts = parts_of(best_.module);
      std::vector<MakeCase> makers;
      std::vector<size_t> begins;
      for (size_t at = begin; at < parts.count; at += size) {
        const size_t end = std::min(at + size, parts.count);
        for (Smaller& smaller : parts.without(at, end)) {
          makers.push_back(WithModule(std::move(smaller)));
          begins.push_back(at);
        }
      }
      const std::optional<size_t> found = First(makers);
      if (!found.has_value()) break;
      any = true;
      // The following parts have moved to the front.
      begin = begins[*found];
    }
  }
  return any;
}

absl::StatusOr<ReduceResult> Reducer::Run() {
  BATON_RETURN_IF_ERROR(CheckStart());
  const auto finish = [this]() -> absl::StatusOr<ReduceResult> {
    BATON_RETURN_IF_ERROR(error_);
    result_.best = best_;
    return std::move(result_);
  };
  ReducePasses();
  CutChunks([this](const IRModule& module) {
    return shrinker_.FunctionParts(module);
  });
  Greedy(
      [this](const IRModule& module) { return shrinker_.Functions(module); });
  // A pass may need a parameter that nothing uses.
  {
    const Function main = best_.module.Find<Function>("main");
    if (main.defined()) {
      const std::optional<IRModule> trimmed =
          shrinker_.ReturnNode(best_.module, main->body());
      if (trimmed.has_value() && SizeOf(*trimmed) < best_size_ &&
          !TryModule([&] { return trimmed; })) {
        shrinker_ = Shrinker(false);
      }
    }
  }
  bool first = true;
  bool any = true;
  while (any && !OutOfTime()) {
    const ProgramSize before = best_size_;
    if (first) {
      Narrow(shrinker_, best_.module, [this](std::optional<IRModule> smaller) {
        return TryModule([&] { return std::move(smaller); });
      }).IgnoreError();  // no test fails
      CutChunks([this](const IRModule& module) {
        return shrinker_.NodeParts(module);
      });
      for (const tir::LoopsPart part :
           {tir::LoopsPart::kStatement, tir::LoopsPart::kExpression}) {
        CutChunks([this, part](const IRModule& module) {
          return shrinker_.LoopsParts(module, part);
        });
      }
    }
    first = false;
    Greedy(
        [this](const IRModule& module) { return shrinker_.EachNode(module); });
    Greedy(
        [this](const IRModule& module) { return shrinker_.Functions(module); });
    Greedy([this](const IRModule& module) { return shrinker_.Loops(module); });
    // Constants are sliced when extents shrink, so these come first.
    Greedy(
        [this](const IRModule& module) { return shrinker_.Extents(module); });
    Greedy([this](const IRModule& module) { return shrinker_.Leaves(module); });
    Greedy([this](const IRModule& module) {
      return shrinker_.Attributes(module);
    });
    any = best_size_ < before;
    any = ReducePasses() || any;
  }
  return finish();
}

// For DropWeights.
constexpr uint64_t kSmallBytes = 256;  // constants with fewer are kept
constexpr int kMaxTests = 12;

class ConstantReplacer final : public relay::ExprMutator {
 public:
  FlatHashMap<const relay::ConstantNode*, relay::Var> params;

 protected:
  Expr VisitConstant(const Constant& constant) override {
    const auto it = params.find(constant.get());
    return it == params.end() ? Expr(constant) : Expr(it->second);
  }
};

// Parameters of `main`, behind those it has, in the place of `constants`.
absl::StatusOr<IRModule> WithParams(const IRModule& module,
                                    absl::Span<const Constant> constants) {
  const Function main = module.Find<Function>(kMain);
  std::vector<relay::Var> params(main->params().begin(), main->params().end());
  ConstantReplacer replacer;
  for (const Constant& constant : constants) {
    relay::Var param(absl::StrCat("weight", params.size()),
                     constant->ValueType());
    replacer.params[constant.get()] = param;
    params.push_back(std::move(param));
  }
  BATON_ASSIGN_OR_RETURN(const Function replaced,
                         replacer.MutateFunction(main));
  IRModule result = module;
  result.Set(kMain,
             Function(std::move(params), replaced->body(), main->result_type(),
                      {main->type_params().begin(), main->type_params().end()},
                      main->attrs(), {}, main->span()));
  return result;
}

}  // namespace

absl::StatusOr<IRModule> DropWeights(
    const IRModule& module,
    absl::FunctionRef<absl::StatusOr<bool>(const IRModule&)> fails) {
  const Function main = module.Find<Function>(kMain);
  if (!main.defined()) return module;
  std::vector<Constant> large;
  relay::PostOrderVisit(main, [&](const ExprNode* node) {
    const auto* constant = Expr(node).As<relay::ConstantNode>();
    if (constant != nullptr && constant->value().byte_size() >= kSmallBytes) {
      large.emplace_back(constant);
    }
  });
  IRModule best = module;
  std::vector<Constant> dropped;
  // Pieces that are not tried yet, the last first.
  std::vector<std::pair<size_t, size_t>> pieces;
  if (!large.empty()) pieces.emplace_back(0, large.size());
  for (int tests = 0; tests < kMaxTests && !pieces.empty(); ++tests) {
    const auto [begin, end] = pieces.back();
    pieces.pop_back();
    std::vector<Constant> tried = dropped;
    for (size_t i = begin; i < end; ++i) tried.push_back(large[i]);
    BATON_ASSIGN_OR_RETURN(IRModule candidate, WithParams(module, tried));
    BATON_ASSIGN_OR_RETURN(const bool still, fails(candidate));
    if (still) {
      best = std::move(candidate);
      dropped = std::move(tried);
    } else if (end - begin > 1) {
      const size_t middle = begin + (end - begin) / 2;
      pieces.emplace_back(middle, end);
      pieces.emplace_back(begin, middle);
    }
  }
  return best;
}

absl::StatusOr<IRModule> CutToFailure(
    const IRModule& module,
    absl::FunctionRef<absl::StatusOr<bool>(const IRModule&)> fails) {
  IRModule best = module;
  BATON_RETURN_IF_ERROR(
      Narrow(Shrinker(/*drops_unused_params=*/true), best,
             [&](std::optional<IRModule> smaller) -> absl::StatusOr<bool> {
               if (!smaller.has_value()) return false;
               BATON_ASSIGN_OR_RETURN(const bool still, fails(*smaller));
               if (still) best = *std::move(smaller);
               return still;
             }));
  return best;
}

std::unique_ptr<Oracle> FailureOracle(Failure failure,
                                      PipelineSettings settings,
                                      ChildLimits limits) {
  return std::make_unique<TheFailureOracle>(std::move(failure),
                                            std::move(settings), limits);
}

absl::StatusOr<ReduceResult> Reduce(const ReducedCase& start,
                                    const Oracle& oracle,
                                    const ReduceOptions& options) {
  return Reducer(start, oracle, options).Run();
}

}  // namespace baton
