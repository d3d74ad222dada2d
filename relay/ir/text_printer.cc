#include "baton/relay/ir/text_printer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_text.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_text.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_literals.h"
#include "baton/relay/ir/text_metadata.h"
#include "baton/relay/ir/text_numbers.h"
#include "baton/relay/ir/text_type_params.h"
#include "baton/relay/ir/text_unique_names.h"
#include "baton/relay/ir/virtual_device.h"
#include "baton/relay/ir/visit.h"

namespace baton::relay {
namespace {

bool IsAtomic(const ExprNode* node) {
  return node == nullptr || IsLeaf(node->kind());
}

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The characters that the name of a variable may have in a text.
constexpr std::array<bool, 256> MakeInName() {
  std::array<bool, 256> in_name{};
  for (int c = 0; c < 128; ++c) {
    in_name[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                 (c >= '0' && c <= '9') || c == '_' || c == '/';
  }
  return in_name;
}
constexpr std::array<bool, 256> kInName = MakeInName();

// The end of a statement, and spaces for the indentation of the next line.
constexpr absl::string_view kLineBreak =
    ";\n                                                              ";

// Text in pieces, so that what is nested deeply is not copied at every level.
struct Rope {
  std::list<std::string> chunks;
  std::string tail;
  int indent = 0;   // at which its lines were written
  int buffer = -1;  // see Printer::Buffer

  bool IsSmall() const { return chunks.empty() && tail.size() < 2048; }
};

// Writes one module or expression.
//
// The order of things follows the reference, because numbers and names depend
// on it. A node is *visited* after its operands, operator first: variables,
// constants and nested functions get their names and numbers then. Visiting a
// node *settles* its operands, arguments first: each that is not atomic gets
// the next `%N` and its line is written, unless it has one. A node at the end
// of a scope or a let's value that has one user is written in place.
//
// A visited node waits for its line as an Item; its text is on the stack
// `text_`, in a Rope if it holds scopes, or in an Entry if it has many users.
class Printer final : public FunctionTextWriter {
 public:
  explicit Printer(TextOutput* output)
      : options_(output->options()), output_(*output), out_(&output->text()) {
    sinks_.emplace_back();
    sinks_.back().buffer = 0;
  }

  void WriteFunction(const GlobalVar& var, const BaseFunc& function) override;
  void WriteType(const TypeDefinition& type) override;
  // The section or note after the program.
  void Finish() override;

  void PrintRoot(const Expr& expr);

  // From now on sets element N of `nodes` to the node written as `%N`.
  void SetNumbered(std::vector<const ExprNode*>* nodes) { numbered_ = nodes; }

 private:
  // A visited operand.
  struct Item {
    enum Kind : uint8_t {
      kDirect,   // an operator, a constructor, a global variable, or null
      kInline,   // text_[begin, end): a constant
      kEntry,    // entries_[index]
      kPending,  // text_[begin, end): waits for its line
      kRope,     // ropes_[index]: waits for its line
      kTemp,     // `%index`
    };
    Kind kind;
    const ExprNode* node;
    size_t index = 0;
    size_t begin = 0;
    size_t end = 0;
  };

  // A variable, or a constant or expression that may have several users.
  struct Entry {
    enum Kind : uint8_t {
      kVar,      // names_[number]
      kFreeVar,  // the same, without its declaration yet
      kText,     // texts_[number]: a constant
      kPending,  // texts_[number]: waits for its line
      kRope,     // ropes_[number]: waits for its line
      kTemp,     // `%number`
    };
    Kind kind = kPending;
    int buffer = 0;  // where a temporary is defined
    const ExprNode* node = nullptr;
    size_t number = 0;
  };

  // A stretch of output. It is open while it is written, then held until the
  // line of its node is written into another, which as a rule is the one in
  // which it was begun. What uses a temporary that is defined in a held stretch
  // must come after it: a stretch notes such needs, and they are written before
  // it is.
  struct Buffer {
    enum State : uint8_t {
      kOpen,
      kHeldByItem,   // items_[where]
      kHeldByEntry,  // entries_[where]
      kPromised,     // ropes_[where], whose line has its number already
      kPlaced,       // in buffers_[where]
    };
    State state = kOpen;
    int parent = 0;  // in which it was begun
    size_t where = 0;
    const ExprNode* node = nullptr;  // if promised, and the number
    size_t number = 0;
    int users = 0;       // open or held buffers that need this one
    int open_users = 0;  // those that are open
    std::vector<int> needs;
  };

  struct Frame {
    enum Kind : uint8_t {
      kRoot,
      kDataflow,
      kRef,
      kIf,
      kMatch,
      kFunction,
      kLet
    };
    Kind kind;
    bool in_place = false;      // text goes straight to the output
    bool inline_child = false;  // the child under way is in place
    bool prefix_pending = false;
    bool sink_begun = false;
    uint8_t stage = 0;
    int entry = -1;  // the node's entry, if it may have several users
    uint32_t child = 0;
    const ExprNode* node;
    size_t items_base;
    size_t text_base;
    size_t prefix_begin = 0;
    size_t prefix_end = 0;
  };

  void Run() {
    while (!frames_.empty()) Step();
  }
  void Step();
  void StepDataflow();
  void StepRef();
  void StepIf();
  void StepMatch();
  void StepFunction();
  void StepLet();

  void PushFrame(const ExprNode* node, bool in_place, int entry);
  // Visits `child`; true if that is done, else a frame was pushed. When it is
  // done, one item was pushed.
  bool Arrive(const Expr& child);
  // As Arrive, for a child at the end of a scope or of a let: written in place
  // if it has one user.
  bool ArriveInline(const Expr& child);
  void FinishInline();
  // Makes an item atomic: writes its line if it waits for one.
  void Settle(size_t item);
  void SettleEntry(size_t entry);
  size_t SettleRope(size_t rope, const ExprNode* node);
  // The buffer that holds the text of `buffer` now.
  int ResolveBuffer(int buffer);
  bool IsHeld(int buffer) const {
    return buffers_[buffer].state != Buffer::kOpen;
  }
  // Sees to it that a held buffer comes before what is written next.
  void Need(int buffer);
  void WriteNeedsOf(int buffer);
  void WriteHeld(int buffer);
  void WriteRopeLine(size_t rope, const ExprNode* node, size_t number);
  // Opens the frames whose text begins now.
  void Open();
  void FinishDataflow(absl::string_view text);
  void FinishScoped();
  void PopFrame() {
    text_.resize(frames_.back().text_base);
    items_.resize(frames_.back().items_base);
    frames_.pop_back();
  }

  void BeginSink();
  Rope EndSink();
  void AppendRope(size_t rope);
  void NewLine() {
    const auto indent = static_cast<size_t>(indent_);
    if (indent <= kLineBreak.size() - 2) {
      out_->append(kLineBreak.data() + 1, 1 + indent);
    } else {
      out_->push_back('\n');
      out_->append(indent, ' ');
    }
    if (sinks_.size() == 1) output_.FlushSome();
  }
  // `;` and NewLine().
  void EndStatement() {
    const auto indent = static_cast<size_t>(indent_);
    if (indent > kLineBreak.size() - 2) {
      out_->push_back(';');
      return NewLine();
    }
    out_->append(kLineBreak.data(), 2 + indent);
    if (sinks_.size() == 1) output_.FlushSome();
  }

  void AppendItem(const Item& item, std::string* out);
  void AppendExprText(const ExprNode* node, size_t items, std::string* out);
  void AppendCallAttrs(const CallNode* call, bool first, std::string* out);
  void AppendFields(const AttrsNode* attrs, bool* first, std::string* out);
  void AppendAttrValue(const AttrValue& value, std::string* out);
  void AppendConstant(const ConstantNode* constant, std::string* out);
  // `[A, B]`, in scope until EndTypeParams.
  void AppendTypeParams(absl::Span<const TypeVar> params, std::string* out);
  void EndTypeParams(absl::Span<const TypeVar> params);
  void AppendPattern(const PatternNode* pattern, std::string* out);
  void AppendFunctionHead(const FunctionNode* function, std::string* out);
  void AppendTypeText(const Type& type, std::string* out);
  void AppendNote(const ExprNode* node, std::string* out);
  void BeginLine(size_t number, const ExprNode* node) {
    if (numbered_ != nullptr) {
      if (numbered_->size() <= number) numbered_->resize(number + 1);
      (*numbered_)[number] = node;
    }
    out_->push_back('%');
    AppendInt(static_cast<int64_t>(number), out_);
    out_->append(" = ");
  }
  void EndLine(const ExprNode* node) {
    AppendNote(node, out_);
    EndStatement();
  }

  // The number in names_ of a name for a variable.
  size_t UniqueName(const std::string& name);
  size_t AddText(std::string text) {
    texts_.push_back(std::move(text));
    return texts_.size() - 1;
  }
  // Declares a bound variable and appends `%x: type`.
  void AppendBinder(const VarNode* var, std::string* out) {
    AppendBinder(var, nullptr, out);
  }
  // `device`: where the variable is, if that is written.
  void AppendBinder(const VarNode* var, const AttrValue* device,
                    std::string* out);
  void AppendDeclaration(const VarNode* var, absl::string_view name,
                         const AttrValue* device, std::string* out);
  bool HasOneUser(const ExprNode* node);
  void CountUsers();

  // The text of a type of the program that was written lately.
  struct TypeText {
    const TypeNode* type = nullptr;
    std::string text;
  };
  static constexpr size_t kTypeTexts = 16;
  void ForgetTypeTexts() {
    for (TypeText& known : type_texts_) known.type = nullptr;
  }

  const TextOptions options_;
  TextOutput& output_;
  internal::MetadataTable metadata_;
  internal::UniqueNames names_;
  TypeParamNames type_names_;
  TypeText type_texts_[kTypeTexts];
  size_t next_temp_ = 0;
  std::vector<const ExprNode*>* numbered_ = nullptr;
  int indent_ = 0;

  // The state of the definition in progress.
  const Expr* root_ = nullptr;
  const std::string* definition_name_ = nullptr;
  NodeMap<size_t> entry_of_;
  std::vector<Entry> entries_;
  std::vector<std::string> texts_;
  bool users_counted_ = false;
  NodeMap<int> users_;
  std::vector<Buffer> buffers_;

  std::vector<Frame> frames_;
  std::vector<Item> items_;
  std::string text_;
  std::string prefixes_;
  std::string scratch_;
  std::vector<Rope> ropes_;
  std::vector<size_t> free_ropes_;
  // The nested destinations of text. The last one is current; when it ends, it
  // is appended to the one before. The first stands for the output.
  std::list<Rope> sinks_;
  std::string* out_;
};

// ---------------------------------------------------------------------------
// Definitions.

void Printer::WriteFunction(const GlobalVar& var, const BaseFunc& function) {
  definition_name_ = &var->name();
  PrintRoot(function);
  definition_name_ = nullptr;
}

void Printer::WriteType(const TypeDefinition& definition) {
  const auto* const type = definition.As<TypeDataNode>();
  type_names_.AddDataType(type->name());
  for (const Constructor& constructor : type->constructors()) {
    for (const Type& input : constructor->inputs()) {
      type_names_.AddDataTypesIn(input);
    }
  }
  out_->append("type ");
  out_->append(type->name());
  AppendTypeParams(type->type_params(), out_);
  out_->append(" {");
  indent_ += 2;
  if (type->constructors().empty()) NewLine();
  for (const Constructor& constructor : type->constructors()) {
    NewLine();
    out_->append(constructor->name());
    bool first = true;
    for (const Type& input : constructor->inputs()) {
      out_->append(first ? "(" : ", ");
      first = false;
      AppendTypeText(input, out_);
    }
    out_->append(first ? "," : "),");
  }
  indent_ -= 2;
  NewLine();
  out_->push_back('}');
  EndTypeParams(type->type_params());
}

void Printer::PrintRoot(const Expr& expr) {
  root_ = &expr;
  entry_of_.Clear();
  entries_.clear();
  texts_.clear();
  users_.Clear();
  users_counted_ = false;
  ropes_.clear();
  free_ropes_.clear();
  buffers_.assign(1, Buffer());
  type_names_.Clear();
  Frame frame{Frame::kRoot};
  frame.node = expr.get();
  frame.items_base = 0;
  frame.text_base = 0;
  if (definition_name_ != nullptr) {
    frame.kind = Frame::kFunction;
    frame.in_place = true;
  }
  frames_.push_back(frame);
  Run();
}

void Printer::Finish() {
  if (metadata_.empty()) return;
  NewLine();
  if (options_.metadata) {
    out_->append("#[metadata]\n");
    metadata_.AppendJson(
        out_, [this](std::string* /*text*/) { output_.FlushSome(); });
  } else if (options_.note_omitted_metadata) {
    out_->append(
        "/* For debugging purposes the metadata section has been omitted.\n"
        " * If you would like to see the full metadata section you can set "
        "the \n"
        " * option to `True` when invoking `astext`. \n"
        " */");
  }
}

// ---------------------------------------------------------------------------
// Frames.

void Printer::PushFrame(const ExprNode* node, bool in_place, int entry) {
  Frame frame{Frame::kDataflow};
  switch (ExprKindOf(node)) {
    case ExprKind::kIf:
      frame.kind = Frame::kIf;
      break;
    case ExprKind::kMatch:
      frame.kind = Frame::kMatch;
      break;
    case ExprKind::kFunction:
      frame.kind = Frame::kFunction;
      break;
    case ExprKind::kLet:
      frame.kind = Frame::kLet;
      break;
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kRefWrite:
      frame.kind = Frame::kRef;
      break;
    default:
      break;
  }
  frame.in_place = in_place;
  frame.entry = entry;
  frame.node = node;
  frame.items_base = items_.size();
  frame.text_base = text_.size();
  frames_.push_back(frame);
}

void Printer::Step() {
  switch (frames_.back().kind) {
    case Frame::kRoot: {
      Frame& frame = frames_.back();
      if (frame.stage == 0) {
        frame.stage = 1;
        if (!ArriveInline(*root_)) return;
      }
      if (!frames_.back().inline_child) FinishInline();
      PopFrame();
      return;
    }
    case Frame::kDataflow:
      return StepDataflow();
    case Frame::kRef:
      return StepRef();
    case Frame::kIf:
      return StepIf();
    case Frame::kMatch:
      return StepMatch();
    case Frame::kFunction:
      return StepFunction();
    case Frame::kLet:
      return StepLet();
  }
}

void Printer::StepDataflow() {
  const ExprNode* node = frames_.back().node;
  absl::Span<const Expr> operands;
  size_t items = frames_.back().items_base;
  switch (ExprKindOf(node)) {
    case ExprKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      operands = call->args();
      if (frames_.back().child == 0) {
        frames_.back().child = 1;
        if (!Arrive(call->op())) return;
      }
      while (frames_.back().child <= operands.size()) {
        if (!Arrive(operands[frames_.back().child++ - 1])) return;
      }
      for (size_t i = 1; i <= operands.size(); ++i) Settle(items + i);
      Settle(items);
      break;
    }
    case ExprKind::kTuple:
      operands = static_cast<const TupleNode*>(node)->fields();
      while (frames_.back().child < operands.size()) {
        if (!Arrive(operands[frames_.back().child++])) return;
      }
      for (size_t i = 0; i < operands.size(); ++i) Settle(items + i);
      break;
    default: {
      const Expr& tuple = static_cast<const TupleGetItemNode*>(node)->tuple();
      if (frames_.back().child == 0) {
        frames_.back().child = 1;
        if (!Arrive(tuple)) return;
      }
      Settle(items);
      break;
    }
  }
  if (frames_.back().in_place) {
    Open();
    AppendExprText(node, items, out_);
    AppendNote(node, out_);
    PopFrame();
  } else {
    scratch_.clear();
    AppendExprText(node, items, &scratch_);
    FinishDataflow(scratch_);
  }
}

void Printer::StepRef() {
  const ExprNode* node = frames_.back().node;
  const size_t items = frames_.back().items_base;
  const Expr* operands[2] = {nullptr, nullptr};
  switch (ExprKindOf(node)) {
    case ExprKind::kRefCreate:
      operands[0] = &static_cast<const RefCreateNode*>(node)->value();
      break;
    case ExprKind::kRefRead:
      operands[0] = &static_cast<const RefReadNode*>(node)->ref();
      break;
    default:
      operands[0] = &static_cast<const RefWriteNode*>(node)->ref();
      operands[1] = &static_cast<const RefWriteNode*>(node)->value();
      break;
  }
  // Each operand is settled before the next is visited.
  for (; frames_.back().stage < 2; ++frames_.back().stage) {
    const uint8_t i = frames_.back().stage;
    if (operands[i] == nullptr) break;
    if (frames_.back().child == i) {
      ++frames_.back().child;
      if (!Arrive(*operands[i])) return;
    }
    Settle(items + i);
  }
  if (frames_.back().in_place) {
    Open();
    AppendExprText(node, items, out_);
    PopFrame();
  } else {
    scratch_.clear();
    AppendExprText(node, items, &scratch_);
    FinishDataflow(scratch_);
  }
}

void Printer::StepIf() {
  const auto* branch = static_cast<const IfNode*>(frames_.back().node);
  if (frames_.back().stage == 0) {
    frames_.back().stage = 1;
    if (!Arrive(branch->cond())) return;
  }
  if (frames_.back().stage == 1) {
    const size_t cond = frames_.back().items_base;
    Settle(cond);
    if (frames_.back().in_place) {
      Open();
    } else {
      BeginSink();
    }
    out_->append("if (");
    AppendItem(items_[cond], out_);
    out_->append(") {");
    indent_ += 2;
    NewLine();
    frames_.back().stage = 2;
    if (!ArriveInline(branch->true_branch())) return;
  }
  if (frames_.back().stage == 2) {
    if (!frames_.back().inline_child) FinishInline();
    indent_ -= 2;
    NewLine();
    out_->append("} else {");
    indent_ += 2;
    NewLine();
    frames_.back().stage = 3;
    if (!ArriveInline(branch->false_branch())) return;
  }
  if (!frames_.back().inline_child) FinishInline();
  indent_ -= 2;
  NewLine();
  out_->push_back('}');
  FinishScoped();
}

void Printer::StepMatch() {
  const auto* match = static_cast<const MatchNode*>(frames_.back().node);
  if (frames_.back().stage == 0) {
    frames_.back().stage = 1;
    if (!Arrive(match->data())) return;
  }
  if (frames_.back().stage == 1) {
    const size_t data = frames_.back().items_base;
    Settle(data);
    if (frames_.back().in_place) {
      Open();
    } else {
      BeginSink();
    }
    out_->append(match->complete() ? "match (" : "match? (");
    AppendItem(items_[data], out_);
    out_->append(") {");
    indent_ += 2;
    frames_.back().stage = 2;
  }
  // `child` counts the clauses that were begun.
  while (true) {
    if (frames_.back().child > 0) {
      if (!frames_.back().inline_child) FinishInline();
      indent_ -= 2;
      NewLine();
      out_->append("},");
    }
    if (frames_.back().child == match->clauses().size()) break;
    const Clause& clause = match->clauses()[frames_.back().child++];
    NewLine();
    AppendPattern(clause.lhs.get(), out_);
    out_->append(" => {");
    indent_ += 2;
    NewLine();
    if (!ArriveInline(clause.rhs)) return;
  }
  indent_ -= 2;
  NewLine();
  out_->push_back('}');
  FinishScoped();
}

void Printer::StepFunction() {
  const auto* function = static_cast<const FunctionNode*>(frames_.back().node);
  if (frames_.back().stage == 0) {
    if (frames_.back().in_place) {
      Open();
    } else {
      BeginSink();
    }
    if (frames_.size() == 1 && definition_name_ != nullptr) {
      out_->append("def @");
      out_->append(*definition_name_);
    } else {
      out_->append("fn ");
    }
    AppendFunctionHead(function, out_);
    out_->push_back('{');
    indent_ += 2;
    NewLine();
    frames_.back().stage = 1;
    if (!ArriveInline(function->body())) return;
  }
  if (!frames_.back().inline_child) FinishInline();
  indent_ -= 2;
  NewLine();
  out_->push_back('}');
  EndTypeParams(function->type_params());
  if (frames_.back().in_place &&
      !(frames_.size() == 1 && definition_name_ != nullptr)) {
    AppendNote(function, out_);
  }
  FinishScoped();
}

void Printer::StepLet() {
  // A chain of lets is one scope and one frame.
  while (true) {
    const auto* let = static_cast<const LetNode*>(frames_.back().node);
    if (frames_.back().stage == 0) {
      Frame& frame = frames_.back();
      frame.stage = 1;
      frame.prefix_pending = true;
      frame.prefix_begin = prefixes_.size();
      prefixes_.append("let ");
      AppendBinder(let->var().get(), &prefixes_);
      prefixes_.append(" = ");
      frame.prefix_end = prefixes_.size();
      if (!ArriveInline(let->value())) return;
    }
    if (frames_.back().stage == 1) {
      if (!frames_.back().inline_child) FinishInline();
      EndStatement();
      if (let->body().Is<LetNode>() && HasOneUser(let->body().get())) {
        frames_.back().stage = 0;
        frames_.back().node = let->body().get();
        continue;
      }
      frames_.back().stage = 2;
      if (!ArriveInline(let->body())) return;
    }
    if (!frames_.back().inline_child) FinishInline();
    if (!frames_.back().in_place) {
      indent_ -= 2;
      NewLine();
      out_->push_back(')');
    }
    FinishScoped();
    return;
  }
}

bool Printer::Arrive(const Expr& child) {
  const ExprNode* node = child.get();
  if (node == nullptr) {
    items_.push_back({Item::kDirect, nullptr});
    return true;
  }
  const NodeKind kind = node->kind();
  if (kind == ExprKind::kOp || kind == ExprKind::kGlobalVar ||
      kind == ExprKind::kConstructor) {
    items_.push_back({Item::kDirect, node});
    return true;
  }
  if (kind != ExprKind::kVar && node->unique()) {
    if (kind != ExprKind::kConstant) {
      PushFrame(node, /*in_place=*/false, /*entry=*/-1);
      return false;
    }
    const size_t begin = text_.size();
    AppendConstant(static_cast<const ConstantNode*>(node), &text_);
    items_.push_back({Item::kInline, node, 0, begin, text_.size()});
    return true;
  }
  const auto [known, is_new] = entry_of_.TryEmplace(node);
  if (is_new) *known = entries_.size();
  const size_t index = *known;
  if (!is_new) {
    items_.push_back({Item::kEntry, node, index});
    return true;
  }
  Entry entry;
  entry.node = node;
  if (kind == ExprKind::kVar) {
    // No binder was met: a free variable.
    entry.kind = Entry::kFreeVar;
    entry.number = UniqueName(static_cast<const VarNode*>(node)->name());
  } else if (kind == ExprKind::kConstant) {
    entry.kind = Entry::kText;
    entry.number = AddText({});
    AppendConstant(static_cast<const ConstantNode*>(node), &texts_.back());
  }
  entries_.push_back(entry);
  if (IsAtomic(node)) {
    items_.push_back({Item::kEntry, node, index});
    return true;
  }
  PushFrame(node, /*in_place=*/false, static_cast<int>(index));
  return false;
}

bool Printer::ArriveInline(const Expr& child) {
  if (!IsAtomic(child.get()) && HasOneUser(child.get())) {
    frames_.back().inline_child = true;
    PushFrame(child.get(), /*in_place=*/true, /*entry=*/-1);
    return false;
  }
  frames_.back().inline_child = false;
  return Arrive(child);
}

void Printer::FinishInline() {
  Settle(items_.size() - 1);
  Open();
  AppendItem(items_.back(), out_);
  items_.pop_back();
}

void Printer::Settle(size_t index) {
  Item& item = items_[index];
  switch (item.kind) {
    case Item::kPending:
      BeginLine(next_temp_, item.node);
      out_->append(text_, item.begin, item.end - item.begin);
      EndLine(item.node);
      item.index = next_temp_++;
      break;
    case Item::kRope:
      item.index = SettleRope(item.index, item.node);
      break;
    case Item::kEntry:
      SettleEntry(item.index);
      return;
    default:
      return;
  }
  item.kind = Item::kTemp;
}

void Printer::SettleEntry(size_t index) {
  Entry& entry = entries_[index];
  switch (entry.kind) {
    case Entry::kVar:
    case Entry::kText:
      return;
    case Entry::kFreeVar:
      out_->append("free_var ");
      AppendDeclaration(static_cast<const VarNode*>(entry.node),
                        names_[entry.number], /*device=*/nullptr, out_);
      EndStatement();
      entry.kind = Entry::kVar;
      return;
    case Entry::kTemp: {
      const int buffer = ResolveBuffer(entry.buffer);
      if (IsHeld(buffer)) Need(buffer);
      return;
    }
    case Entry::kPending:
      BeginLine(next_temp_, entry.node);
      out_->append(texts_[entry.number]);
      EndLine(entry.node);
      texts_[entry.number] = std::string();
      entry.number = next_temp_++;
      entry.buffer = sinks_.back().buffer;
      break;
    case Entry::kRope:
      entry.buffer = ropes_[entry.number].buffer;
      entry.number = SettleRope(entry.number, entry.node);
      break;
  }
  entry.kind = Entry::kTemp;
}

size_t Printer::SettleRope(size_t rope, const ExprNode* node) {
  const int index = ropes_[rope].buffer;
  Buffer& buffer = buffers_[index];
  if (buffer.parent != sinks_.back().buffer && buffer.users > 0) {
    // A user may precede this place: the line of the node goes where it was
    // begun, before all users.
    buffer.state = Buffer::kPromised;
    buffer.where = rope;
    buffer.node = node;
    buffer.number = next_temp_++;
    Need(index);
    return buffer.number;
  }
  WriteNeedsOf(index);
  WriteRopeLine(rope, node, next_temp_);
  return next_temp_++;
}

int Printer::ResolveBuffer(int buffer) {
  while (buffers_[buffer].state == Buffer::kPlaced) {
    const Buffer& into = buffers_[buffers_[buffer].where];
    if (into.state == Buffer::kPlaced) buffers_[buffer].where = into.where;
    buffer = static_cast<int>(buffers_[buffer].where);
  }
  return buffer;
}

void Printer::Need(int index) {
  Buffer& buffer = buffers_[index];
  if (buffer.parent == sinks_.back().buffer) {
    WriteNeedsOf(index);
    WriteHeld(index);
  } else if (buffer.open_users == 0) {
    ++buffer.users;
    ++buffer.open_users;
    buffers_[sinks_.back().buffer].needs.push_back(index);
  }
}

void Printer::WriteNeedsOf(int index) {
  if (buffers_[index].needs.empty()) return;
  // Depth first, for what is needed has needs. There are no cycles: a held
  // buffer needs older ones only.
  std::vector<std::pair<int, size_t>> stack = {{index, 0}};
  while (!stack.empty()) {
    const auto [top, next] = stack.back();
    if (next < buffers_[top].needs.size()) {
      ++stack.back().second;
      const int need = ResolveBuffer(buffers_[top].needs[next]);
      if (!IsHeld(need)) continue;
      if (buffers_[need].parent == sinks_.back().buffer) {
        stack.push_back({need, 0});
      } else {
        Need(need);
      }
      continue;
    }
    stack.pop_back();
    // It may have been written meanwhile, as a need of another.
    if (!stack.empty() && buffers_[top].state != Buffer::kPlaced) {
      WriteHeld(top);
    }
  }
}

void Printer::WriteHeld(int buffer) {
  const Buffer& held = buffers_[buffer];
  if (held.state == Buffer::kPromised) {
    WriteRopeLine(held.where, held.node, held.number);
  } else if (held.state == Buffer::kHeldByItem) {
    Item& item = items_[held.where];
    WriteRopeLine(item.index, item.node, next_temp_);
    item.kind = Item::kTemp;
    item.index = next_temp_++;
  } else {
    Entry& entry = entries_[held.where];
    WriteRopeLine(entry.number, entry.node, next_temp_);
    entry.kind = Entry::kTemp;
    entry.number = next_temp_++;
    entry.buffer = buffer;
  }
}

void Printer::WriteRopeLine(size_t rope, const ExprNode* node, size_t number) {
  BeginLine(number, node);
  AppendRope(rope);
  EndLine(node);
}

void Printer::Open() {
  size_t lowest = frames_.size() - 1;
  while (lowest > 0 && frames_[lowest].in_place &&
         frames_[lowest - 1].prefix_pending) {
    --lowest;
  }
  bool any = false;
  for (size_t i = lowest; i < frames_.size(); ++i) {
    Frame& frame = frames_[i];
    if (!frame.prefix_pending) continue;
    frame.prefix_pending = false;
    if (!frame.in_place && !frame.sink_begun) {
      frame.sink_begun = true;
      BeginSink();
      out_->push_back('(');
      indent_ += 2;
      NewLine();
    }
    out_->append(prefixes_, frame.prefix_begin,
                 frame.prefix_end - frame.prefix_begin);
    if (!any) {
      any = true;
      lowest = i;
    }
  }
  if (any) prefixes_.resize(frames_[lowest].prefix_begin);
}

void Printer::FinishDataflow(absl::string_view text) {
  const int index = frames_.back().entry;
  const ExprNode* node = frames_.back().node;
  PopFrame();
  if (index >= 0) {
    entries_[index].number = AddText(std::string(text));
    items_.push_back({Item::kEntry, node, static_cast<size_t>(index)});
    return;
  }
  const size_t begin = text_.size();
  text_.append(text.data(), text.size());
  items_.push_back({Item::kPending, node, 0, begin, text_.size()});
}

void Printer::FinishScoped() {
  const int index = frames_.back().entry;
  const ExprNode* node = frames_.back().node;
  const bool in_place = frames_.back().in_place;
  PopFrame();
  if (in_place) return;
  Rope rope = EndSink();
  const int buffer = rope.buffer;
  size_t slot;
  if (free_ropes_.empty()) {
    slot = ropes_.size();
    ropes_.push_back(std::move(rope));
  } else {
    slot = free_ropes_.back();
    free_ropes_.pop_back();
    ropes_[slot] = std::move(rope);
  }
  if (index >= 0) {
    entries_[index].kind = Entry::kRope;
    entries_[index].number = slot;
    buffers_[buffer].state = Buffer::kHeldByEntry;
    buffers_[buffer].where = static_cast<size_t>(index);
    items_.push_back({Item::kEntry, node, static_cast<size_t>(index)});
  } else {
    buffers_[buffer].state = Buffer::kHeldByItem;
    buffers_[buffer].where = items_.size();
    items_.push_back({Item::kRope, node, slot});
  }
}

// ---------------------------------------------------------------------------
// Output.

void Printer::BeginSink() {
  const int buffer = static_cast<int>(buffers_.size());
  buffers_.emplace_back();
  buffers_.back().parent = sinks_.back().buffer;
  sinks_.emplace_back();
  sinks_.back().indent = indent_;
  sinks_.back().buffer = buffer;
  out_ = &sinks_.back().tail;
}

Rope Printer::EndSink() {
  Rope rope = std::move(sinks_.back());
  for (int need : buffers_[rope.buffer].needs) --buffers_[need].open_users;
  sinks_.pop_back();
  out_ = sinks_.size() == 1 ? &output_.text() : &sinks_.back().tail;
  return rope;
}

void Printer::AppendRope(size_t slot) {
  Rope rope = std::move(ropes_[slot]);
  ropes_[slot] = Rope();
  free_ropes_.push_back(slot);
  Buffer& buffer = buffers_[rope.buffer];
  for (int need : buffer.needs) --buffers_[ResolveBuffer(need)].users;
  buffer.needs.clear();
  buffer.state = Buffer::kPlaced;
  buffer.where = static_cast<size_t>(sinks_.back().buffer);
  buffers_[sinks_.back().buffer].users += buffer.users;
  if (rope.indent != indent_) {
    // Written for another depth: move every line.
    rope.chunks.push_back(std::move(rope.tail));
    for (const std::string& chunk : rope.chunks) {
      size_t from = 0;
      for (size_t i = 0; i < chunk.size(); ++i) {
        if (chunk[i] != '\n') continue;
        out_->append(chunk, from, i + 1 - from);
        from = i + 1;
        if (indent_ > rope.indent) {
          out_->append(static_cast<size_t>(indent_ - rope.indent), ' ');
        } else {
          from += static_cast<size_t>(rope.indent - indent_);
        }
      }
      if (from < chunk.size()) {
        out_->append(chunk, from, chunk.size() - from);
      }
    }
    return;
  }
  if (sinks_.size() == 1 || rope.IsSmall()) {
    for (const std::string& chunk : rope.chunks) out_->append(chunk);
    out_->append(rope.tail);
    return;
  }
  Rope& sink = sinks_.back();
  sink.chunks.push_back(std::move(sink.tail));
  sink.chunks.splice(sink.chunks.end(), rope.chunks);
  sink.tail = std::move(rope.tail);
}

void Printer::AppendItem(const Item& item, std::string* out) {
  switch (item.kind) {
    case Item::kDirect:
      if (item.node == nullptr) {
        out->append("(nullptr)");
      } else if (item.node->kind() == ExprKind::kOp) {
        out->append(static_cast<const OpNode*>(item.node)->name());
      } else if (item.node->kind() == ExprKind::kConstructor) {
        out->append(static_cast<const ConstructorNode*>(item.node)->name());
      } else {
        out->push_back('@');
        out->append(static_cast<const GlobalVarNode*>(item.node)->name());
      }
      return;
    case Item::kInline:
    case Item::kPending:
      out->append(text_, item.begin, item.end - item.begin);
      return;
    case Item::kTemp:
      out->push_back('%');
      AppendInt(static_cast<int64_t>(item.index), out);
      return;
    case Item::kEntry: {
      const Entry& entry = entries_[item.index];
      switch (entry.kind) {
        case Entry::kVar:
        case Entry::kFreeVar: {
          const absl::string_view name = names_[entry.number];
          out->append(name.data(), name.size());
          return;
        }
        case Entry::kText:
        case Entry::kPending:
          out->append(texts_[entry.number]);
          return;
        case Entry::kTemp:
          out->push_back('%');
          AppendInt(static_cast<int64_t>(entry.number), out);
          return;
        case Entry::kRope:
          return;  // settled before
      }
      return;
    }
    case Item::kRope:
      return;  // settled before
  }
}

void Printer::AppendExprText(const ExprNode* node, size_t items,
                             std::string* out) {
  switch (ExprKindOf(node)) {
    case ExprKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      AppendItem(items_[items], out);
      const size_t num_args = static_cast<size_t>(call->num_args());
      if (const auto* constructor = call->op().As<ConstructorNode>()) {
        if (num_args == 0 && constructor->num_inputs() == 0) return;
      }
      out->push_back('(');
      for (size_t i = 1; i <= num_args; ++i) {
        if (i != 1) out->append(", ");
        AppendItem(items_[items + i], out);
      }
      if (call->attrs().defined()) AppendCallAttrs(call, num_args == 0, out);
      out->push_back(')');
      return;
    }
    case ExprKind::kTuple: {
      const size_t size = static_cast<const TupleNode*>(node)->fields().size();
      out->push_back('(');
      for (size_t i = 0; i < size; ++i) {
        if (i != 0) out->append(", ");
        AppendItem(items_[items + i], out);
      }
      out->append(size == 1 ? ",)" : ")");
      return;
    }
    case ExprKind::kTupleGetItem: {
      const auto* item = static_cast<const TupleGetItemNode*>(node);
      // `@f.0` would be a name, `1.0` a number.
      const bool parens =
          IsAtomic(item->tuple().get()) && !item->tuple().Is<VarNode>();
      if (parens) out->push_back('(');
      AppendItem(items_[items], out);
      out->append(parens ? ")." : ".");
      AppendInt(item->index(), out);
      return;
    }
    case ExprKind::kRefCreate:
      out->append("ref(");
      AppendItem(items_[items], out);
      out->push_back(')');
      return;
    case ExprKind::kRefRead:
      out->append("ref_read(");
      AppendItem(items_[items], out);
      out->push_back(')');
      return;
    case ExprKind::kRefWrite:
      out->append("ref_write(");
      AppendItem(items_[items], out);
      out->append(", ");
      AppendItem(items_[items + 1], out);
      out->push_back(')');
      return;
    default:
      return;
  }
}

void Printer::AppendCallAttrs(const CallNode* call, bool first,
                              std::string* out) {
  const AttrsNode* attrs = call->attrs().get();
  const OpNode* op = call->op_node();
  if (options_.metadata && op != nullptr &&
      op->attrs_type() != &attrs->type()) {
    // Written in place, they would be read as the operator's own type.
    if (!first) out->append(", ");
    metadata_.AppendRef(attrs, out);
    return;
  }
  AppendFields(attrs, &first, out);
  if (op == nullptr) {
    out->append(first ? "attrs_type_key=" : ", attrs_type_key=");
    AppendQuoted(attrs->type().type_key(), out);
  }
}

void Printer::AppendFields(const AttrsNode* attrs, bool* first,
                           std::string* out) {
  const FieldList& fields = attrs->fields();
  for (const Field& field : fields.fields()) {
    if (fields.IsDefault(field, attrs->object())) continue;
    if (!*first) out->append(", ");
    *first = false;
    out->append(field.name());
    out->push_back('=');
    AppendAttrValue(field.Get(attrs->object()), out);
  }
}

void Printer::AppendAttrValue(const AttrValue& value, std::string* out) {
  if (const int64_t* i = value.As<int64_t>()) {
    AppendInt(*i, out);
  } else if (const std::string* s = value.As<std::string>()) {
    AppendQuoted(*s, out);
  } else if (const bool* b = value.As<bool>()) {
    out->append(*b ? "True" : "False");
  } else if (const double* d = value.As<double>()) {
    AppendReal(*d, out);
    out->push_back('f');
  } else if (const DType* dtype = value.As<DType>()) {
    AppendQuoted(dtype->is_void() ? "" : dtype->ToString(), out);
  } else if (const Dim* dim = value.As<Dim>()) {
    if (dim->is_symbolic()) {
      metadata_.AppendRef(dim->expr(), out);
    } else {
      out->append(dim->ToString());
    }
  } else if (const AttrList* list = value.As<AttrList>()) {
    out->push_back('[');
    for (size_t i = 0; i < list->size(); ++i) {
      if (i != 0) out->append(", ");
      AppendAttrValue((*list)[i], out);
    }
    out->push_back(']');
  } else if (IsVirtualDevice(value)) {
    metadata_.AppendDeviceRef(value, out);
  } else if (const AttrMap* map = value.As<AttrMap>()) {
    out->push_back('{');
    for (size_t i = 0; i < map->size(); ++i) {
      if (i != 0) out->append(", ");
      AppendQuoted((*map)[i].first, out);
      out->push_back('=');
      AppendAttrValue((*map)[i].second, out);
    }
    out->push_back('}');
  } else {
    out->append("None");
  }
}

void Printer::AppendConstant(const ConstantNode* constant, std::string* out) {
  if (!AppendScalar(constant->value(), out)) metadata_.AppendRef(constant, out);
  AppendNote(constant, out);
}

void Printer::AppendTypeParams(absl::Span<const TypeVar> params,
                               std::string* out) {
  if (params.empty()) return;
  out->push_back('[');
  bool first = true;
  for (const TypeVar& param : params) {
    if (!first) out->append(", ");
    first = false;
    out->append(type_names_.Declare(param));
  }
  out->push_back(']');
  ForgetTypeTexts();
}

void Printer::EndTypeParams(absl::Span<const TypeVar> params) {
  if (params.empty()) return;
  type_names_.EndScope(params);
  ForgetTypeTexts();
}

// `Cons(%x: A, _)`. Declares the variables.
void Printer::AppendPattern(const PatternNode* pattern, std::string* out) {
  // The rest to be written: patterns, and the marks between them.
  struct Piece {
    const PatternNode* pattern;
    const char* mark;
  };
  std::vector<Piece> work = {{pattern, nullptr}};
  while (!work.empty()) {
    const Piece piece = work.back();
    work.pop_back();
    if (piece.mark != nullptr) {
      out->append(piece.mark);
      continue;
    }
    const absl::Span<const Pattern> parts = piece.pattern->patterns();
    switch (piece.pattern->form()) {
      case PatternNode::Form::kWildcard:
        out->push_back('_');
        continue;
      case PatternNode::Form::kVar:
        AppendBinder(piece.pattern->var().get(), out);
        continue;
      case PatternNode::Form::kConstructor:
        out->append(piece.pattern->constructor()->name());
        if (parts.empty()) continue;
        break;
      case PatternNode::Form::kTuple:
        break;
    }
    out->push_back('(');
    work.push_back({nullptr, ")"});
    for (size_t i = parts.size(); i-- > 0;) {
      work.push_back({parts[i].get(), nullptr});
      if (i != 0) work.push_back({nullptr, ", "});
    }
  }
}

void Printer::AppendFunctionHead(const FunctionNode* function,
                                 std::string* out) {
  AppendTypeParams(function->type_params(), out);
  out->push_back('(');
  const DictAttrs& attrs = function->attrs();
  const AttrValue* devices = attrs.Find(kParamVirtualDevices);
  const AttrList* device_of =
      devices == nullptr ? nullptr : devices->As<AttrList>();
  // Parameters do not show a list without devices, or of another length.
  if (device_of != nullptr &&
      (device_of->size() != function->params().size() ||
       std::all_of(device_of->begin(), device_of->end(),
                   [](const AttrValue& device) { return device.is_none(); }))) {
    device_of = nullptr;
  }
  bool first = true;
  for (size_t i = 0; i < function->params().size(); ++i) {
    if (!first) out->append(", ");
    first = false;
    AppendBinder(function->params()[i].get(),
                 device_of == nullptr ? nullptr : &(*device_of)[i], out);
  }
  const auto append = [&](absl::string_view key, const AttrValue& value) {
    if (!first) out->append(", ");
    first = false;
    absl::StrAppend(out, key, "=");
    AppendAttrValue(value, out);
  };
  // The device comes last.
  const AttrValue* device = nullptr;
  for (const auto& [key, value] : attrs.entries()) {
    if (device_of != nullptr && &value == devices) continue;
    if (key == kVirtualDevice && IsVirtualDevice(value)) {
      device = &value;
    } else {
      append(key, value);
    }
  }
  if (device != nullptr) append(kVirtualDevice, *device);
  out->append(") ");
  if (function->result_type().defined()) {
    out->append("-> ");
    AppendTypeText(function->result_type(), out);
    out->push_back(' ');
  }
}

void Printer::AppendTypeText(const Type& type, std::string* out) {
  TypeText& known =
      type_texts_[reinterpret_cast<uintptr_t>(type.get()) / 64 % kTypeTexts];
  if (known.type != type.get()) {
    known.type = type.get();
    known.text.clear();
    AppendType(
        type_names_.Named(type).get(),
        [this](const DimExprNode* dim, std::string* text) {
          metadata_.AppendRef(dim, text);
        },
        &known.text);
  }
  out->append(known.text);
}

void Printer::AppendNote(const ExprNode* node, std::string* out) {
  if (!options_.types || node == nullptr || !node->type().defined()) return;
  switch (ExprKindOf(node)) {
    case ExprKind::kConstant:
    case ExprKind::kCall:
    case ExprKind::kVar:
    case ExprKind::kFunction:
    case ExprKind::kTuple:
    case ExprKind::kTupleGetItem:
      out->append(" /* ty=");
      AppendTypeText(node->type(), out);
      out->append(" */");
      return;
    default:
      return;
  }
}

// ---------------------------------------------------------------------------
// Names and users.

size_t Printer::UniqueName(const std::string& name) {
  std::string& text = names_.Begin();
  text.push_back('%');
  if (name.empty() || !IsLetter(name[0])) text.push_back('v');
  const size_t begin = text.size();
  text.append(name);
  for (size_t i = begin; i < text.size(); ++i) {
    if (!kInName[static_cast<unsigned char>(text[i])]) text[i] = '_';
  }
  return names_.Finish();
}

void Printer::AppendBinder(const VarNode* var, const AttrValue* device,
                           std::string* out) {
  if (var == nullptr) {
    out->append("(nullptr)");
    return;
  }
  // A variable that only its binder holds is not used.
  if (var->unique()) {
    AppendDeclaration(var, names_[UniqueName(var->name())], device, out);
    return;
  }
  const auto [index, is_new] = entry_of_.TryEmplace(var);
  if (!is_new) {
    // Bound twice, or used before it is bound.
    const absl::string_view name = names_[entries_[*index].number];
    out->append(name.data(), name.size());
    out->append("-malformed-ir");
    return;
  }
  *index = entries_.size();
  Entry entry;
  entry.kind = Entry::kVar;
  entry.node = var;
  entry.number = UniqueName(var->name());
  AppendDeclaration(var, names_[entry.number], device, out);
  entries_.push_back(entry);
}

void Printer::AppendDeclaration(const VarNode* var, absl::string_view name,
                                const AttrValue* device, std::string* out) {
  out->append(name.data(), name.size());
  if (device != nullptr && !device->is_none()) {
    absl::StrAppend(out, " {", kVirtualDevice, "=");
    AppendAttrValue(*device, out);
    out->push_back('}');
  }
  if (var->annotation().defined()) {
    out->append(": ");
    AppendTypeText(var->annotation(), out);
  }
  AppendNote(var, out);
}

bool Printer::HasOneUser(const ExprNode* node) {
  // One holder is one user. More may be handles elsewhere: count.
  if (node->unique()) return true;
  if (!users_counted_) CountUsers();
  const int* users = users_.Find(node);
  return users == nullptr || *users <= 1;
}

void Printer::CountUsers() {
  users_counted_ = true;
  std::vector<const ExprNode*> stack = {root_->get()};
  while (!stack.empty()) {
    const ExprNode* node = stack.back();
    stack.pop_back();
    ForEachChild(node, [&](const Expr& child) {
      if (IsAtomic(child.get())) return;
      if (child->unique() || ++users_[child.get()] == 1) {
        stack.push_back(child.get());
      }
    });
  }
}

std::string Print(const Expr& expr, const TextOptions& options,
                  std::ostream* os) {
  TextOutput output(options, os);
  Printer printer(&output);
  printer.PrintRoot(expr);
  printer.Finish();
  return std::move(output).Finish();
}

BATON_REGISTER_TEXT_WRITER(Printer, FunctionNode::kKind, TypeDataNode::kKind);

}  // namespace

std::string AsText(const Expr& expr, const TextOptions& options) {
  return Print(expr, options, nullptr);
}

void AsText(const Expr& expr, std::ostream& os, const TextOptions& options) {
  Print(expr, options, &os);
}

std::string ToText(const Expr& expr) {
  return Print(expr, kTextForPeople, nullptr);
}

std::vector<const ExprNode*> NumberedNodes(const IRModule& module) {
  std::vector<IRModule::DefinitionOf<Function>> definitions =
      module.functions<Function>();
  std::sort(definitions.begin(), definitions.end(),
            [](const auto& a, const auto& b) {
              return a.var->name() < b.var->name();
            });
  TextOptions options = kTextForPeople;
  options.types = false;
  TextOutput output(options, nullptr);
  Printer printer(&output);
  std::vector<const ExprNode*> result;
  printer.SetNumbered(&result);
  for (const auto& definition : definitions) {
    printer.WriteFunction(definition.var, definition.function);
  }
  return result;
}

}  // namespace baton::relay
