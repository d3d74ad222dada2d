#include "baton/relay/pattern/check_rules.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/ir/well_formed.h"
#include "baton/relay/op/algebra.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rewriter.h"
#include "baton/relay/pattern/rule_ast.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/runtime/value_tensors.h"

namespace baton::relay {
namespace {

using Kind = DataflowPattern::Kind;
using Node = DataflowPattern::Node;

// Element types and extents that programs are made of.
const std::vector<DType>& DTypes() {
  static const auto& kDTypes = *new std::vector<DType>{
      DType::Float(32), DType::Float(32), DType::Float(32), DType::Float(16),
      DType::Float(64), DType::Int(32),   DType::Int(64),   DType::Int(8),
      DType::UInt(8),   DType::Bool()};
  return kDTypes;
}

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  // In [0, n).
  int Below(int n) {
    return static_cast<int>(engine_() % static_cast<uint64_t>(n));
  }
  bool OneIn(int n) { return Below(n) == 0; }
  template <typename T>
  const T& Of(const std::vector<T>& values) {
    return values[static_cast<size_t>(Below(static_cast<int>(values.size())))];
  }
  uint32_t Seed() { return static_cast<uint32_t>(engine_()); }

 private:
  std::mt19937_64 engine_;
};

// The conditions on a node of a generated program.
struct Wish {
  Type type;
  std::vector<DType> dtypes;
  std::optional<Dims> shape;
  std::optional<int> rank;
  std::optional<double> splat;
  AttrMap attrs;
};

// Makes a function whose body a pattern may match.
class ProgramMaker {
 public:
  ProgramMaker(const RewriteRule& rule, Random& random)
      : rule_(rule), random_(random) {
    static const std::vector<int>& kExtents =
        *new std::vector<int>{1, 1, 2, 3, 4, 4, 6};
    dtype_ = random_.Of(DTypes());
    const int rank = random_.Of(std::vector<int>{0, 1, 2, 2, 3, 4, 4});
    for (int i = 0; i < rank; ++i) shape_.push_back(random_.Of(kExtents));
    if (rank > 0 && random_.OneIn(8)) {
      shape_[static_cast<size_t>(random_.Below(rank))] = 0;
    }
  }

  // A typed function; null if what was made is ill-typed, or the pattern is
  // none that programs are made from.
  Function Make() {
    const Expr body = Build(rule_.pattern);
    if (!body.defined()) return {};
    const absl::StatusOr<IRModule> typed =
        InferTypes(ModuleFromExpr(Function(params_, body)));
    if (!typed.ok()) return {};
    return typed->Find<Function>("main");
  }

 private:
  static void Add(const PatternCondition& condition, Wish& wish) {
    struct {
      Wish& wish;
      void operator()(const PatternCondition::HasType& c) {
        wish.type = c.type;
      }
      void operator()(const PatternCondition::HasDType& c) {
        wish.dtypes = c.dtypes;
      }
      void operator()(const PatternCondition::HasShape& c) {
        wish.shape = c.shape;
      }
      void operator()(const PatternCondition::HasRank& c) {
        wish.rank = c.rank;
      }
      void operator()(const PatternCondition::HasAttr& c) {
        wish.attrs.emplace_back(c.name, c.value);
      }
      void operator()(const PatternCondition::IsSplat& c) {
        wish.splat = c.value;
      }
      void operator()(const PatternCondition::HasUses&) {}
      void operator()(const PatternCondition::Holds&) {}
    } visitor = {wish};
    std::visit(visitor, condition.form);
  }

  // Children first; of alternatives, one is made.
  Expr Build(const DataflowPattern& root) {
    struct Frame {
      const Node* node;
      bool leave;
    };
    std::vector<Frame> work = {{root.get(), false}};
    while (!work.empty()) {
      const Frame frame = work.back();
      work.pop_back();
      const Node* node = frame.node;
      if (node == nullptr) return {};
      if (made_.contains(node)) continue;
      const absl::Span<const DataflowPattern> children = node->children();
      if (!frame.leave) {
        if (node->kind() == Kind::kSelf || node->kind() == Kind::kRegion) {
          Expr made = node->kind() == Kind::kSelf ? Round(*node->repeat())
                                                  : Region(children);
          if (!made.defined()) return {};
          made_.emplace(node, std::move(made));
          continue;
        }
        work.push_back({node, true});
        MarkBoundAndCalled(*node);
        if (node->kind() == Kind::kAlt) {
          const size_t chosen = static_cast<size_t>(
              random_.Below(static_cast<int>(children.size())));
          chosen_[node] = chosen;
          wishes_[children[chosen].get()] = wishes_[node];
          work.push_back({children[chosen].get(), false});
          continue;
        }
        if (node->kind() == Kind::kWhere) {
          Wish wish = wishes_[node];
          Add(node->condition(), wish);
          wishes_[children[0].get()] = std::move(wish);
        }
        for (size_t i = children.size(); i-- > 0;) {
          work.push_back({children[i].get(), false});
        }
        continue;
      }
      Expr made = Form(*node, children);
      if (!made.defined()) return {};
      made_.emplace(node, std::move(made));
    }
    return made_[root.get()];
  }

  // One more round of a repetition, in nodes of its own; null after some.
  Expr Round(const Node& repeat) {
    constexpr int kMaxRounds = 3;
    if (++rounds_ > kMaxRounds) return {};
    return Anew(repeat.children()[0], {});
  }

  // A region: the parent, some nodes of the path, the child. What may be
  // anything in a path and in the child is what comes before.
  Expr Region(absl::Span<const DataflowPattern> parts) {
    Expr end = Build(parts[0]);
    for (int n = random_.Below(3); n > 0 && end.defined(); --n) {
      end = Anew(parts[1], end);
    }
    return end.defined() ? Anew(parts[2], end) : end;
  }

  // Builds `pattern` once more. If `anything` is not null, its wildcards that
  // nothing else has made are that.
  Expr Anew(const DataflowPattern& pattern, const Expr& anything) {
    auto outside = made_;
    FlatHashSet<const Node*> seen;
    std::vector<const Node*> work = {pattern.get()};
    while (!work.empty()) {
      const Node* node = work.back();
      work.pop_back();
      if (!seen.insert(node).second) continue;
      if (!anything.defined()) {
        made_.erase(node);
      } else if (node->kind() == Kind::kWildcard && node->name().empty()) {
        made_.emplace(node, anything);
      }
      for (const DataflowPattern& child : node->children()) {
        work.push_back(child.get());
      }
    }
    Expr result = Build(pattern);
    made_ = std::move(outside);
    return result;
  }

  // Marks the patterns that stand for variables which functions and lets bind,
  // and those that stand for callees.
  void MarkBoundAndCalled(const Node& node) {
    const absl::Span<const DataflowPattern> children = node.children();
    const auto form = [](const DataflowPattern& pattern) {
      const Node* at = pattern.get();
      while (at != nullptr && at->kind() == Kind::kWhere) {
        at = at->children()[0].get();
      }
      return at;
    };
    if (node.kind() == Kind::kFunction) {
      for (size_t i = 1; i < children.size(); ++i) {
        bound_.insert(form(children[i]));
      }
    } else if (node.kind() == Kind::kLet) {
      bound_.insert(form(children[0]));
    } else if (node.kind() == Kind::kCall) {
      called_.emplace(form(children[0]), children.size() - 1);
    }
  }

  // An operator of `arity`: one of those that conditions name, if there are.
  Expr RandomOp(size_t arity) {
    std::vector<Op> ops;
    if (rule_.ast != nullptr) {
      const auto add = [&](const AttrValue& value) {
        const auto* name = value.As<std::string>();
        const Op op = name == nullptr ? Op() : Op::Find(*name);
        if (op.defined()) ops.push_back(op);
      };
      for (const internal::RuleCondition& condition : rule_.ast->where) {
        if (condition.lhs.kind != internal::RuleTerm::Kind::kOp) {
          continue;
        }
        add(condition.rhs.value);
        if (const auto* list = condition.rhs.value.As<AttrList>()) {
          for (const AttrValue& value : *list) add(value);
        }
      }
    }
    if (ops.empty()) {
      for (const OpNode* op : OpRegistry::Global().List()) {
        if (op->arity() == static_cast<int>(arity)) ops.push_back(Op(op));
      }
    }
    if (ops.empty()) return {};
    return random_.Of(ops);
  }

  Expr Form(const Node& node, absl::Span<const DataflowPattern> children) {
    const auto child = [&](size_t i) { return made_[children[i].get()]; };
    const Wish& wish = wishes_[&node];
    switch (node.kind()) {
      case Kind::kWildcard:
      case Kind::kVar: {
        if (bound_.contains(&node)) {
          return Var(node.name().empty() ? "b" : node.name(), RandomType(wish));
        }
        if (const auto it = called_.find(&node); it != called_.end()) {
          return RandomOp(it->second);
        }
        const bool has_range = std::any_of(
            rule_.promise.ranges.begin(), rule_.promise.ranges.end(),
            [&](const auto& range) { return range.name == node.name(); });
        if (node.kind() == Kind::kWildcard && !has_range && random_.OneIn(12)) {
          return RandomConstant(wish);
        }
        const std::string name = node.name().empty()
                                     ? absl::StrCat("v", params_.size())
                                     : node.name();
        // Some operators say what an argument must be.
        const bool open = !wish.type.defined() && wish.dtypes.empty() &&
                          !wish.shape.has_value() && random_.OneIn(4);
        params_.emplace_back(name, open ? Type() : RandomType(wish));
        return params_.back();
      }
      case Kind::kConstant:
        return RandomConstant(wish);
      case Kind::kExpr:
        return node.expr();
      case Kind::kCall: {
        const auto* op = child(0).As<OpNode>();
        std::vector<Expr> args;
        for (size_t i = 1; i < children.size(); ++i) args.push_back(child(i));
        if (const auto* function = child(0).As<FunctionNode>()) {
          if (node.any_operands()) {
            for (const Var& param : function->params()) {
              params_.emplace_back(absl::StrCat("v", params_.size()),
                                   param->annotation());
              args.push_back(params_.back());
            }
          }
          return Call(child(0), args);
        }
        if (op == nullptr || op->index() < 0) return {};
        if (node.any_operands()) {
          for (int i = 0; i < std::max(op->arity(), 1); ++i) {
            params_.emplace_back(absl::StrCat("v", params_.size()),
                                 RandomType({}));
            args.push_back(params_.back());
          }
        }
        if (CommutativeOps().Get(*op) != nullptr && args.size() == 2 &&
            random_.OneIn(2)) {
          std::swap(args[0], args[1]);
        }
        std::optional<Attrs> attrs = RandomAttrs(*op, wish.attrs);
        if (!attrs.has_value()) return {};
        return Call(Op(op), args, *std::move(attrs));
      }
      case Kind::kTuple: {
        std::vector<Expr> fields;
        for (size_t i = 0; i < children.size(); ++i) fields.push_back(child(i));
        if (node.any_operands()) {
          for (int i = random_.Below(3); i >= 0; --i) {
            params_.emplace_back(absl::StrCat("v", params_.size()),
                                 TensorType::Of(shape_, dtype_));
            fields.push_back(params_.back());
          }
        }
        return Tuple(std::move(fields));
      }
      case Kind::kTupleGetItem:
        return TupleGetItem(child(0), std::max(node.index(), 0));
      case Kind::kIf:
        return If(child(0), child(1), child(2));
      case Kind::kLet: {
        const auto* var = child(0).As<VarNode>();
        if (var == nullptr) return {};
        // Its type is that of the value.
        return Let(Var(var), child(1), child(2));
      }
      case Kind::kFunction: {
        std::vector<Var> params;
        for (size_t i = 1; i < children.size(); ++i) {
          const auto* var = child(i).As<VarNode>();
          if (var == nullptr) return {};
          params.emplace_back(var);
        }
        if (node.any_operands()) params.emplace_back("b", RandomType({}));
        DictAttrs attrs{wish.attrs};
        return Function(std::move(params), child(0), {}, {}, std::move(attrs));
      }
      case Kind::kAlt:
        return child(chosen_[&node]);
      case Kind::kWhere:
      case Kind::kRepeat:
        return child(0);
      case Kind::kSelf:
      case Kind::kRegion:
        return {};  // made in Build()
    }
    return {};
  }

  DType RandomDType(const Wish& wish) {
    if (!wish.dtypes.empty()) {
      if (std::find(wish.dtypes.begin(), wish.dtypes.end(), dtype_) !=
          wish.dtypes.end()) {
        return dtype_;
      }
      return dtype_ = random_.Of(wish.dtypes);
    }
    return random_.OneIn(20) ? random_.Of(DTypes()) : dtype_;
  }

  // The shape of the program, or one that is broadcast to it, or another.
  std::vector<int64_t> RandomShape(const Wish& wish) {
    std::vector<int64_t> shape;
    if (wish.shape.has_value()) {
      for (const Dim& dim : *wish.shape) {
        shape.push_back(dim.is_const() ? dim.value() : 1 + random_.Below(4));
      }
      return shape;
    }
    shape = shape_;
    if (random_.OneIn(3) && !shape.empty()) {
      const int drop = random_.Below(static_cast<int>(shape.size()) + 1);
      shape.erase(shape.begin(), shape.begin() + drop);
      for (int64_t& extent : shape) {
        if (random_.OneIn(3)) extent = 1;
      }
    }
    if (wish.rank.has_value()) {
      shape.resize(static_cast<size_t>(*wish.rank), 1 + random_.Below(3));
    }
    return shape;
  }

  Type RandomType(const Wish& wish) {
    if (wish.type.defined()) return wish.type;
    return TensorType::Of(RandomShape(wish), RandomDType(wish));
  }

  Expr RandomConstant(const Wish& wish) {
    DType dtype = RandomDType(wish);
    std::vector<int64_t> shape;
    if (!wish.rank.has_value() && random_.OneIn(3)) shape = RandomShape(wish);
    if (wish.rank.value_or(0) > 0) shape = RandomShape(wish);
    absl::StatusOr<Tensor> tensor = RandomTensor(dtype, shape, random_.Seed());
    if (!tensor.ok()) return {};
    if (wish.splat.has_value()) {
      const Tensor scalar = Tensor::ScalarOf(dtype, *wish.splat);
      if (scalar.AtAsDouble(0) != *wish.splat) return {};
      absl::StatusOr<MutableTensor> splat = MutableTensor::Create(dtype, shape);
      if (!splat.ok() || splat->num_elements() == 0) return {};
      for (int64_t i = 0; i < splat->num_elements(); ++i) {
        std::memcpy(static_cast<char*>(splat->data()) + i * dtype.bytes(),
                    scalar.data(), static_cast<size_t>(dtype.bytes()));
      }
      tensor = std::move(*splat).Freeze();
    }
    return Constant(*std::move(tensor));
  }

  // Attributes that `wanted` allows; nullopt if there are none.
  std::optional<Attrs> RandomAttrs(const OpNode& op, const AttrMap& wanted) {
    if (op.attrs_type() == nullptr) return Attrs();
    AttrMap values = wanted;
    for (const Field& field : op.attrs_type()->fields().fields()) {
      const bool given = std::any_of(
          values.begin(), values.end(),
          [&](const auto& entry) { return entry.first == field.name(); });
      if (given || (!field.required() && !random_.OneIn(4))) continue;
      AttrValue value = RandomValue(field.type_name());
      if (!value.is_none()) values.emplace_back(field.name(), std::move(value));
    }
    absl::StatusOr<Attrs> attrs = op.attrs_type()->FromValues(values);
    if (!attrs.ok()) return std::nullopt;
    return *std::move(attrs);
  }

  AttrValue RandomValue(absl::string_view type) {
    const bool optional = absl::EndsWith(type, "?");
    if (optional) type.remove_suffix(1);
    if (type == "bool") return AttrValue(random_.OneIn(2));
    if (type == "int" || type == "dim") return AttrValue(random_.Below(4) - 1);
    if (type == "float") return AttrValue((random_.Below(9) - 2) * 0.5);
    if (type == "dtype") return AttrValue(random_.Of(DTypes()));
    if (type == "[int]" || type == "[dim]") {
      AttrList list;
      switch (random_.Below(4)) {
        case 0:
          list.emplace_back(-1);
          break;
        case 1:  // a permutation
          for (size_t i = 0; i < shape_.size(); ++i) {
            list.emplace_back(static_cast<int64_t>(shape_.size() - 1 - i));
          }
          break;
        case 2:
          for (const int64_t extent : shape_) list.emplace_back(extent);
          break;
        default:
          for (size_t i = 0; i < shape_.size(); ++i) {
            list.emplace_back(random_.Below(3));
          }
      }
      return AttrValue(std::move(list));
    }
    return AttrValue();
  }

  const RewriteRule& rule_;
  Random& random_;
  DType dtype_;
  std::vector<int64_t> shape_;
  std::vector<Var> params_;
  FlatHashMap<const Node*, Expr> made_;
  FlatHashMap<const Node*, Wish> wishes_;
  FlatHashMap<const Node*, size_t> chosen_;
  FlatHashSet<const Node*> bound_;
  FlatHashMap<const Node*, size_t> called_;  // number of arguments
  int rounds_ = 0;                           // of repetitions, beyond the first
};

// Comparing results.

// Why `b` is not what `a` is; empty if it is.
std::string Difference(const Tensor& a, const Tensor& b,
                       const RulePromise& promise) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) {
    return absl::StrCat("a ", a.TypeToString(), " became a ", b.TypeToString());
  }
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    bool same;
    if (!a.dtype().is_float()) {
      same = a.AtAsInt64(i) == b.AtAsInt64(i);
    } else {
      const double x = a.AtAsDouble(i);
      const double y = b.AtAsDouble(i);
      if (std::isnan(x) || std::isnan(y)) {
        same = std::isnan(x) && std::isnan(y);
      } else if (x == y) {
        same = !promise.exact || std::signbit(x) == std::signbit(y);
      } else {
        same = !promise.exact && !std::isinf(x) && !std::isinf(y) &&
               std::abs(x - y) <= promise.atol + promise.rtol * std::abs(x);
      }
    }
    if (!same) {
      return absl::StrCat("element ", i, " was ", a.AtAsDouble(i),
                          " and became ", b.AtAsDouble(i));
    }
  }
  return "";
}

template <typename T>
void PutSpecial(Tensor& tensor, const RulePromise& promise,
                const RulePromise::Range* range, Random& random) {
  absl::StatusOr<MutableTensor> copy =
      MutableTensor::Create(tensor.dtype(), tensor.shape());
  if (!copy.ok()) return;
  const double huge = sizeof(T) == 2 ? 6e4 : 1e30;
  const std::vector<double> specials = {
      0.0,
      -0.0,
      1.0,
      -1.0,
      huge,
      -huge,
      sizeof(T) == 2 ? 6e-8 : 1e-42,
      std::numeric_limits<double>::infinity(),
      -std::numeric_limits<double>::infinity(),
      std::numeric_limits<double>::quiet_NaN()};
  T* to = copy->template span<T>().data();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    double value = 4 * tensor.AtAsDouble(i);
    if (random.OneIn(4)) value = random.Of(specials);
    if (std::isnan(value) && (promise.excludes_nan || range != nullptr)) {
      value = 0.5;
    }
    if (std::isinf(value) && promise.excludes_infinity) value = 2;
    if (range != nullptr) {
      value = std::min(std::max(value, range->low), range->high);
    }
    to[i] = T(static_cast<float>(value));
  }
  tensor = std::move(*copy).Freeze();
}

std::vector<Value> Inputs(const Function& function, const RewriteRule& rule,
                          bool special, Random& random, bool& good) {
  absl::StatusOr<std::vector<Value>> inputs =
      RandomInputs(function, random.Seed());
  good = inputs.ok();
  if (!good) return {};
  for (size_t i = 0; i < inputs->size(); ++i) {
    Value& value = (*inputs)[i];
    if (!value.is_tensor()) continue;
    const RulePromise::Range* range = nullptr;
    for (const RulePromise::Range& r : rule.promise.ranges) {
      if (r.name == function->params()[i]->name()) range = &r;
    }
    if (!special && range == nullptr) continue;
    Tensor tensor = value.tensor();
    if (tensor.dtype() == DType::Float(32)) {
      PutSpecial<float>(tensor, rule.promise, range, random);
    } else if (tensor.dtype() == DType::Float(64)) {
      PutSpecial<double>(tensor, rule.promise, range, random);
    } else if (tensor.dtype() == DType::Float(16)) {
      PutSpecial<Float16>(tensor, rule.promise, range, random);
    } else {
      continue;
    }
    value = Value(std::move(tensor));
  }
  return *std::move(inputs);
}

class RuleChecker {
 public:
  RuleChecker(const std::vector<RewriteRule>& rules,
              const CheckRulesOptions& options)
      : rules_(rules), options_(options), all_(rules) {
    for (const RewriteRule& rule : rules) {
      alone_.emplace_back(std::vector<RewriteRule>{rule});
    }
  }

  RuleReport Check(size_t i) {
    const RewriteRule& rule = rules_[i];
    report_ = {.rule = rule.name};
    laws_.clear();
    overlaps_.clear();
    Random random(options_.seed * 0x9E3779B97F4A7C15u + i);
    for (int attempt = 0;
         attempt < options_.attempts && report_.programs < options_.programs;
         ++attempt) {
      const Function before = ProgramMaker(rule, random).Make();
      if (before.defined()) CheckOn(i, before, random);
    }
    if (report_.programs == 0 && report_.broken.empty()) {
      report_.broken.push_back(
          "applies: no program was found that the rule applies to");
    }
    return std::move(report_);
  }

 private:
  // Each law is reported once.
  void Broken(const char* law, const std::string& what,
              const Function& program) {
    if (!laws_.insert(law).second) return;
    report_.broken.push_back(absl::StrCat(
        law, ": ", what, "\n",
        AsText(ModuleFromExpr(program), {.version = false, .types = false})));
  }

  void CheckOn(size_t i, const Function& before, Random& random) {
    const RewriteRule& rule = rules_[i];
    bool applied = false;
    RewriteOptions watch;
    watch.on_application = [&](const RewriteRule&, const Expr&, const Expr&) {
      applied = true;
    };
    const absl::StatusOr<Expr> after = alone_[i].Rewrite(before, watch);
    if (!after.ok()) {
      ++report_.programs;
      const bool ends =
          absl::StrContains(after.status().message(), "replaces") ||
          absl::StrContains(after.status().message(), "ill-typed");
      Broken(ends ? "types" : "ends", std::string(after.status().message()),
             before);
      return;
    }
    if (!applied) return;
    ++report_.programs;
    const Function result(after->As<FunctionNode>());
    if (!TypeEqual(before->type(), result->type())) {
      Broken("types",
             absl::StrCat(before->type().ToString(), " became ",
                          result->type().ToString()),
             before);
      return;
    }
    if (const absl::Status good = CheckWellFormed(ModuleFromExpr(result));
        !good.ok()) {
      Broken("well-formed", std::string(good.message()), before);
      return;
    }
    Compare(rule, before, result, random);

    const absl::StatusOr<Expr> together = all_.Rewrite(before);
    if (!together.ok()) {
      Broken("ends with the others", std::string(together.status().message()),
             before);
      return;
    }
    // Other rules that match the same node.
    for (size_t k = i + 1; k < rules_.size(); ++k) {
      if (overlaps_.count(k) > 0 ||
          !all_.matcher(static_cast<int>(k)).At(before->body()).has_value()) {
        continue;
      }
      const absl::StatusOr<Expr> other = ApplyRules({rules_[k], rule}, before);
      const absl::StatusOr<Expr> this_first =
          ApplyRules({rule, rules_[k]}, before);
      if (other.ok() && this_first.ok() &&
          !StructuralEqual(*other, *this_first)) {
        overlaps_.insert(k);
        report_.overlaps.push_back(
            absl::StrCat("@", rule.name, " and @", rules_[k].name,
                         " match the same node, and give different results"));
      }
    }
  }

  void Compare(const RewriteRule& rule, const Function& before,
               const Function& after, Random& random) {
    if (!HasKernels(before) || !HasKernels(after)) return;
    const IRModule module_before = ModuleFromExpr(before);
    const IRModule module_after = ModuleFromExpr(after);
    for (const bool special : {false, true}) {
      bool good = false;
      const std::vector<Value> inputs =
          Inputs(before, rule, special, random, good);
      if (!good) return;
      const absl::StatusOr<Value> a =
          EvaluateFunction(module_before, "main", inputs);
      const absl::StatusOr<Value> b =
          EvaluateFunction(module_after, "main", inputs);
      if (!a.ok()) continue;  // there is nothing to keep
      if (!b.ok()) {
        Broken("values",
               absl::StrCat("the result cannot be computed: ",
                            b.status().message()),
               before);
        return;
      }
      ++report_.evaluated;
      const std::vector<Tensor> tensors_a = TensorsOf(*a);
      const std::vector<Tensor> tensors_b = TensorsOf(*b);
      std::string difference;
      if (tensors_a.size() != tensors_b.size()) {
        difference = "the number of results differs";
      }
      for (size_t k = 0; k < tensors_a.size() && difference.empty(); ++k) {
        difference = Difference(tensors_a[k], tensors_b[k], rule.promise);
      }
      if (!difference.empty()) {
        Broken(special ? "values (NaN, infinities, zeros, large numbers)"
                       : "values",
               difference, before);
        return;
      }
    }
  }

  const std::vector<RewriteRule>& rules_;
  const CheckRulesOptions& options_;
  const RuleSet all_;
  std::vector<RuleSet> alone_;
  RuleReport report_;
  std::set<std::string> laws_;
  std::set<size_t> overlaps_;
};

}  // namespace

std::vector<RuleReport> CheckRules(const std::vector<RewriteRule>& rules,
                                   const CheckRulesOptions& options) {
  RuleChecker checker(rules, options);
  std::vector<RuleReport> reports;
  for (size_t i = 0; i < rules.size(); ++i) {
    reports.push_back(checker.Check(i));
  }
  return reports;
}

}  // namespace baton::relay
