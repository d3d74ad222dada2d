#include "baton/relay/transform/transform_layout.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::relay {
namespace {

// Makes layout_transform calls. The same tensor is transformed in the same way
// but once.
class Transformer {
 public:
  // `expr`, which has layout `from`, in layout `to`. A tensor of lower rank
  // gets the missing axes in front; a scalar needs none.
  absl::StatusOr<Expr> Transform(const Expr& expr, const Layout& from,
                                 const Layout& to) {
    if (from == to) return expr;
    const bool expands = from.ndim_primal() < to.ndim_primal();
    if (expands && IsScalar(expr)) return expr;
    Entries& entries = memo_[expr.get()];
    for (const Entry& entry : entries) {
      if (entry.from == from && entry.to == to) return entry.result;
    }
    Expr result = expr;
    Layout expanded = from;
    if (expands) {
      expanded = from.ExpandPrimal(to);
      result = ExpandDims(std::move(result), 0,
                          to.ndim_primal() - from.ndim_primal());
    }
    if (expanded != to) {
      if (!expanded.ConvertibleTo(to)) {
        return absl::InvalidArgumentError(
            absl::StrCat("there is no way from layout \"", from.ToString(),
                         "\" to layout \"", to.ToString(), "\""));
      }
      result = LayoutTransform(std::move(result), AttrsFor(expanded, to));
    }
    // `result` holds `expr`, so that the key stays taken.
    entries.push_back({from, to, result});
    return result;
  }

 private:
  struct Entry {
    Layout from;
    Layout to;
    Expr result;
  };
  using Entries = absl::InlinedVector<Entry, 1>;

  static bool IsScalar(const Expr& expr) {
    const TensorTypeNode* type = expr->tensor_type();
    return type != nullptr && type->rank() == 0;
  }

  Attrs AttrsFor(const Layout& from, const Layout& to) {
    for (const auto& [key, attrs] : attrs_) {
      if (key.first == from && key.second == to) return attrs;
    }
    Attrs attrs = Attrs::Make(LayoutTransformAttrs{
        .src_layout = from.ToString(), .dst_layout = to.ToString()});
    attrs_.push_back({{from, to}, attrs});
    return attrs;
  }

  FlatHashMap<const ExprNode*, Entries> memo_;
  std::vector<std::pair<std::pair<Layout, Layout>, Attrs>> attrs_;
};

// Rewrites from the leaves up. What stands for a node may have another layout
// than the node itself had; it goes back to the old layout (is realized) only
// where a user cannot work with the new one.
class LayoutConverter {
 public:
  LayoutConverter(const IndexedGraph& graph, const CallChange& change)
      : change_(change), graph_(graph), values_(graph_.size()) {}

  absl::StatusOr<Function> Run() {
    for (int i = 0; i < graph_.size(); ++i) {
      BATON_RETURN_IF_ERROR(Rewrite(i));
      if (WantsOrigins()) RecordOrigin(i);
    }
    BATON_ASSIGN_OR_RETURN(Expr result, Realize(graph_.root()));
    return Function(result.As<FunctionNode>());
  }

 private:
  static constexpr int kNone = -1;

  // The replacement of a node, or of a field of a tuple.
  struct Value {
    Expr expr;           // null: the node itself
    int change = kNone;  // in changes_: which layout `expr` has
    int tuple = kNone;   // in tuples_: instead of `expr`
  };

  // The layout that a node has in the unchanged program, and the one that the
  // expression that stands for it has.
  struct Change {
    Layout before;
    Layout after;
  };

  // A tuple with fields whose layouts are known.
  struct TupleValue {
    const ExprNode* original;  // the Tuple, or the call with that result
    Expr call;                 // the call as it is now; null for a Tuple
    // In the fields of a call, a null expression is one not made yet.
    std::vector<Value> fields;
    Expr realized;
  };

  // Records node `i` as the origin of its replacement.
  void RecordOrigin(int i) const {
    const Value& value = values_[i];
    if (value.expr.defined()) LogOrigins(value.expr, graph_.node(i));
    if (value.tuple == kNone) return;
    const TupleValue& tuple = tuples_[value.tuple];
    if (tuple.call.defined()) LogOrigins(tuple.call, graph_.node(i));
  }

  absl::Status Rewrite(int i) {
    switch (ExprKindOf(graph_.node(i))) {
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kConstant:
      case ExprKind::kOp:
        return absl::OkStatus();
      case ExprKind::kTuple:
        RewriteTuple(i);
        return absl::OkStatus();
      case ExprKind::kTupleGetItem:
        RewriteTupleGetItem(i);
        return absl::OkStatus();
      case ExprKind::kCall: {
        BATON_ASSIGN_OR_RETURN(const bool rewritten, RewriteCall(i));
        if (rewritten) return absl::OkStatus();
        break;
      }
      default:
        break;
    }
    return RebuildFromRealized(i);
  }

  bool HasLayout(const Value& value) const {
    return value.change != kNone || value.tuple != kNone;
  }

  // True if the nodes of the original program are the arguments of call `i`.
  bool ArgsAreOriginal(int i) const {
    return absl::c_all_of(graph_.args(i), [this](int arg) {
      const Value& value = values_[arg];
      return value.tuple == kNone &&
             (!value.expr.defined() || value.expr.get() == graph_.node(arg));
    });
  }

  // The expression that stands for node `i`, not for a tuple.
  Expr ExprOf(int i) const {
    return values_[i].expr.defined() ? values_[i].expr : Expr(graph_.node(i));
  }

  void RewriteTuple(int i) {
    const absl::Span<const int> fields = graph_.children(i);
    bool changed = false;
    bool has_layouts = false;
    for (const int field : fields) {
      changed |= values_[field].expr.defined();
      has_layouts |= HasLayout(values_[field]);
    }
    if (has_layouts) {
      TupleValue tuple{.original = graph_.node(i)};
      tuple.fields.reserve(fields.size());
      for (const int field : fields) {
        Value value = values_[field];
        if (value.tuple == kNone) value.expr = ExprOf(field);
        tuple.fields.push_back(std::move(value));
      }
      values_[i].tuple = static_cast<int>(tuples_.size());
      tuples_.push_back(std::move(tuple));
    } else if (changed) {
      scratch_.clear();
      for (const int field : fields) scratch_.push_back(ExprOf(field));
      values_[i].expr = WithChildren(graph_.node(i), scratch_);
    }
  }

  // A field of a tuple literal is taken directly.
  void RewriteTupleGetItem(int i) {
    const auto* item = graph_.As<TupleGetItemNode>(i);
    const int from = graph_.children(i)[0];
    const Value& value = values_[from];
    if (value.tuple != kNone) {
      TupleValue& tuple = tuples_[value.tuple];
      Value& field = tuple.fields[item->index()];
      if (!field.expr.defined() && tuple.call == item->tuple()) {
        field.expr = Expr(item);
      }
      values_[i] = MakeField(value.tuple, item->index());
      return;
    }
    const Expr expr = ExprOf(from);
    if (const auto* tuple = expr.As<TupleNode>()) {
      values_[i].expr = tuple->fields()[item->index()];
    } else if (value.expr.defined()) {
      values_[i].expr = WithChildren(item, {expr});
    }
  }

  // A field of a tuple; if it is a result of a call, its expression exists
  // afterwards.
  const Value& MakeField(int tuple_id, int index) {
    TupleValue& tuple = tuples_[tuple_id];
    Value& field = tuple.fields[index];
    if (!field.expr.defined() && field.tuple == kNone) {
      field.expr = TupleGetItem(tuple.call, index);
    }
    return field;
  }

  absl::StatusOr<bool> RewriteCall(int i);
  // Changes call `i` of an operator of which layouts are not known.
  absl::StatusOr<bool> ChangeRealized(int i);

  // The tensors that a call takes, tuples taken apart.
  struct Input {
    Expr expr;
    int change = kNone;
  };

  absl::Status CollectInputs(int call) {
    inputs_.clear();
    for (const int arg : graph_.args(call)) {
      const Value& value = values_[arg];
      if (value.tuple != kNone) {
        const int num_fields =
            static_cast<int>(tuples_[value.tuple].fields.size());
        for (int k = 0; k < num_fields; ++k) {
          const Value& field = MakeField(value.tuple, k);
          Input input{field.expr, field.change};
          if (field.tuple != kNone) {
            // Tuples in tuples are not followed.
            BATON_ASSIGN_OR_RETURN(input.expr, RealizeTuple(field.tuple));
          }
          inputs_.push_back(std::move(input));
        }
        continue;
      }
      Expr expr = ExprOf(arg);
      if (const auto* tuple = expr.As<TupleNode>()) {
        for (const Expr& field : tuple->fields()) inputs_.push_back({field});
      } else {
        inputs_.push_back({std::move(expr), value.change});
      }
    }
    return absl::OkStatus();
  }

  // Input `k` in the layout in which its user wants it. `before` and `after`
  // are the layouts in which the user takes this input in the unchanged
  // program, and those in which it takes it now. They need not be what the
  // producer calls the layouts: after a transpose of NCHW, the producer says
  // NWHC and a convolution may say NCHW.
  absl::StatusOr<Expr> Arrange(size_t k, const Layout& before,
                               const Layout& after) {
    const Input& input = inputs_[k];
    if (input.change == kNone) {
      return transformer_.Transform(input.expr, before, after);
    }
    const Change& change = changes_[input.change];
    if (before == change.before) {
      return transformer_.Transform(input.expr, change.after, after);
    }
    BATON_ASSIGN_OR_RETURN(
        const Expr old,
        transformer_.Transform(input.expr, change.after, change.before));
    return transformer_.Transform(old, before, after);
  }

  // Argument `arg` of a call, whose inputs begin at `first`. Sets `first` to
  // where the next argument's begin.
  absl::StatusOr<Expr> ArrangeArg(int arg, const InferredLayouts& before,
                                  const InferredLayouts& after, size_t& first) {
    const Value& value = values_[arg];
    const TupleValue* results =
        value.tuple != kNone ? &tuples_[value.tuple] : nullptr;
    const Expr expr =
        results != nullptr ? Expr(results->original) : ExprOf(arg);
    const auto* tuple = expr.As<TupleNode>();
    if (tuple == nullptr && results == nullptr) {
      const size_t k = first++;
      return Arrange(k, before.inputs[k], after.inputs[k]);
    }
    const size_t num_fields =
        tuple != nullptr ? tuple->fields().size() : results->fields.size();
    std::vector<Expr> fields;
    fields.reserve(num_fields);
    bool changed = results != nullptr && results->call != expr;
    for (size_t end = first + num_fields; first < end; ++first) {
      BATON_ASSIGN_OR_RETURN(Expr field, Arrange(first, before.inputs[first],
                                                 after.inputs[first]));
      changed |= field != inputs_[first].expr;
      fields.push_back(std::move(field));
    }
    if (tuple != nullptr) return WithChildren(tuple, fields);
    return changed ? Expr(Tuple(std::move(fields))) : expr;
  }

  // As ArrangeArg, for an argument that the rule of the call made.
  absl::StatusOr<Expr> ArrangeNewArg(const Expr& arg,
                                     const InferredLayouts& before,
                                     const InferredLayouts& after,
                                     size_t& first) {
    const auto* tuple = arg.As<TupleNode>();
    if (tuple == nullptr) {
      const size_t k = first++;
      return Arrange(k, before.inputs[k], after.inputs[k]);
    }
    std::vector<Expr> fields;
    for (size_t end = first + tuple->fields().size(); first < end; ++first) {
      BATON_ASSIGN_OR_RETURN(Expr field, Arrange(first, before.inputs[first],
                                                 after.inputs[first]));
      fields.push_back(std::move(field));
    }
    return WithChildren(tuple, fields);
  }

  // The arguments of call `i` as they are now, in whatever layouts.
  absl::StatusOr<std::vector<Expr>> ArgsFromInputs(int i) {
    std::vector<Expr> args;
    size_t next = 0;
    for (const int arg : graph_.args(i)) {
      const Value& value = values_[arg];
      const Expr expr = value.tuple != kNone
                            ? Expr(tuples_[value.tuple].original)
                            : ExprOf(arg);
      const auto* tuple = expr.As<TupleNode>();
      if (value.tuple == kNone && tuple == nullptr) {
        args.push_back(inputs_[next++].expr);
        continue;
      }
      const size_t size = value.tuple != kNone
                              ? tuples_[value.tuple].fields.size()
                              : tuple->fields().size();
      std::vector<Expr> fields;
      for (size_t k = 0; k < size; ++k) fields.push_back(inputs_[next++].expr);
      args.push_back(tuple != nullptr ? WithChildren(tuple, fields)
                                      : Expr(Tuple(std::move(fields))));
    }
    return args;
  }

  // Sets the inputs to those of `args`, as many as they were, and keeps their
  // layouts. Rules of layouts read the types of the unchanged call's arguments,
  // so `args` must be tuples where `old_args` are.
  absl::Status TakeInputsFrom(absl::Span<const Expr> args,
                              absl::Span<const Expr> old_args) {
    std::vector<Expr> exprs;
    for (const Expr& arg : args) {
      if (const auto* tuple = arg.As<TupleNode>()) {
        exprs.insert(exprs.end(), tuple->fields().begin(),
                     tuple->fields().end());
      } else {
        exprs.push_back(arg);
      }
    }
    if (exprs.size() != inputs_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a call of ", inputs_.size(),
                       " tensors is replaced by one of ", exprs.size()));
    }
    if (!absl::c_equal(args, old_args, [](const Expr& a, const Expr& b) {
          return a.Is<TupleNode>() == b.Is<TupleNode>();
        })) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a call of ", old_args.size(), " arguments is replaced by one of ",
          args.size(), ", or tuples by tensors"));
    }
    for (size_t k = 0; k < exprs.size(); ++k) {
      inputs_[k].expr = std::move(exprs[k]);
    }
    return absl::OkStatus();
  }

  int AddChange(Layout before, Layout after) {
    if (!before.defined() && !after.defined()) return kNone;
    changes_.push_back({std::move(before), std::move(after)});
    return static_cast<int>(changes_.size()) - 1;
  }

  // Node `i` in the layout that it has in the unchanged program.
  absl::StatusOr<Expr> Realize(int i) {
    const Value& value = values_[i];
    if (value.tuple != kNone) return RealizeTuple(value.tuple);
    Expr expr = ExprOf(i);
    if (value.change == kNone) return expr;
    const Change& change = changes_[value.change];
    return transformer_.Transform(expr, change.after, change.before);
  }

  absl::StatusOr<Expr> RealizeTuple(int id) {
    // Fields that are tuples come first.
    std::vector<int> pending = {id};
    while (!pending.empty()) {
      TupleValue& tuple = tuples_[pending.back()];
      const size_t num_pending = pending.size();
      if (!tuple.realized.defined()) {
        for (const Value& field : tuple.fields) {
          if (field.tuple != kNone &&
              !tuples_[field.tuple].realized.defined()) {
            pending.push_back(field.tuple);
          }
        }
        if (pending.size() > num_pending) continue;
        BATON_RETURN_IF_ERROR(RealizeFields(pending.back()));
      }
      pending.pop_back();
    }
    return tuples_[id].realized;
  }

  absl::Status RealizeFields(int id) {
    TupleValue& tuple = tuples_[id];
    if (tuple.call.get() == tuple.original && !ChangesLayout(tuple)) {
      tuple.realized = tuple.call;
      return absl::OkStatus();
    }
    std::vector<Expr> fields;
    fields.reserve(tuple.fields.size());
    for (size_t k = 0; k < tuple.fields.size(); ++k) {
      const Value& field = MakeField(id, static_cast<int>(k));
      if (field.tuple != kNone) {
        fields.push_back(tuples_[field.tuple].realized);
      } else if (field.change == kNone) {
        fields.push_back(field.expr);
      } else {
        const Change& change = changes_[field.change];
        BATON_ASSIGN_OR_RETURN(
            Expr expr,
            transformer_.Transform(field.expr, change.after, change.before));
        fields.push_back(std::move(expr));
      }
    }
    const auto* original = Expr(tuple.original).As<TupleNode>();
    tuple.realized = original != nullptr ? WithChildren(original, fields)
                                         : Expr(Tuple(std::move(fields)));
    return absl::OkStatus();
  }

  bool ChangesLayout(const TupleValue& tuple) const {
    return std::any_of(
        tuple.fields.begin(), tuple.fields.end(), [this](const Value& field) {
          return field.change != kNone &&
                 changes_[field.change].before != changes_[field.change].after;
        });
  }

  // Node `i` takes its operands in the layouts that they had: why.
  void EmitRealized(int i) const {
    Remark remark{.kind = RemarkKind::kMissed, .node = Expr(graph_.node(i))};
    for (const int child : graph_.children(i)) {
      if (values_[child].change == kNone) continue;
      const Change& change = changes_[values_[child].change];
      if (change.before == change.after) continue;
      remark.args = {{"from", change.after.ToString()},
                     {"to", change.before.ToString()}};
      remark.nodes = {{"operand", Expr(graph_.node(child))}};
      break;
    }
    if (remark.nodes.empty()) return;
    change_.realized().Add(1);
    if (!WantsRemarks(RemarkKind::kMissed)) return;
    const auto* call = graph_.As<CallNode>(i);
    const OpNode* op = call == nullptr ? nullptr : call->op_node();
    if (op == nullptr) {
      remark.reason =
          "what is no call of an operator takes its operands in the old layout";
    } else if (LayoutInferenceRules().Get(*op) == nullptr) {
      remark.reason =
          "the operator has no layout rule: its operands go back to the old "
          "layout";
    } else {
      remark.reason =
          "the operator's layout rule does not allow the new layout: its "
          "operands go back to the old one";
    }
    LogRemark(std::move(remark));
  }

  // A node that cannot work in other layouts.
  absl::Status RebuildFromRealized(int i) {
    bool any = false;
    for (const int child : graph_.children(i)) {
      any |= values_[child].expr.defined() || HasLayout(values_[child]);
    }
    if (!any) return absl::OkStatus();
    if (SomeoneListens()) EmitRealized(i);
    scratch_.clear();
    for (const int child : graph_.children(i)) {
      BATON_ASSIGN_OR_RETURN(Expr realized, Realize(child));
      scratch_.push_back(std::move(realized));
    }
    Expr result = WithChildren(graph_.node(i), scratch_);
    if (result.get() != graph_.node(i)) values_[i].expr = std::move(result);
    return absl::OkStatus();
  }

  const CallChange& change_;
  const IndexedGraph& graph_;
  std::vector<Value> values_;
  std::vector<Change> changes_;
  std::vector<TupleValue> tuples_;
  Transformer transformer_;
  std::vector<Expr> scratch_;
  std::vector<Input> inputs_;
};

absl::StatusOr<bool> LayoutConverter::ChangeRealized(int i) {
  const auto* call = graph_.As<CallNode>(i);
  std::vector<Expr> args;
  for (const int arg : graph_.args(i)) {
    BATON_ASSIGN_OR_RETURN(Expr realized, Realize(arg));
    args.push_back(std::move(realized));
  }
  absl::StatusOr<ChangedCall> changed = change_.Change(
      {.call = *call, .attrs = call->attrs(), .args = args, .inputs = args});
  if (!changed.ok()) {
    return absl::Status(changed.status().code(),
                        absl::StrCat(call->op_node()->name(), ": ",
                                     changed.status().message()));
  }
  if (!changed->args.empty()) args = std::move(changed->args);
  if (changed->op.get() == call->op_node() &&
      AttrsEqual(changed->attrs, call->attrs()) &&
      std::equal(args.begin(), args.end(), call->args().begin(),
                 call->args().end())) {
    return true;
  }
  if (!MayRewrite()) return false;
  values_[i].expr =
      Call(changed->op, args, std::move(changed->attrs), {}, {}, call->span());
  return true;
}

absl::StatusOr<bool> LayoutConverter::RewriteCall(int i) {
  const auto* call = graph_.As<CallNode>(i);
  const OpNode* op = call->op_node();
  const LayoutInferenceRule* rule =
      op == nullptr ? nullptr : LayoutInferenceRules().Get(*op);
  if (rule == nullptr) {
    return op != nullptr && change_.Applies(*op) ? ChangeRealized(i) : false;
  }
  const auto annotated = [&](const absl::Status& status) {
    return absl::Status(status.code(),
                        absl::StrCat(op->name(), ": ", status.message()));
  };
  bool typed = call->type().defined();
  for (const Expr& arg : call->args()) typed &= arg->type().defined();
  if (!typed) {
    return annotated(absl::FailedPreconditionError(
        "the call has no type; run InferType first"));
  }
  BATON_RETURN_IF_ERROR(CollectInputs(i));

  // The layouts of the operator's inputs in the unchanged program, and now.
  const size_t num_inputs = inputs_.size();
  Layouts old_layouts(num_inputs);
  bool arrives_changed = false;
  for (size_t k = 0; k < num_inputs; ++k) {
    if (inputs_[k].change == kNone) continue;
    const Change& change = changes_[inputs_[k].change];
    old_layouts[k] = change.before;
    arrives_changed |= change.before != change.after;
  }
  Layouts arrived;  // if they differ
  if (arrives_changed) {
    arrived.resize(num_inputs);
    for (size_t k = 0; k < num_inputs; ++k) {
      if (inputs_[k].change == kNone) continue;
      arrived[k] = changes_[inputs_[k].change].after;
    }
  }
  const Layouts& new_layouts = arrives_changed ? arrived : old_layouts;
  std::optional<InferredLayouts> before = (*rule)(
      {.call = *call, .attrs = call->attrs(), .old_inputs = old_layouts});
  if (!before.has_value() || before->inputs.size() != num_inputs) return false;
  for (size_t k = 0; k < num_inputs; ++k) {
    if (!old_layouts[k].defined()) old_layouts[k] = before->inputs[k];
    if (arrives_changed && !arrived[k].defined())
      arrived[k] = before->inputs[k];
  }

  // The new call.
  ChangedCall changed{Op(op), before->attrs, {}};
  if (change_.Applies(*op)) {
    BATON_ASSIGN_OR_RETURN(const std::vector<Expr> args, ArgsFromInputs(i));
    scratch_.clear();
    for (const Input& input : inputs_) scratch_.push_back(input.expr);
    absl::StatusOr<ChangedCall> result = change_.Change({.call = *call,
                                                         .attrs = before->attrs,
                                                         .args = args,
                                                         .inputs = scratch_});
    if (!result.ok()) return annotated(result.status());
    const bool differs = result->op.get() != op || !result->args.empty() ||
                         !AttrsEqual(result->attrs, before->attrs);
    if (differs && MayRewrite()) changed = *std::move(result);
    if (!changed.args.empty()) {
      if (absl::Status status = TakeInputsFrom(changed.args, args);
          !status.ok()) {
        return annotated(status);
      }
    }
    rule = LayoutInferenceRules().Get(*changed.op);
    if (rule == nullptr) return false;
  }

  // The layouts of the inputs for the operator with its new attributes.
  std::optional<InferredLayouts> after = (*rule)({.call = *call,
                                                  .attrs = changed.attrs,
                                                  .old_inputs = old_layouts,
                                                  .changed = true,
                                                  .new_inputs = new_layouts});
  const TupleTypeNode* results = call->tuple_type();
  const size_t num_outputs = results == nullptr ? 1 : results->fields().size();
  if (!after.has_value() || after->inputs.size() != num_inputs ||
      before->outputs.size() != num_outputs ||
      after->outputs.size() != num_outputs) {
    return false;
  }

  absl::InlinedVector<Expr, 6> args;
  bool same = changed.op.get() == op;
  if (!arrives_changed && changed.args.empty() && ArgsAreOriginal(i) &&
      after->inputs == before->inputs) {
    args.assign(call->args().begin(), call->args().end());
  } else {
    size_t next = 0;
    for (const int arg : graph_.args(i)) {
      absl::StatusOr<Expr> arranged =
          changed.args.empty()
              ? ArrangeArg(arg, *before, *after, next)
              : ArrangeNewArg(changed.args[args.size()], *before, *after, next);
      if (!arranged.ok()) return annotated(arranged.status());
      same &= *arranged == call->arg(static_cast<int>(args.size()));
      args.push_back(*std::move(arranged));
    }
  }
  same &=
      after->attrs == call->attrs() || AttrsEqual(after->attrs, call->attrs());
  Expr result;
  if (!same) {
    result = Call(changed.op, args, after->attrs, {}, {}, call->span());
    const bool converts = before->inputs != after->inputs;
    if (converts) change_.converted().Add(1);
    if (converts && WantsRemarks(RemarkKind::kPassed)) {
      const auto text = [](const Layouts& layouts) {
        return absl::StrJoin(
            layouts, " ", [](std::string* out, const Layout& layout) {
              out->append(layout.defined() ? layout.ToString() : "any");
            });
      };
      LogRemark({.kind = RemarkKind::kPassed,
                 .node = Expr(call),
                 .reason = "takes its operands in other layouts",
                 .args = {{"from", text(before->inputs)},
                          {"to", text(after->inputs)}}});
    }
  }

  if (results == nullptr) {
    values_[i].expr = std::move(result);
    values_[i].change =
        AddChange(std::move(before->outputs[0]), std::move(after->outputs[0]));
    return true;
  }
  TupleValue tuple{.original = call, .call = same ? Expr(call) : result};
  tuple.fields.resize(num_outputs);
  for (size_t k = 0; k < num_outputs; ++k) {
    tuple.fields[k].change =
        AddChange(std::move(before->outputs[k]), std::move(after->outputs[k]));
  }
  values_[i].tuple = static_cast<int>(tuples_.size());
  tuples_.push_back(std::move(tuple));
  return true;
}

}  // namespace

absl::StatusOr<Function> TransformLayout(const Function& function,
                                         const CallChange& change) {
  // Without calls to change there is nothing to follow.
  const bool concerned = AnyInnerNode(function, [&](const ExprNode* node) {
    if (node->kind() != ExprKind::kCall) return false;
    const OpNode* op = static_cast<const CallNode*>(node)->op_node();
    return op != nullptr && change.Applies(*op);
  });
  if (!concerned) return function;
  const IndexedGraph graph(function);
  return LayoutConverter(graph, change).Run();
}

}  // namespace baton::relay
