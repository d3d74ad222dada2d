#include "baton/tir/ir/script_printer.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_text.h"
#include "baton/ir/module.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/script_names.h"
#include "baton/tir/ir/script_paths.h"
#include "baton/tir/ir/script_printer_impl.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir::internal {
namespace {

std::string Tuple(const std::vector<std::string>& items) {
  return absl::StrCat("(", absl::StrJoin(items, ", "),
                      items.size() == 1 ? ",)" : ")");
}

// True if the variables of `e` are none.
bool IsClosed(const PrimExpr& e) {
  std::vector<const VarNode*> vars;
  AppendVars(e, vars);
  return vars.empty();
}

// True for a buffer that a parameter's annotation can say all of.
bool IsSimple(const BufferNode* buffer) {
  const auto is_int_but_zero = [](const PrimExpr& e) {
    return e.Is<IntImmNode>() && !IsZero(e);
  };
  return buffer->strides().empty() &&
         std::all_of(buffer->shape().begin(), buffer->shape().end(),
                     IsClosed) &&
         IsClosed(buffer->elem_offset()) &&
         !is_int_but_zero(buffer->elem_offset()) &&
         buffer->scope() == "global" &&
         buffer->alignment() == BufferNode::kDefaultAlignment &&
         buffer->offset_factor() == 1 &&
         buffer->kind_of_buffer() == BufferKind::kDefault &&
         buffer->axis_separators().empty();
}

bool ContainsBlockRealize(const Stmt& root) {
  NodeSet seen;
  std::vector<const Node*> stack = {root.get()};
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (node->kind() == TirKind::kBlockRealize) return true;
    if (!IsStmtKind(node->kind())) continue;
    if (!node->unique() && !seen.Insert(node)) continue;
    ForEachReference(node,
                     [&stack](const Node* part) { stack.push_back(part); });
  }
  return false;
}

}  // namespace

std::string ScriptPrinter::VarCreation(const VarNode* var) {
  std::string args;
  if (var->typed_pointer()) {
    args = ScriptString(ScriptDType(var->element()));
    if (!var->scope().empty()) {
      absl::StrAppend(&args, ", ", ScriptString(var->scope()));
    }
  }
  if (var->is_size()) {
    absl::StrAppend(&args, args.empty() ? "" : ", ", "is_size_var=True");
  }
  return absl::StrCat("T.", ScriptDType(var->dtype()), "(", args, ")");
}

std::string ScriptPrinter::VarText(const VarNode* var) {
  if (!IsDefined(var)) {
    Frame& frame = LowestFrame(var);
    const std::string name = DefineVar(var, frame);
    AddLine(frame, absl::StrCat(name, " = ", VarCreation(var)));
  }
  return NameOf(var);
}

std::string ScriptPrinter::BufferText(const BufferNode* buffer) {
  if (!IsDefined(buffer)) {
    Frame& frame = FrameOfBuffer(buffer);
    const std::string name = DefineBuffer(buffer, frame);
    std::string value =
        BufferDecl(buffer, "T.Buffer", {}, frame, BufferVars::kPointer);
    AddLine(frame, absl::StrCat(name, " = ", value));
  }
  return NameOf(buffer);
}

void AppendVars(const PrimExpr& e, std::vector<const VarNode*>& vars) {
  if (const auto* var = e.As<VarNode>()) {
    vars.push_back(var);
    return;
  }
  if (!e.defined() || e.Is<IntImmNode>()) return;
  NodeSet seen;
  std::vector<const Node*> stack = {e.get()};
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (node->kind().level() != kNodeLevel || !seen.Insert(node)) continue;
    if (node->kind() == TirKind::kVar) {
      vars.push_back(static_cast<const VarNode*>(node));
      continue;
    }
    ForEachReference(node,
                     [&stack](const Node* part) { stack.push_back(part); });
  }
}

ScriptPrinter::BufferArgs ScriptPrinter::BufferArgsOf(const BufferNode* buffer,
                                                      Frame& frame,
                                                      BufferVars vars) {
  BufferArgs result;
  // In how many parts of the buffer each variable occurs.
  NodeMap<int> count;
  const auto count_vars = [&count](const PrimExpr& e) {
    std::vector<const VarNode*> found;
    AppendVars(e, found);
    for (const VarNode* var : found) ++*count.TryEmplace(var).first;
  };
  count_vars(buffer->elem_offset());
  count_vars(buffer->data());
  for (const PrimExpr& e : buffer->strides()) count_vars(e);
  for (const PrimExpr& e : buffer->shape()) count_vars(e);

  std::vector<std::string> names;
  std::vector<std::string> values;
  const auto is_new = [this](const PrimExpr& e) {
    return e.Is<VarNode>() && !IsDefined(e.get());
  };
  const auto declare = [&](const PrimExpr& e) {
    const auto* var = e.As<VarNode>();
    names.push_back(DefineVar(var, frame));
    values.push_back(VarCreation(var));
  };
  // Writes a variable as a part of the buffer if it occurs nowhere else in it.
  const auto try_inline = [&](const PrimExpr& e, Definition::Kind kind,
                              int index) {
    if (*count.Find(e.get()) != 1) {
      declare(e);
      return false;
    }
    Definition& definition = Define(e.get(), frame);
    definition.kind = kind;
    definition.index = index;
    definition.buffer = buffer;
    return true;
  };
  const auto keyword = [&result](absl::string_view name, std::string value) {
    result.keywords.push_back(absl::StrCat(name, "=", value));
  };

  std::vector<std::string> items;
  for (const PrimExpr& extent : buffer->shape()) {
    if (is_new(extent)) declare(extent);
    items.push_back(Text(extent));
  }
  result.shape = Tuple(items);
  if (buffer->dtype() != DType::Float(32)) {
    result.dtype = ScriptString(ScriptDType(buffer->dtype()));
  }
  bool is_inline = false;
  if (is_new(buffer->data())) {
    if (vars == BufferVars::kNone) {
      declare(buffer->data());
    } else {
      is_inline = try_inline(buffer->data(), Definition::kData, 0);
    }
  }
  if (!is_inline) keyword("data", Text(buffer->data()));
  if (!buffer->strides().empty()) {
    items.clear();
    int index = 0;
    for (const PrimExpr& stride : buffer->strides()) {
      if (is_new(stride) && try_inline(stride, Definition::kStride, index)) {
        items.push_back(ScriptString(stride.As<VarNode>()->name()));
      } else {
        items.push_back(Text(stride));
      }
      ++index;
    }
    keyword("strides", Tuple(items));
  }
  bool needs_factor = false;
  if (buffer->elem_offset().Is<IntImmNode>()) {
    if (!IsZero(buffer->elem_offset())) {
      keyword("elem_offset", Text(buffer->elem_offset()));
    }
  } else if (is_new(buffer->elem_offset())) {
    // The reference omits an offset that occurs elsewhere in the buffer, too,
    // which then reads back as another one.
    if (!try_inline(buffer->elem_offset(), Definition::kOffset, 0)) {
      keyword("elem_offset", Text(buffer->elem_offset()));
    }
    needs_factor = true;
  } else {
    keyword("elem_offset", Text(buffer->elem_offset()));
  }
  if (buffer->scope() != "global") {
    keyword("scope", ScriptString(buffer->scope()));
  }
  if (buffer->alignment() != BufferNode::kDefaultAlignment) {
    keyword("align", absl::StrCat(buffer->alignment()));
  }
  if (needs_factor || buffer->offset_factor() != 1) {
    keyword("offset_factor", absl::StrCat(buffer->offset_factor()));
  }
  if (buffer->kind_of_buffer() != BufferKind::kDefault) {
    keyword("buffer_type", "\"auto\"");
  }
  if (!buffer->axis_separators().empty()) {
    keyword(
        "axis_separators",
        absl::StrCat("[", absl::StrJoin(buffer->axis_separators(), ", "), "]"));
  }
  if (!names.empty()) {
    AddLine(frame, absl::StrCat(absl::StrJoin(names, ", "), " = ",
                                absl::StrJoin(values, ", ")));
  }
  return result;
}

std::string ScriptPrinter::BufferDecl(const BufferNode* buffer,
                                      absl::string_view prefix,
                                      absl::string_view first, Frame& frame,
                                      BufferVars vars) {
  BufferArgs args = BufferArgsOf(buffer, frame, vars);
  std::string result =
      absl::StrCat(prefix, "(", first, first.empty() ? "" : ", ", args.shape);
  if (!args.dtype.empty()) absl::StrAppend(&result, ", ", args.dtype);
  for (const std::string& keyword : args.keywords) {
    absl::StrAppend(&result, ", ", keyword);
  }
  result.push_back(')');
  return result;
}

// True for the block around a function's body that scripts do not write.
bool ScriptPrinter::IsRootBlock(const Stmt& body) {
  const auto* realize = body.As<BlockRealizeNode>();
  if (realize == nullptr || !realize->iter_values().empty() ||
      !IsOne(realize->predicate())) {
    return false;
  }
  const BlockNode* root = realize->block().get();
  if (!root->annotations().empty() || !root->match_buffers().empty() ||
      !root->reads().empty() || !root->writes().empty() ||
      root->init().defined()) {
    return false;
  }
  const auto* inner = root->body().As<BlockRealizeNode>();
  return !root->alloc_buffers().empty() ||
         (inner != nullptr && !inner->block()->iter_vars().empty()) ||
         (inner == nullptr && ContainsBlockRealize(root->body()));
}

void ScriptPrinter::PrintFunction(const PrimFuncNode* function,
                                  absl::string_view name, int indent,
                                  std::string& out) {
  paths_.emplace(function);
  Frame& frame = PushFrame(function, indent + 1);
  NodeMap<int> buffers_of_pointer;
  for (const Buffer& buffer : function->buffers()) {
    ++*buffers_of_pointer.TryEmplace(buffer->data().get()).first;
  }
  std::vector<std::string> params;
  std::vector<std::string> args;
  std::vector<bool> is_inline;
  for (size_t i = 0; i < function->params().size(); ++i) {
    const VarNode* param = function->params()[i].get();
    const Buffer buffer = function->BufferOf(static_cast<int>(i));
    if (buffer.defined() && paths_->CountOf(param) == 1 &&
        IsSimple(buffer.get()) &&
        *buffers_of_pointer.Find(buffer->data().get()) == 1) {
      params.push_back(DefineBuffer(buffer.get(), frame));
      const BufferArgs parts =
          BufferArgsOf(buffer.get(), frame, BufferVars::kPointer);
      args.push_back(
          absl::StrCat(params.back(), ": T.Buffer(", parts.shape, ", ",
                       ScriptString(ScriptDType(buffer.dtype())), ")"));
      is_inline.push_back(true);
      continue;
    }
    params.push_back(DefineVar(param, frame));
    args.push_back(
        absl::StrCat(params.back(), ": ",
                     param->typed_pointer()
                         ? VarCreation(param)
                         : absl::StrCat("T.", ScriptDType(param->dtype()))));
    is_inline.push_back(false);
  }
  bool is_private = true;
  std::vector<Dict::Entry> attrs;
  for (const auto& [key, value] : function->attrs().entries()) {
    if (key == kGlobalSymbol) {
      is_private = false;
      const std::string* symbol = value.As<std::string>();
      if (symbol != nullptr && *symbol == name) continue;
    }
    attrs.emplace_back(key, ExprOfAttr(value));
  }
  if (!attrs.empty()) {
    AddLine(frame, absl::StrCat("T.func_attr(",
                                Text(Dict::Of(std::move(attrs))), ")"));
  }
  for (size_t i = 0; i < function->params().size(); ++i) {
    const Buffer buffer = function->BufferOf(static_cast<int>(i));
    if (!buffer.defined() || is_inline[i]) continue;
    const std::string buffer_name = DefineBuffer(buffer.get(), frame);
    std::string text = BufferDecl(buffer.get(), "T.match_buffer", params[i],
                                  frame, BufferVars::kMatching);
    AddLine(frame, absl::StrCat(buffer_name, " = ", text));
  }
  if (IsRootBlock(function->body())) {
    const auto* realize = function->body().As<BlockRealizeNode>();
    const BlockNode* root = realize->block().get();
    AddLine(frame, "# with T.block(\"root\"):");
    for (const Buffer& buffer : root->alloc_buffers()) {
      const std::string buffer_name = DefineBuffer(buffer.get(), frame);
      std::string text = BufferDecl(buffer.get(), "T.alloc_buffer", {}, frame,
                                    BufferVars::kPointer);
      AddLine(frame, absl::StrCat(buffer_name, " = ", text));
    }
    PushBody(root->body());
  } else {
    PushBody(function->body());
  }
  PrintStmts();
  const Lines lines = PopFrame();
  const std::string blanks(static_cast<size_t>(indent) * 4, ' ');
  absl::StrAppend(&out, blanks, "@T.prim_func",
                  is_private ? "(private=True)" : "", "\n", blanks, "def ",
                  name, "(", absl::StrJoin(args, ", "), ")");
  if (!function->ret_type().is_void()) {
    absl::StrAppend(&out, " -> T.", ScriptDType(function->ret_type()));
  }
  out += ":\n";
  Join(lines, out);
  if (!out.empty() && out.back() == '\n') out.pop_back();
}

std::string ScriptPrinter::PrintFragment(const Node* root) {
  paths_.emplace(root);
  PushFrame(nullptr, 0);
  std::string out;
  if (IsStmtKind(root->kind())) {
    steps_.push_back({Step::kBody, false, root, {}});
    PrintStmts();
    Join(PopFrame(), out);
    if (!out.empty()) out.pop_back();
  } else {
    PrintExpr(root, out);
    PopFrame();
  }
  return out;
}

namespace {

// The text of PrimFuncs in modules.
class ScriptWriter final : public FunctionTextWriter {
 public:
  explicit ScriptWriter(TextOutput* output) : output_(*output) {}

  void WriteFunction(const GlobalVar& var, const BaseFunc& function) override {
    ScriptPrinter("").PrintFunction(function.As<PrimFuncNode>(), var->name(), 0,
                                    output_.text());
  }

  bool ComesAfterOthers() const override { return true; }
  bool WritesModules() const override { return true; }
  void WriteModule(
      absl::Span<const IRModule::Definition* const> functions) override {
    constexpr absl::string_view kModule = "Module";
    std::string& text = output_.text();
    absl::StrAppend(&text, "@I.ir_module\nclass ", kModule, ":\n");
    std::vector<const IRModule::Definition*> sorted(functions.begin(),
                                                    functions.end());
    std::stable_partition(
        sorted.begin(), sorted.end(),
        [](const IRModule::Definition* d) { return d->var->name() != "main"; });
    bool first = true;
    for (const IRModule::Definition* definition : sorted) {
      if (!first) text.push_back('\n');
      first = false;
      ScriptPrinter(kModule).PrintFunction(
          definition->function.As<PrimFuncNode>(), definition->var->name(), 1,
          text);
      text.push_back('\n');
      output_.FlushSome();
    }
  }

 private:
  TextOutput& output_;
};
BATON_REGISTER_TEXT_WRITER(ScriptWriter, PrimFuncNode::kKind);

}  // namespace

}  // namespace baton::tir::internal

namespace baton::tir {

using internal::ScriptPrinter;

std::string AsScript(const PrimExpr& e) {
  return ScriptPrinter("").PrintFragment(e.get());
}

std::string AsScript(const Stmt& stmt) {
  return ScriptPrinter("").PrintFragment(stmt.get());
}

std::string AsScript(const PrimFunc& function, absl::string_view name,
                     absl::string_view module, int indent) {
  std::string out;
  ScriptPrinter(module).PrintFunction(function.get(), name, indent, out);
  return out;
}

}  // namespace baton::tir
