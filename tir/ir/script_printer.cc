#include "baton/tir/ir/script_printer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
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
#include "baton/ir/structural_equal.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/script_names.h"
#include "baton/tir/ir/script_paths.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// The precedence of an expression's text, as in Python.
enum Precedence : uint8_t {
  kAny = 0,
  kOrPrecedence,
  kAndPrecedence,
  kNotPrecedence,
  kComparisonPrecedence,
  kSumPrecedence,
  kProductPrecedence,
  kAtomPrecedence,
};

// The sign of an operation, or the name of the function that stands for it.
struct Sign {
  const char* infix;  // null: there is none
  const char* function;
  Precedence precedence;
};

Sign SignOf(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return {" + ", "T.Add", kSumPrecedence};
    case BinaryOp::kSub:
      return {" - ", "T.Sub", kSumPrecedence};
    case BinaryOp::kMul:
      return {" * ", "T.Mul", kProductPrecedence};
    case BinaryOp::kDiv:
      return {" / ", "T.Div", kProductPrecedence};
    case BinaryOp::kMod:
      return {nullptr, "T.truncmod", kAtomPrecedence};
    case BinaryOp::kFloorDiv:
      return {" // ", "T.FloorDiv", kProductPrecedence};
    case BinaryOp::kFloorMod:
      return {" % ", "T.FloorMod", kProductPrecedence};
    case BinaryOp::kMin:
      return {nullptr, "T.min", kAtomPrecedence};
    case BinaryOp::kMax:
      return {nullptr, "T.max", kAtomPrecedence};
    case BinaryOp::kEQ:
      return {" == ", "T.EQ", kComparisonPrecedence};
    case BinaryOp::kNE:
      return {" != ", "T.NE", kComparisonPrecedence};
    case BinaryOp::kLT:
      return {" < ", "T.LT", kComparisonPrecedence};
    case BinaryOp::kLE:
      return {" <= ", "T.LE", kComparisonPrecedence};
    case BinaryOp::kGT:
      return {" > ", "T.GT", kComparisonPrecedence};
    case BinaryOp::kGE:
      return {" >= ", "T.GE", kComparisonPrecedence};
    case BinaryOp::kAnd:
      return {" and ", "T.And", kAndPrecedence};
    case BinaryOp::kOr:
      return {" or ", "T.Or", kOrPrecedence};
  }
  return {nullptr, "T.Any", kAtomPrecedence};
}

// True if reading the infix form gives this node and not a folded one.
bool IsInfix(const BinaryNode* node) {
  if (SignOf(node->op()).infix == nullptr) return false;
  if (node->a().dtype() != node->b().dtype()) return false;
  if (node->op() == BinaryOp::kDiv && node->a().dtype().is_integral()) {
    return false;
  }
  const auto is_zero_imm = [](const PrimExpr& e) {
    const auto* f = e.As<FloatImmNode>();
    return IsZero(e) || (f != nullptr && f->value() == 0);
  };
  const bool divides = node->op() == BinaryOp::kDiv ||
                       node->op() == BinaryOp::kFloorDiv ||
                       node->op() == BinaryOp::kFloorMod;
  if (divides && is_zero_imm(node->b())) return false;
  return !TryFold(node->op(), node->a(), node->b()).defined();
}

Precedence PrecedenceOf(const Node* node) {
  if (node == nullptr) return kAtomPrecedence;
  if (node->kind() == TirKind::kBinary) {
    const auto* binary = static_cast<const BinaryNode*>(node);
    return IsInfix(binary) ? SignOf(binary->op()).precedence : kAtomPrecedence;
  }
  if (node->kind() == TirKind::kNot) return kNotPrecedence;
  return kAtomPrecedence;
}

// The variables that the printer may define along with a buffer.
enum class BufferVars {
  kNone,      // all of it is defined before
  kPointer,   // the pointer
  kMatching,  // the pointer, extents, strides and the offset
};

// A name that is in use, and the next number to try behind it.
class Names {
 public:
  std::string Define(absl::string_view hint) {
    std::string name(hint);
    for (char& c : name) {
      if (c != '_' && !absl::ascii_isalnum(static_cast<unsigned char>(c))) {
        c = '_';
      }
    }
    if (used_.insert(name).second) return name;
    int64_t& next = next_[name];
    for (next = std::max<int64_t>(next, 1);; ++next) {
      std::string numbered = absl::StrCat(name, "_", next);
      if (used_.insert(numbered).second) {
        ++next;
        return numbered;
      }
    }
  }
  void Remove(const std::string& name) {
    used_.erase(name);
    // The number at its end may be free for the names before it.
    for (size_t i = name.rfind('_'); i != std::string::npos && i > 0;
         i = name.rfind('_', i - 1)) {
      int64_t number = 0;
      if (!absl::SimpleAtoi(name.substr(i + 1), &number)) break;
      const auto next = next_.find(name.substr(0, i));
      if (next != next_.end()) next->second = std::min(next->second, number);
    }
  }

 private:
  FlatHashSet<std::string> used_;
  FlatHashMap<std::string, int64_t> next_;
};

struct Line {
  int indent;
  std::string text;
};
using Lines = std::list<Line>;

class ScriptPrinter {
 public:
  // `module`: how calls name the module; empty: they do not.
  explicit ScriptPrinter(absl::string_view module) : module_(module) {
    if (!module.empty()) names_.Define(module);
  }

  void PrintFunction(const PrimFuncNode* function, absl::string_view name,
                     int indent, std::string& out);
  // A statement or an expression that is no part of a function.
  std::string PrintFragment(const Node* root);

 private:
  // A scope: what it defines is forgotten at its end.
  struct Frame {
    const Node* node;
    size_t index;
    int indent;
    Lines lines;
    std::vector<const Node*> defined;
  };
  // The text that stands for a variable or buffer.
  struct Definition {
    enum Kind : uint8_t { kName, kData, kStride, kOffset };
    Kind kind = kName;
    int index = 0;                       // of kStride
    const BufferNode* buffer = nullptr;  // of all but kName
    std::string name;                    // of kName
    // The outermost frame within the definition of a pointer; 0 for others.
    size_t memory_frame = 0;
  };
  // A step of the walk over statements.
  struct Step {
    enum Kind : uint8_t {
      kStmt,     // print `node`
      kBody,     // print the statements of `node`
      kScope,    // end the frame; `header`, and its lines, indented once more
      kConcise,  // end the frame; `header`, and its lines
      kSplice,   // end the frame; its lines
      kThen,     // end the frame of the then branch; begin the other
      kElse,     // end the frame of the other branch
      kInit,     // end the frame of the init of a block, then print its body
    };
    Kind kind;
    bool concise = false;  // of kStmt: definitions need no scope of their own
    const Node* node = nullptr;
    std::string header;
  };
  // A step of the walk over expressions.
  struct Part {
    enum Kind : uint8_t {
      kNode,    // print `node`
      kText,    // print `text`
      kOwned,   // print `owned_[index]`
      kEnd,     // end the frame of a lambda
      kDivert,  // print to `owned_[index]` from now on
      kResume,  // print to where kDivert was met
      kParams,  // define and print the parameters of `node`
    };
    Kind kind;
    uint8_t precedence = kAny;
    bool strict = false;  // parentheses also for equal precedence
    size_t index = 0;
    const Node* node = nullptr;
    const char* text = nullptr;
  };

  // --- Frames and definitions.
  Frame& PushFrame(const Node* node, int indent) {
    frames_.push_back(std::make_unique<Frame>());
    Frame& frame = *frames_.back();
    frame.node = node;
    frame.index = frames_.size() - 1;
    frame.indent = indent;
    if (node == nullptr) return frame;
    const auto [index, is_new] = frame_of_.TryEmplace(node);
    // If a node has several frames, the outermost counts.
    if (is_new || *index < 0) *index = static_cast<int>(frames_.size()) - 1;
    return frame;
  }
  Lines PopFrame() {
    Frame& frame = *frames_.back();
    for (const Node* node : frame.defined) {
      Definition& definition = *definitions_.Find(node);
      if (!definition.name.empty()) names_.Remove(definition.name);
      definition = Definition();
      *defined_.Find(node) = false;
    }
    int* index = frame.node == nullptr ? nullptr : frame_of_.Find(frame.node);
    if (index != nullptr && *index == static_cast<int>(frames_.size()) - 1) {
      *index = -1;
    }
    Lines lines = std::move(frame.lines);
    frames_.pop_back();
    return lines;
  }
  Frame& Top() { return *frames_.back(); }
  void AddLine(Frame& frame, std::string text) {
    frame.lines.push_back({frame.indent, std::move(text)});
  }
  bool IsDefined(const Node* node) const {
    const bool* defined = defined_.Find(node);
    return defined != nullptr && *defined;
  }
  Definition& Define(const Node* node, Frame& frame) {
    *defined_.TryEmplace(node).first = true;
    frame.defined.push_back(node);
    return *definitions_.TryEmplace(node).first;
  }
  // The name of a variable, which is defined in `frame` if it is not yet.
  std::string DefineVar(const VarNode* var, Frame& frame) {
    if (!IsDefined(var)) {
      std::string name = names_.Define(var->name().empty() ? "v" : var->name());
      Define(var, frame).name = std::move(name);
    }
    return NameOf(var);
  }
  std::string DefineBuffer(const BufferNode* buffer, Frame& frame) {
    if (IsDefined(buffer)) return NameOf(buffer);
    std::string name =
        names_.Define(buffer->name().empty() ? "buffer" : buffer->name());
    Define(buffer, frame).name = name;
    return name;
  }
  // Returns the text of a defined variable or buffer.
  std::string NameOf(const Node* node) {
    const Definition definition = *definitions_.Find(node);
    switch (definition.kind) {
      case Definition::kName:
        return definition.name;
      case Definition::kData:
        return absl::StrCat(BufferText(definition.buffer), ".data");
      case Definition::kStride:
        return absl::StrCat(BufferText(definition.buffer), ".strides[",
                            definition.index, "]");
      case Definition::kOffset:
        return absl::StrCat(BufferText(definition.buffer), ".elem_offset");
    }
    return {};
  }
  // The innermost frame around all uses of a variable or buffer.
  Frame& LowestFrame(const Node* variable) {
    for (int place = paths_->PlaceOf(variable); place >= 0;
         place = paths_->ParentOf(place)) {
      const int* index = frame_of_.Find(paths_->NodeAt(place));
      if (index != nullptr && *index >= 0) return *frames_[*index];
    }
    return *frames_.front();
  }
  // The top frame is the body of the definition of `pointer`.
  void BeginMemory(const VarNode* pointer) {
    definitions_.Find(pointer)->memory_frame = frames_.size() - 1;
  }
  // LowestFrame() of a buffer. The reference puts a buffer before the
  // allocation of its memory where that is the only statement of a branch.
  Frame& FrameOfBuffer(const BufferNode* buffer) {
    Frame& lowest = LowestFrame(buffer);
    const Definition* const memory = definitions_.Find(buffer->data().get());
    if (memory == nullptr || memory->memory_frame == 0 ||
        memory->memory_frame >= frames_.size() ||
        memory->memory_frame <= lowest.index) {
      return lowest;
    }
    return *frames_[memory->memory_frame];
  }
  std::string VarText(const VarNode* var);
  std::string BufferText(const BufferNode* buffer);
  std::string VarCreation(const VarNode* var);
  // `PREFIX(first, shape, dtype, data=...)`.
  std::string BufferDecl(const BufferNode* buffer, absl::string_view prefix,
                         absl::string_view first, Frame& frame,
                         BufferVars vars);
  struct BufferArgs {
    std::string shape;
    std::string dtype;  // empty: the default
    std::vector<std::string> keywords;
  };
  BufferArgs BufferArgsOf(const BufferNode* buffer, Frame& frame,
                          BufferVars vars);

  // --- Expressions.
  std::string Text(const PrimExpr& e) {
    std::string out;
    PrintExpr(e.get(), out);
    return out;
  }
  void PrintExpr(const Node* root, std::string& out) {
    const Mark mark = MarkHere();
    PushNode(root);
    PrintParts(mark, out);
  }
  // Prints the parts pushed since `mark`.
  struct Mark {
    size_t parts;
    size_t owned;
    size_t kept;
  };
  Mark MarkHere() const { return {parts_.size(), owned_.size(), kept_.size()}; }
  void PrintParts(const Mark& mark, std::string& out);
  void PrintNode(const Part& part, std::string& out);
  // Parts are pushed so that the last is printed first.
  void Push(const char* text) {
    Part part{Part::kText};
    part.text = text;
    parts_.push_back(part);
  }
  void PushOwned(std::string text) {
    Part part{Part::kOwned};
    part.index = owned_.size();
    owned_.push_back(std::move(text));
    parts_.push_back(part);
  }
  void PushNode(const Node* node, uint8_t precedence = kAny,
                bool strict = false) {
    parts_.push_back({Part::kNode, precedence, strict, 0, node, nullptr});
  }
  void PushList(absl::Span<const PrimExpr> items) {
    for (size_t i = items.size(); i-- > 0;) {
      PushNode(items[i].get());
      if (i > 0) Push(", ");
    }
  }
  void PushIndices(absl::Span<const PrimExpr> indices);
  void PushRegion(absl::Span<const Range> region);
  void PushSlice(const PrimExpr& start, const PrimExpr& stop) {
    PushNode(stop.get());
    Push(":");
    PushNode(start.get());
    kept_.push_back(stop);
  }

  // --- Statements.
  void PrintStmts();
  void PrintStmt(const Node* node, bool concise);
  void PushBody(const Stmt& body) {
    steps_.push_back({Step::kBody, false, body.get(), {}});
  }
  // Ends the frame that is on top by then.
  void PushEnd(bool concise, std::string header) {
    steps_.push_back({concise ? Step::kConcise : Step::kScope, false, nullptr,
                      std::move(header)});
  }
  // Opens a frame for the body of a definition.
  Frame& OpenBody(const Node* node, bool concise) {
    return PushFrame(node, Top().indent + (concise ? 0 : 1));
  }
  static std::string Header(bool concise, const std::string& name,
                            const std::string& value) {
    if (concise) {
      return name.empty() ? value : absl::StrCat(name, " = ", value);
    }
    return absl::StrCat("with ", value, name.empty() ? "" : " as ", name, ":");
  }
  void PrintDeclBuffer(const DeclBufferNode* decl, bool concise,
                       BufferVars vars);
  void PrintFor(const ForNode* loop);
  void PrintBlock(const BlockNode* block, const BlockRealizeNode* realize);
  void PrintAttr(const AttrStmtNode* attr, bool concise);
  void PrintIterVars(const BlockNode* block, const BlockRealizeNode* realize,
                     Frame& frame);
  std::string RealizeText(const BufferRealizeNode* realize,
                          const std::string& value);
  std::string LaunchThreadText(const AttrStmtNode* attr,
                               const VarNode** define);
  std::string TensorText(const Tensor& tensor);
  static bool IsRootBlock(const Stmt& body);

  void AppendBlock(Lines lines, int indent, Lines& to) {
    if (lines.empty()) to.push_back({indent, "pass"});
    to.splice(to.end(), lines);
  }
  static void Join(const Lines& lines, std::string& out) {
    for (const Line& line : lines) {
      out.append(static_cast<size_t>(line.indent) * 4, ' ');
      absl::StrAppend(&out, line.text, "\n");
    }
  }

  const std::string module_;
  std::optional<ScriptPaths> paths_;
  Names names_;
  std::vector<std::unique_ptr<Frame>> frames_;
  NodeMap<int> frame_of_;  // -1: there is none now
  NodeMap<bool> defined_;
  NodeMap<Definition> definitions_;
  NodeMap<const ForNode*> loop_of_;
  std::vector<Step> steps_;
  std::vector<Lines> then_lines_;
  std::vector<Part> parts_;
  std::vector<std::string> owned_;
  std::vector<std::unique_ptr<std::string>> diverted_;
  std::vector<PrimExpr> kept_;  // expressions that only the walk refers to
};

// ---------------------------------------------------------------------------
// Variables and buffers.

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

// The variables in `e`, each once.
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

std::string Tuple(const std::vector<std::string>& items) {
  return absl::StrCat("(", absl::StrJoin(items, ", "),
                      items.size() == 1 ? ",)" : ")");
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

// ---------------------------------------------------------------------------
// Expressions.

void ScriptPrinter::PrintParts(const Mark& mark, std::string& out) {
  // The strings to which text is appended: the last one is the current, the
  // first the output.
  std::vector<std::string*> to = {&out};
  while (parts_.size() > mark.parts) {
    const Part part = parts_.back();
    parts_.pop_back();
    switch (part.kind) {
      case Part::kText:
        *to.back() += part.text;
        break;
      case Part::kOwned:
        *to.back() += owned_[part.index];
        break;
      case Part::kNode:
        PrintNode(part, *to.back());
        break;
      case Part::kEnd:
        PopFrame();
        break;
      case Part::kDivert:
        to.push_back(
            diverted_.emplace_back(std::make_unique<std::string>()).get());
        break;
      case Part::kResume:
        owned_[part.index] = std::move(*to.back());
        to.pop_back();
        diverted_.pop_back();
        break;
      case Part::kParams: {
        const bool is_map = part.node->kind() == TirKind::kIndexMap;
        Frame& frame = PushFrame(part.node, 0);
        const char* separator = "";
        const auto print = [&](absl::Span<const Var> vars) {
          for (const Var& var : vars) {
            absl::StrAppend(to.back(), separator, DefineVar(var.get(), frame));
            separator = ", ";
          }
        };
        if (is_map) {
          print(static_cast<const IndexMapNode*>(part.node)->initial());
        } else {
          const auto* reducer = static_cast<const CommReducerNode*>(part.node);
          print(reducer->lhs());
          print(reducer->rhs());
        }
        break;
      }
    }
  }
  owned_.resize(mark.owned);
  kept_.resize(mark.kept);
}

void ScriptPrinter::PushIndices(absl::Span<const PrimExpr> indices) {
  if (indices.empty()) return Push("[()]");
  Push("]");
  for (size_t i = indices.size(); i-- > 0;) {
    const auto* ramp = indices[i].As<RampNode>();
    if (ramp != nullptr && ramp->stride().Is<IntImmNode>()) {
      if (!IsOne(ramp->stride())) {
        PushNode(ramp->stride().get());
        Push(":");
      }
      PushSlice(ramp->base(),
                Add(ramp->base(),
                    Mul(IntImm(kInt32, ramp->lanes()), ramp->stride())));
    } else {
      PushNode(indices[i].get());
    }
    if (i > 0) Push(", ");
  }
  Push("[");
}

void ScriptPrinter::PushRegion(absl::Span<const Range> region) {
  if (region.empty()) return Push("[()]");
  Push("]");
  for (size_t i = region.size(); i-- > 0;) {
    if (IsOne(region[i].extent)) {
      PushNode(region[i].min.get());
    } else {
      PushSlice(region[i].min, Add(region[i].min, region[i].extent));
    }
    if (i > 0) Push(", ");
  }
  Push("[");
}

// Pushes what is written for one node; parts of it wait on the stack.
void ScriptPrinter::PrintNode(const Part& part, std::string& out) {
  const Node* node = part.node;
  if (node == nullptr) {
    out += "None";
    return;
  }
  if (node->kind() == IrKind::kGlobalVar) {
    if (!module_.empty()) absl::StrAppend(&out, module_, ".");
    out += static_cast<const GlobalVarNode*>(node)->name();
    return;
  }
  if (part.precedence != kAny) {
    const Precedence own = PrecedenceOf(node);
    if (own < part.precedence || (part.strict && own == part.precedence)) {
      out.push_back('(');
      Push(")");
    }
  }
  switch (node->kind().To<TirKind>()) {
    case TirKind::kVar:
      out += VarText(static_cast<const VarNode*>(node));
      return;
    case TirKind::kIntImm: {
      const auto* imm = static_cast<const IntImmNode*>(node);
      if (imm->dtype() == kInt32) {
        absl::StrAppend(&out, imm->value());
      } else if (imm->dtype() == DType::Bool()) {
        out += imm->value() != 0 ? "T.bool(True)" : "T.bool(False)";
      } else {
        absl::StrAppend(&out, "T.", ScriptDType(imm->dtype()), "(",
                        imm->value(), ")");
      }
      return;
    }
    case TirKind::kFloatImm: {
      const auto* imm = static_cast<const FloatImmNode*>(node);
      absl::StrAppend(&out, "T.", ScriptDType(imm->dtype()), "(",
                      ScriptFloat(imm->value()), ")");
      return;
    }
    case TirKind::kStringImm:
      out += ScriptString(static_cast<const StringImmNode*>(node)->value());
      return;
    case TirKind::kCast: {
      const auto* cast = static_cast<const CastNode*>(node);
      absl::StrAppend(&out, "T.Cast(", ScriptString(ScriptDType(cast->dtype())),
                      ", ");
      Push(")");
      PushNode(cast->value().get());
      return;
    }
    case TirKind::kBinary: {
      const auto* binary = static_cast<const BinaryNode*>(node);
      const Sign sign = SignOf(binary->op());
      if (IsInfix(binary)) {
        PushNode(binary->b().get(), sign.precedence, true);
        Push(sign.infix);
        // Python would chain comparisons.
        PushNode(binary->a().get(), sign.precedence,
                 IsComparison(binary->op()));
      } else {
        Push(")");
        PushNode(binary->b().get());
        Push(", ");
        PushNode(binary->a().get());
        absl::StrAppend(&out, sign.function, "(");
      }
      return;
    }
    case TirKind::kNot: {
      const auto* not_node = static_cast<const NotNode*>(node);
      const auto* imm = not_node->a().As<IntImmNode>();
      if (imm != nullptr && imm->dtype() == kInt32) {
        out += "T.Not(";
        Push(")");
        PushNode(not_node->a().get());
      } else {
        out += "not ";
        PushNode(not_node->a().get(), kNotPrecedence);
      }
      return;
    }
    case TirKind::kSelect: {
      const auto* select = static_cast<const SelectNode*>(node);
      out += "T.Select(";
      Push(")");
      PushNode(select->false_value().get());
      Push(", ");
      PushNode(select->true_value().get());
      Push(", ");
      PushNode(select->condition().get());
      return;
    }
    case TirKind::kRamp: {
      const auto* ramp = static_cast<const RampNode*>(node);
      out += "T.Ramp(";
      PushOwned(absl::StrCat(", ", ramp->lanes(), ")"));
      PushNode(ramp->stride().get());
      Push(", ");
      PushNode(ramp->base().get());
      return;
    }
    case TirKind::kBroadcast: {
      const auto* broadcast = static_cast<const BroadcastNode*>(node);
      out += "T.Broadcast(";
      PushOwned(absl::StrCat(", ", broadcast->lanes(), ")"));
      PushNode(broadcast->value().get());
      return;
    }
    case TirKind::kShuffle: {
      const auto* shuffle = static_cast<const ShuffleNode*>(node);
      out += "T.Shuffle([";
      Push("])");
      PushList(shuffle->indices());
      Push("], [");
      PushList(shuffle->vectors());
      return;
    }
    case TirKind::kBufferLoad: {
      const auto* load = static_cast<const BufferLoadNode*>(node);
      out += BufferText(load->buffer().get());
      PushIndices(load->indices());
      return;
    }
    case TirKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      CallType type = CallType::kFirst;
      if (const auto* op = call->op().As<OpNode>()) {
        absl::StrAppend(&out, "T.", ScriptName(*op));
        if (const Intrinsic* intrinsic = IntrinsicOf(call->op())) {
          type = intrinsic->type;
        }
      } else {
        absl::StrAppend(&out, module_, module_.empty() ? "" : ".",
                        call->op().As<GlobalVarNode>() != nullptr
                            ? call->op().As<GlobalVarNode>()->name()
                            : "unknown");
      }
      out.push_back('(');
      const std::string dtype = ScriptString(ScriptDType(call->dtype()));
      Push(")");
      if (type == CallType::kGivenEnd) {
        PushOwned(absl::StrCat(call->args().empty() ? "" : ", ", dtype));
      }
      PushList(call->args());
      if (type == CallType::kGiven) {
        absl::StrAppend(&out, dtype, call->args().empty() ? "" : ", ");
      }
      return;
    }
    case TirKind::kLet: {
      // The definition is written last, but comes first in the text.
      const auto* let = static_cast<const LetNode*>(node);
      const size_t where = owned_.size();
      owned_.emplace_back();
      Push(")");
      Part text{Part::kOwned};
      text.index = where;
      parts_.push_back(text);
      PushNode(let->body().get());
      Push("T.Let(");
      Part resume{Part::kResume};
      resume.index = where;
      parts_.push_back(resume);
      Push("}");
      PushNode(let->value().get());
      Push(": ");
      PushNode(let->var().get());
      Push(", where={");
      parts_.push_back({Part::kDivert});
      return;
    }
    case TirKind::kReduce: {
      const auto* reduce = static_cast<const ReduceNode*>(node);
      out += "T.reduce(";
      PushOwned(absl::StrCat(", value_index=", reduce->value_index(), ")"));
      PushNode(reduce->condition().get());
      Push("], condition=");
      for (size_t i = reduce->axis().size(); i-- > 0;) {
        PushNode(reduce->axis()[i].get());
        if (i > 0) Push(", ");
      }
      Push("], axis=[");
      PushList(reduce->init());
      Push("], init=[");
      PushList(reduce->source());
      Push(", source=[");
      PushNode(reduce->combiner().get());
      return;
    }
    case TirKind::kCommReducer: {
      const auto* reducer = static_cast<const CommReducerNode*>(node);
      out += "T.comm_reducer(lambda ";
      Push("])");
      PushList(reducer->identity());
      Push(", [");
      parts_.push_back({Part::kEnd});
      const bool is_tuple = reducer->result().size() != 1;
      if (is_tuple) Push(")");
      PushList(reducer->result());
      if (is_tuple) Push("(");
      Push(": ");
      Part params{Part::kParams};
      params.node = node;
      parts_.push_back(params);
      return;
    }
    case TirKind::kIterVar: {
      const auto* iter_var = static_cast<const IterVarNode*>(node);
      out += "T.iter_var(";
      PushOwned(absl::StrCat(
          ", ", ScriptString(IterVarTypeName(iter_var->iter_type())), ", ",
          ScriptString(iter_var->thread_tag()), ")"));
      if (iter_var->extent().defined()) {
        Push(")");
        PushNode(iter_var->extent().get());
        Push(", ");
        PushNode(iter_var->min().get());
        Push(", T.Range(");
      } else {
        Push(", None");
      }
      PushNode(iter_var->var().get());
      return;
    }
    case TirKind::kIndexMap: {
      const auto* map = static_cast<const IndexMapNode*>(node);
      out += "T.index_map(";
      Push(")");
      const auto push_lambda = [this](const IndexMapNode* m) {
        parts_.push_back({Part::kEnd});
        Push(m->final_indices().size() == 1 ? ",)" : ")");
        PushList(m->final_indices());
        Push(": (");
        Part params{Part::kParams};
        params.node = m;
        parts_.push_back(params);
        Push("lambda ");
      };
      if (const auto* inverse = map->inverse().As<IndexMapNode>()) {
        push_lambda(inverse);
        Push(", inverse_index_map=");
      }
      push_lambda(map);
      return;
    }
    case TirKind::kBuffer:
      out += BufferText(static_cast<const BufferNode*>(node));
      return;
    case TirKind::kBufferRegion: {
      const auto* region = static_cast<const BufferRegionNode*>(node);
      out += BufferText(region->buffer().get());
      PushRegion(region->region());
      return;
    }
    case TirKind::kList:
      out.push_back('[');
      Push("]");
      PushList(static_cast<const ListNode*>(node)->items());
      return;
    case TirKind::kDict: {
      const auto* dict = static_cast<const DictNode*>(node);
      out.push_back('{');
      Push("}");
      for (size_t i = dict->keys().size(); i-- > 0;) {
        PushNode(dict->values()[i].get());
        PushOwned(absl::StrCat(i > 0 ? ", " : "", ScriptString(dict->keys()[i]),
                               ": "));
      }
      return;
    }
    case TirKind::kTarget:
      out += "T.target(";
      Push(")");
      PushNode(static_cast<const TargetNode*>(node)->config().get());
      return;
    default:
      // No expression: statements and functions stand in none.
      absl::StrAppend(&out, "T.", NodeKindName(node->kind()), "()");
      return;
  }
}

// ---------------------------------------------------------------------------
// Statements.

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

// ---------------------------------------------------------------------------
// Functions.

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
