// ScriptPrinter: writes functions of loops as scripts. Its definitions are in
// script_printer.cc (buffers, functions), script_printer_expressions.cc and
// script_printer_statements.cc.

#ifndef BATON_TIR_IR_SCRIPT_PRINTER_IMPL_H_
#define BATON_TIR_IR_SCRIPT_PRINTER_IMPL_H_

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
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/script_paths.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir::internal {

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

// The variables that the printer may define along with a buffer.
enum class BufferVars {
  kNone,      // all of it is defined before
  kPointer,   // the pointer
  kMatching,  // the pointer, extents, strides and the offset
};

// Names in use. A name that is taken gets a number: `i`, `i_1`, `i_2`.
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
  // `module` is the prefix of the names of called functions, as in
  // `module.f(x)`. Calls have no prefix if it is empty.
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
  // The text of a variable or buffer.
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

// The variables in `e`, each once.
void AppendVars(const PrimExpr& e, std::vector<const VarNode*>& vars);

}  // namespace baton::tir::internal

#endif  // BATON_TIR_IR_SCRIPT_PRINTER_IMPL_H_
