// Statements of ScriptPrinter.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_map.h"
#include "baton/ir/structural_equal.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/script_names.h"
#include "baton/tir/ir/script_paths.h"
#include "baton/tir/ir/script_printer_impl.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir::internal {

void ScriptPrinter::PrintStmts() {
  while (!steps_.empty()) {
    Step step = std::move(steps_.back());
    steps_.pop_back();
    switch (step.kind) {
      case Step::kStmt:
        PrintStmt(step.node, step.concise);
        break;
      case Step::kBody:
        if (step.node->kind() == TirKind::kSeqStmt) {
          const auto seq = static_cast<const SeqStmtNode*>(step.node)->seq();
          for (size_t i = seq.size(); i-- > 0;) {
            steps_.push_back(
                {Step::kStmt, i + 1 == seq.size(), seq[i].get(), {}});
          }
        } else {
          steps_.push_back({Step::kStmt, true, step.node, {}});
        }
        break;
      case Step::kScope: {
        Lines lines = PopFrame();
        AddLine(Top(), std::move(step.header));
        AppendBlock(std::move(lines), Top().indent + 1, Top().lines);
        break;
      }
      case Step::kConcise: {
        Lines lines = PopFrame();
        AddLine(Top(), std::move(step.header));
        Top().lines.splice(Top().lines.end(), lines);
        break;
      }
      case Step::kSplice: {
        Lines lines = PopFrame();
        Top().lines.splice(Top().lines.end(), lines);
        break;
      }
      case Step::kThen: {
        then_lines_.push_back(PopFrame());
        const auto* branch = static_cast<const StmtNode*>(step.node);
        PushFrame(branch, Top().indent + 1);
        steps_.push_back({Step::kElse, false, nullptr, std::move(step.header)});
        steps_.push_back({Step::kBody, false, branch, {}});
        break;
      }
      case Step::kElse: {
        Lines else_lines = PopFrame();
        Lines lines = std::move(then_lines_.back());
        then_lines_.pop_back();
        AddLine(Top(), std::move(step.header));
        AppendBlock(std::move(lines), Top().indent + 1, Top().lines);
        AddLine(Top(), "else:");
        AppendBlock(std::move(else_lines), Top().indent + 1, Top().lines);
        break;
      }
      case Step::kInit: {
        Lines lines = PopFrame();
        AddLine(Top(), "with T.init():");
        AppendBlock(std::move(lines), Top().indent + 1, Top().lines);
        steps_.push_back({Step::kBody, false, step.node, {}});
        break;
      }
    }
  }
}

void ScriptPrinter::PrintStmt(const Node* node, bool concise) {
  switch (node->kind().To<TirKind>()) {
    case TirKind::kEvaluate: {
      const PrimExpr& value = static_cast<const EvaluateNode*>(node)->value();
      std::string text = Text(value);
      AddLine(Top(), value.Is<CallNode>()
                         ? std::move(text)
                         : absl::StrCat("T.evaluate(", text, ")"));
      return;
    }
    case TirKind::kLetStmt: {
      const auto* let = static_cast<const LetStmtNode*>(node);
      const VarNode* var = let->var().get();
      std::string type;  // empty: void, which is not written
      if (var->typed_pointer()) {
        type = VarCreation(var);
      } else if (!var->dtype().is_void()) {
        type = absl::StrCat("T.", ScriptDType(var->dtype()));
      }
      const std::string value = Text(let->value());
      if (IsDefined(var)) {
        const std::string name = NameOf(var);
        OpenBody(node, false);
        PushEnd(false,
                absl::StrCat("with T.LetStmt(", value, ", var=", name, "):"));
      } else {
        Frame& frame = OpenBody(node, concise);
        const std::string name = DefineVar(var, frame);
        BeginMemory(var);
        if (concise) {
          PushEnd(true, absl::StrCat(name, type.empty() ? "" : ": ", type,
                                     " = ", value));
        } else {
          PushEnd(false, absl::StrCat("with T.LetStmt(", value,
                                      var->typed_pointer() ? ", " : "",
                                      var->typed_pointer() ? type : "", ") as ",
                                      name, ":"));
        }
      }
      PushBody(let->body());
      return;
    }
    case TirKind::kAttrStmt:
      return PrintAttr(static_cast<const AttrStmtNode*>(node), concise);
    case TirKind::kAssertStmt: {
      const auto* check = static_cast<const AssertStmtNode*>(node);
      const std::string condition = Text(check->condition());
      const std::string message = Text(check->message());
      OpenBody(node, concise);
      PushEnd(concise, concise
                           ? absl::StrCat("assert ", condition, ", ", message)
                           : absl::StrCat("with T.Assert(", condition, ", ",
                                          message, "):"));
      PushBody(check->body());
      return;
    }
    case TirKind::kFor:
      return PrintFor(static_cast<const ForNode*>(node));
    case TirKind::kWhile: {
      const auto* loop = static_cast<const WhileNode*>(node);
      const std::string condition = Text(loop->condition());
      OpenBody(node, false);
      PushEnd(false, absl::StrCat("while ", condition, ":"));
      PushBody(loop->body());
      return;
    }
    case TirKind::kBufferStore: {
      const auto* store = static_cast<const BufferStoreNode*>(node);
      std::string text = BufferText(store->buffer().get());
      // The reference meets the value before the indices.
      const std::string value = Text(store->value());
      const Mark mark = MarkHere();
      PushIndices(store->indices());
      std::string indices;
      PrintParts(mark, indices);
      AddLine(Top(), absl::StrCat(text, indices, " = ", value));
      return;
    }
    case TirKind::kBufferRealize: {
      const auto* realize = static_cast<const BufferRealizeNode*>(node);
      std::string text = RealizeText(realize, {});
      OpenBody(node, concise);
      PushEnd(concise, Header(concise, {}, text));
      PushBody(realize->body());
      return;
    }
    case TirKind::kAllocate: {
      const auto* allocate = static_cast<const AllocateNode*>(node);
      const auto* decl = allocate->body().As<DeclBufferNode>();
      if (decl != nullptr && decl->buffer()->data() == allocate->var() &&
          decl->buffer().dtype() == allocate->dtype() &&
          IsOne(allocate->condition()) && allocate->annotations().empty() &&
          std::equal(allocate->extents().begin(), allocate->extents().end(),
                     decl->buffer()->shape().begin(),
                     decl->buffer()->shape().end(),
                     [](const PrimExpr& a, const PrimExpr& b) {
                       return a == b || StructuralEqual(a, b);
                     })) {
        return PrintDeclBuffer(decl, concise, BufferVars::kPointer);
      }
      std::string text = "T.allocate([";
      const char* separator = "";
      for (const PrimExpr& extent : allocate->extents()) {
        absl::StrAppend(&text, separator, Text(extent));
        separator = ", ";
      }
      absl::StrAppend(&text, "], ",
                      ScriptString(ScriptDType(allocate->dtype())), ", ",
                      ScriptString(allocate->var()->scope().empty()
                                       ? "global"
                                       : allocate->var()->scope()));
      if (!IsOne(allocate->condition())) {
        absl::StrAppend(&text, ", ", Text(allocate->condition()));
      }
      if (!allocate->annotations().empty()) {
        absl::StrAppend(&text, ", annotations=", Text(allocate->annotations()));
      }
      text.push_back(')');
      const std::string name = DefineVar(allocate->var().get(), Top());
      OpenBody(node, concise);
      BeginMemory(allocate->var().get());
      PushEnd(concise, Header(concise, name, text));
      PushBody(allocate->body());
      return;
    }
    case TirKind::kAllocateConst: {
      const auto* allocate = static_cast<const AllocateConstNode*>(node);
      std::string text =
          absl::StrCat("T.allocate_const(", TensorText(allocate->data()), ", ",
                       ScriptString(ScriptDType(allocate->dtype())), ", [");
      const char* separator = "";
      for (const PrimExpr& extent : allocate->extents()) {
        absl::StrAppend(&text, separator, Text(extent));
        separator = ", ";
      }
      text.push_back(']');
      if (!allocate->annotations().empty()) {
        absl::StrAppend(&text, ", annotations=", Text(allocate->annotations()));
      }
      text.push_back(')');
      Frame& frame = OpenBody(node, concise);
      const std::string name = DefineVar(allocate->var().get(), frame);
      BeginMemory(allocate->var().get());
      PushEnd(concise, Header(concise, name, text));
      PushBody(allocate->body());
      return;
    }
    case TirKind::kDeclBuffer:
      return PrintDeclBuffer(static_cast<const DeclBufferNode*>(node), concise,
                             BufferVars::kNone);
    case TirKind::kSeqStmt:
      // A sequence in a sequence.
      PushFrame(node, Top().indent);
      steps_.push_back({Step::kSplice, false, nullptr, {}});
      steps_.push_back({Step::kBody, false, node, {}});
      return;
    case TirKind::kIfThenElse: {
      const auto* branch = static_cast<const IfThenElseNode*>(node);
      std::string header = absl::StrCat("if ", Text(branch->condition()), ":");
      PushFrame(branch->then_case().get(), Top().indent + 1);
      if (branch->else_case().defined()) {
        steps_.push_back(
            {Step::kThen, false, branch->else_case().get(), std::move(header)});
      } else {
        PushEnd(false, std::move(header));
      }
      PushBody(branch->then_case());
      return;
    }
    case TirKind::kBlock:
      return PrintBlock(static_cast<const BlockNode*>(node), nullptr);
    case TirKind::kBlockRealize: {
      const auto* realize = static_cast<const BlockRealizeNode*>(node);
      return PrintBlock(realize->block().get(), realize);
    }
    case TirKind::kPrefetch: {
      const auto* prefetch = static_cast<const PrefetchNode*>(node);
      std::string text = absl::StrCat(
          "T.prefetch(", BufferText(prefetch->buffer().get()), ", [");
      const char* separator = "";
      for (const Range& range : prefetch->bounds()) {
        absl::StrAppend(&text, separator, "T.Range(", Text(range.min), ", ",
                        Text(range.extent), ")");
        separator = ", ";
      }
      AddLine(Top(), absl::StrCat(text, "])"));
      return;
    }
    default:
      AddLine(Top(), absl::StrCat("T.", NodeKindName(node->kind()), "()"));
      return;
  }
}

void ScriptPrinter::PrintDeclBuffer(const DeclBufferNode* decl, bool concise,
                                    BufferVars vars) {
  const BufferNode* buffer = decl->buffer().get();
  // The variables that the buffer defines along with itself belong to the scope
  // around it, and are written by the name of the buffer, which belongs to the
  // body.
  std::string text = BufferDecl(buffer, "T.decl_buffer", {}, Top(), vars);
  Frame& frame = OpenBody(decl, concise);
  const std::string name = DefineBuffer(buffer, frame);
  PushEnd(concise, Header(concise, name, text));
  PushBody(decl->body());
}

std::string ScriptPrinter::RealizeText(const BufferRealizeNode* realize,
                                       const std::string& value) {
  std::string text =
      absl::StrCat("T.realize(", BufferText(realize->buffer().get()), "[");
  const char* separator = "";
  for (const Range& range : realize->bounds()) {
    absl::StrAppend(&text, separator, Text(range.min), ":",
                    Text(Add(range.min, range.extent)));
    separator = ", ";
  }
  if (realize->bounds().empty()) text += "()";
  text.push_back(']');
  if (!value.empty()) absl::StrAppend(&text, ", ", value);
  if (!IsOne(realize->condition())) {
    absl::StrAppend(&text, ", condition=", Text(realize->condition()));
  }
  text.push_back(')');
  return text;
}

std::string ScriptPrinter::LaunchThreadText(const AttrStmtNode* attr,
                                            const VarNode** define) {
  const auto* iter_var = attr->node().As<IterVarNode>();
  const VarNode* var = iter_var->var().get();
  std::string thread;
  if (IsDefined(var)) {
    thread = NameOf(var);
  } else if (paths_->IsAround(attr, var)) {
    thread = ScriptString(iter_var->thread_tag());
    *define = var;
  } else {
    Frame& frame = LowestFrame(var);
    thread = DefineVar(var, frame);
    AddLine(frame, absl::StrCat(thread, " = T.env_thread(",
                                ScriptString(iter_var->thread_tag()), ")"));
  }
  return absl::StrCat("T.launch_thread(", thread, ", ", Text(attr->value()),
                      ")");
}

void ScriptPrinter::PrintAttr(const AttrStmtNode* attr, bool concise) {
  const Node* body = attr->body().get();
  std::string text;
  const VarNode* define = nullptr;
  if (attr->key() == "realize_scope") {
    const auto* realize = attr->body().As<BufferRealizeNode>();
    if (realize != nullptr && realize->buffer() == attr->node()) {
      text = RealizeText(realize, Text(attr->value()));
      body = realize->body().get();
    }
  }
  if ((attr->key() == "thread_extent" || attr->key() == "virtual_thread") &&
      attr->node().Is<IterVarNode>()) {
    text = LaunchThreadText(attr, &define);
  }
  if (text.empty()) {
    const std::string node = Text(attr->node());
    text = absl::StrCat("T.attr(", node, ", ", ScriptString(attr->key()), ", ",
                        Text(attr->value()), ")");
  }
  Frame& frame = OpenBody(attr, concise);
  std::string name;
  if (define != nullptr) name = DefineVar(define, frame);
  PushEnd(concise, Header(concise, name, text));
  steps_.push_back({Step::kBody, false, body, {}});
}

void ScriptPrinter::PrintFor(const ForNode* loop) {
  // Serial loops from zero whose extents do not depend on one another.
  std::vector<const ForNode*> grid;
  NodeSet grid_vars;
  for (const ForNode* l = loop; l != nullptr; l = l->body().As<ForNode>()) {
    if (l->for_kind() != ForKind::kSerial || !IsZero(l->min()) ||
        !l->annotations().empty()) {
      break;
    }
    std::vector<const VarNode*> vars;
    AppendVars(l->extent(), vars);
    if (std::any_of(vars.begin(), vars.end(), [&](const VarNode* var) {
          return grid_vars.Contains(var);
        })) {
      break;
    }
    grid.push_back(l);
    grid_vars.Insert(l->loop_var().get());
  }
  // Variables that the header uses and nothing defines are declared before it.
  std::vector<std::string> extents;
  std::string range;
  if (grid.size() > 1) {
    for (const ForNode* l : grid) extents.push_back(Text(l->extent()));
  } else if (IsZero(loop->min())) {
    range = Text(loop->extent());
  } else {
    const std::string min = Text(loop->min());
    range = absl::StrCat(min, ", ", Text(Add(loop->min(), loop->extent())));
  }
  Frame& frame = PushFrame(loop, Top().indent + 1);
  if (grid.size() > 1) {
    std::vector<std::string> names;
    for (const ForNode* l : grid) {
      *loop_of_.TryEmplace(l->loop_var().get()).first = l;
      names.push_back(DefineVar(l->loop_var().get(), frame));
    }
    PushEnd(false,
            absl::StrCat("for ", absl::StrJoin(names, ", "), " in T.grid(",
                         absl::StrJoin(extents, ", "), "):"));
    PushBody(grid.back()->body());
    return;
  }
  *loop_of_.TryEmplace(loop->loop_var().get()).first = loop;
  std::string text =
      absl::StrCat("for ", DefineVar(loop->loop_var().get(), frame), " in ");
  switch (loop->for_kind()) {
    case ForKind::kSerial:
      text += loop->annotations().empty() ? "range(" : "T.serial(";
      break;
    case ForKind::kParallel:
      text += "T.parallel(";
      break;
    case ForKind::kVectorized:
      text += "T.vectorized(";
      break;
    case ForKind::kUnrolled:
      text += "T.unroll(";
      break;
    case ForKind::kThreadBinding:
      text += "T.thread_binding(";
      break;
  }
  text += range;
  if (loop->for_kind() == ForKind::kThreadBinding) {
    absl::StrAppend(
        &text, ", thread=",
        ScriptString(loop->thread().defined() ? loop->thread()->thread_tag()
                                              : std::string()));
  }
  if (!loop->annotations().empty()) {
    absl::StrAppend(&text, ", annotations=", Text(loop->annotations()));
  }
  PushEnd(false, absl::StrCat(text, "):"));
  PushBody(loop->body());
}

void ScriptPrinter::PrintIterVars(const BlockNode* block,
                                  const BlockRealizeNode* realize,
                                  Frame& frame) {
  const auto same = [](const PrimExpr& a, const PrimExpr& b) {
    return a == b || StructuralEqual(a, b);
  };
  // Adjacent variables that stand for one loop each are written as one
  // T.axis.remap.
  std::vector<size_t> remapped;
  const auto can_remap = [&](size_t i) {
    if (realize == nullptr || i >= realize->iter_values().size()) return false;
    const IterVarNode* iter_var = block->iter_vars()[i].get();
    if (iter_var->iter_type() != IterVarType::kDataPar &&
        iter_var->iter_type() != IterVarType::kCommReduce) {
      return false;
    }
    const auto* var = realize->iter_values()[i].As<VarNode>();
    const ForNode* const* loop = var == nullptr ? nullptr : loop_of_.Find(var);
    return loop != nullptr && *loop != nullptr && IsDefined(var) &&
           iter_var->extent().defined() &&
           same((*loop)->min(), iter_var->min()) &&
           same((*loop)->extent(), iter_var->extent());
  };
  const auto print_one = [&](size_t i) {
    const IterVarNode* iter_var = block->iter_vars()[i].get();
    std::string text = "T.axis.";
    switch (iter_var->iter_type()) {
      case IterVarType::kCommReduce:
        text += "reduce(";
        break;
      case IterVarType::kOrdered:
        text += "scan(";
        break;
      case IterVarType::kOpaque:
        text += "opaque(";
        break;
      default:
        text += "spatial(";
        break;
    }
    if (!iter_var->extent().defined()) {
      text += "None";
    } else if (IsZero(iter_var->min())) {
      text += Text(iter_var->extent());
    } else {
      const std::string min = Text(iter_var->min());
      absl::StrAppend(&text, "(", min, ", ",
                      Text(Add(iter_var->min(), iter_var->extent())), ")");
    }
    if (realize != nullptr && i < realize->iter_values().size()) {
      absl::StrAppend(&text, ", ", Text(realize->iter_values()[i]));
    }
    // Readers take narrower variables for int32.
    const DType dtype = iter_var->var()->dtype();
    if (dtype.bits() < 32) {
      absl::StrAppend(&text, ", dtype=\"", dtype.ToString(), "\"");
    }
    text.push_back(')');
    const std::string name = DefineVar(iter_var->var().get(), frame);
    AddLine(frame, absl::StrCat(name, " = ", text));
  };
  const auto flush = [&] {
    if (remapped.size() == 1) {
      print_one(remapped[0]);
    } else if (remapped.size() > 1) {
      std::vector<std::string> names;
      std::vector<std::string> values;
      std::string kinds;
      for (const size_t i : remapped) {
        const IterVarNode* iter_var = block->iter_vars()[i].get();
        names.push_back(DefineVar(iter_var->var().get(), frame));
        values.push_back(Text(realize->iter_values()[i]));
        kinds.push_back(iter_var->iter_type() == IterVarType::kDataPar ? 'S'
                                                                       : 'R');
      }
      AddLine(frame, absl::StrCat(absl::StrJoin(names, ", "),
                                  " = T.axis.remap(", ScriptString(kinds),
                                  ", [", absl::StrJoin(values, ", "), "])"));
    }
    remapped.clear();
  };
  for (size_t i = 0; i < block->iter_vars().size(); ++i) {
    if (can_remap(i)) {
      remapped.push_back(i);
    } else {
      flush();
      print_one(i);
    }
  }
  flush();
}

void ScriptPrinter::PrintBlock(const BlockNode* block,
                               const BlockRealizeNode* realize) {
  Frame& frame = PushFrame(block, Top().indent + 1);
  PrintIterVars(block, realize, frame);
  if (realize != nullptr && !IsOne(realize->predicate())) {
    std::string text =
        absl::StrCat("T.where(", Text(realize->predicate()), ")");
    AddLine(frame, std::move(text));
  }
  const auto print_regions = [&](const char* name,
                                 absl::Span<const BufferRegion> regions) {
    std::string text = name;
    const char* separator = "";
    for (const BufferRegion& region : regions) {
      absl::StrAppend(&text, separator, Text(region));
      separator = ", ";
    }
    AddLine(frame, absl::StrCat(text, ")"));
  };
  print_regions("T.reads(", block->reads());
  print_regions("T.writes(", block->writes());
  if (!block->annotations().empty()) {
    std::string text =
        absl::StrCat("T.block_attr(", Text(block->annotations()), ")");
    AddLine(frame, std::move(text));
  }
  for (const Buffer& buffer : block->alloc_buffers()) {
    const std::string name = DefineBuffer(buffer.get(), frame);
    std::string text = BufferDecl(buffer.get(), "T.alloc_buffer", {}, frame,
                                  BufferVars::kPointer);
    AddLine(frame, absl::StrCat(name, " = ", text));
  }
  for (const MatchRegion& match : block->match_buffers()) {
    const std::string name = DefineBuffer(match->buffer().get(), frame);
    const std::string source = Text(match->source());
    std::string text = BufferDecl(match->buffer().get(), "T.match_buffer",
                                  source, frame, BufferVars::kMatching);
    AddLine(frame, absl::StrCat(name, " = ", text));
  }
  PushEnd(false,
          absl::StrCat("with T.block(", ScriptString(block->name()),
                       realize == nullptr ? ", no_realize=True" : "", "):"));
  if (block->init().defined()) {
    PushFrame(block->init().get(), frame.indent + 1);
    steps_.push_back({Step::kInit, false, block->body().get(), {}});
    PushBody(block->init());
  } else {
    PushBody(block->body());
  }
}

std::string ScriptPrinter::TensorText(const Tensor& tensor) {
  std::string text = "[";
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (i > 0) text += ", ";
    if (tensor.dtype().is_float()) {
      text += ScriptFloat(tensor.AtAsDouble(i));
    } else {
      absl::StrAppend(&text, tensor.AtAsInt64(i));
    }
  }
  text.push_back(']');
  return text;
}

}  // namespace baton::tir::internal
