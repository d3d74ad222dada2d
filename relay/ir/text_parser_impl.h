// Implementation of the parser of text_parser.h.
//
// Expressions nest without recursion. Each unfinished construct is a Frame, and
// finished parts are on stacks that the frames share. A frame that begins a
// part pushes a frame for it. When the part is finished, its value is on top of
// `values_` and its frame is popped.
//
// A syntax error unwinds the frames to the nearest statement, where the parser
// looks for the next one. An unknown name is reported; its value is
// `placeholder_`.

#ifndef BATON_RELAY_IR_TEXT_PARSER_IMPL_H_
#define BATON_RELAY_IR_TEXT_PARSER_IMPL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/source.h"
#include "baton/ir/attrs.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_text.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/text_lexer.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_metadata_reader.h"
#include "baton/relay/ir/text_name_table.h"

namespace baton::relay {
namespace internal {

// Parses one text.
class TextParser final : public FunctionTextReader {
 public:
  explicit TextParser(TextInput* input);

  // Parses a `def`, `type` or `extern`, a text that is an expression, or the
  // metadata.
  bool ParseDefinition(absl::string_view keyword, IRModule* module) override;
  void Finish(IRModule* module) override;

  // Each parses the whole text, once. Returns null if there are errors.
  Expr ParseExpr();
  Type ParseType();

 private:
  // The numbers of bindings at the beginning of a scope.
  struct Scope {
    uint32_t vars;
    uint32_t types;
  };

  struct Frame {
    enum Kind : uint8_t {
      kSequence,
      kBinary,
      kCall,
      kParens,
      kBlock,
      kIf,
      kFunction,
      kRef,
      kMatch,
    };
    Kind kind;
    uint8_t state = 0;
    // For a sequence: true in braces, false if it is the whole text.
    bool in_braces = false;
    // For a sequence: it is the value of a let, and ends with the first
    // expression that the text does not bind to a name.
    bool ends_with_value = false;
    uint32_t values = 0;  // size of values_ at the beginning
    uint32_t stack = 0;   // size of lets_ or operators_ at the beginning
    Scope scope = {};
    int64_t begin = 0;
    // For a sequence: the number being bound. For a binary operator: the
    // beginning of its last operand. For a reference or a match: the kind of
    // token.
    int64_t number = 0;
  };
  // `let`, or an expression followed by `;`.
  struct PendingLet {
    Var var;
    Expr value;
    int64_t begin;
  };
  struct PendingOperator {
    int operation;
    int64_t begin;  // of the left operand
  };
  struct PendingFunction {
    std::vector<Var> params;
    std::vector<TypeVar> type_params;
    Type result_type;
    DictAttrs attrs;
    // Empty, or one item for each parameter.
    AttrList param_devices;
  };
  struct PendingMatch {
    std::vector<Pattern> patterns;
    Scope scope;  // of the unfinished clause
  };
  struct ParsedAttr {
    std::string key;
    AttrValue value;
    int64_t begin;
    int64_t end;
  };
  // The name of a data type and the place of its first use.
  struct TypeName {
    GlobalTypeVar var;
    int64_t begin = 0;
    int64_t end = 0;
  };
  struct TypeFrame {
    enum Kind : uint8_t { kTuple, kFuncArgs, kFuncResult, kCall, kRef };
    Kind kind;
    size_t values;  // size of type_values_ at the beginning
    Type head;      // of a call
    std::vector<TypeVar> type_params;
    Scope scope = {};
  };

  // These call members of `input_`.
  bool Error(int64_t begin, int64_t end, std::string message) {
    return input_.Error(begin, end, std::move(message));
  }
  // True if a further error would be kept. If it would only be counted, the
  // caller does not search for similar names.
  bool KeepsErrors() const {
    return diagnostics_->num_errors() < Diagnostics::kMaxErrors;
  }
  bool ErrorHere(std::string message) {
    return input_.ErrorHere(std::move(message));
  }
  bool Expected(absl::string_view what) { return input_.Expected(what); }
  bool Expect(TokenKind kind) {
    return lexer_.Accept(kind) || Expected(TokenKindName(kind));
  }
  bool TooManyErrors() const { return input_.TooManyErrors(); }
  Span SpanFrom(int64_t begin) const {
    return Span(source_, begin, lexer_.last_end());
  }

  // Definitions: text_parser_module.cc.
  bool ParseFunction(IRModule* module);
  bool ParseTypeDefinition(IRModule* module);
  bool ParseTypeBody(const GlobalTypeVar& name, bool is_extern, TypeData* type);
  bool ParseConstructor(const GlobalTypeVar& name,
                        const std::vector<TypeVar>& params,
                        std::vector<Constructor>* constructors);
  bool ParseTypes(TokenKind close, std::vector<Type>* types);
  void CheckTypeNames();
  void EndDefinition();
  void FinishText();
  Expr ParseWholeExpr();
  MetadataReader* Metadata();
  MetaItem ParseMeta();

  // Names.
  Scope CurrentScope() const { return {vars_.size(), type_vars_.size()}; }
  void EndScope(const Scope& scope) {
    vars_.Shrink(scope.vars);
    type_vars_.Shrink(scope.types);
  }
  std::vector<std::string> NamesInScope() const;
  const GlobalTypeVar& NoteTypeName(absl::string_view name);
  // The text from the current token to the first `last`, inclusive; empty if
  // `last` is not nearby.
  absl::string_view TextUpTo(char last) const;

  // Types: text_parser_types.cc.
  Type ParseTypeText();
  bool BeginType(bool* done);
  bool EndTypePart(bool* done);
  bool ParseTensorType();
  bool ParseShape(Dims* shape);
  bool ParseTypeParams(std::vector<TypeVar>* params);

  // Attributes: text_parser_attrs.cc.
  bool ParseAttrList(TokenKind close, std::vector<ParsedAttr>* attrs);
  bool ParseAttrValue(int depth, AttrValue* value);
  static bool IntegersOf(const Constant& constant, AttrValue* value);
  bool ParseAttrItems(TokenKind close, int depth, AttrValue* value);
  bool ParseAttrMap(int depth, AttrValue* value);
  bool ParseCallAttrs(const Expr& callee, Attrs* attrs);
  bool ParseFunctionAttrs(DictAttrs* attrs);
  Attrs MakeAttrs(const AttrsType& type, absl::string_view owner,
                  std::vector<ParsedAttr> attrs, int64_t begin);
  Attrs DefaultAttrs(const OpNode* op, int64_t begin);
  std::string StringValue(const Token& token);

  // Expressions: text_parser_exprs.cc.
  bool Run();
  bool Step();
  bool Recover();
  void Unwind();
  Frame NewFrame(Frame::Kind kind, int64_t begin) const;
  Frame& Push(Frame::Kind kind, int64_t begin);
  void PushSequence(bool in_braces);
  void PushBinary();
  void Pop(Expr value);
  bool StepSequence();
  bool StepBinary();
  bool StepCall();
  bool StepParens();
  bool StepBlock();
  bool StepIf();
  bool StepFunction();
  bool StepRef();
  bool StepMatch();
  bool BeginStatement();
  bool BeginBinary();
  bool ParseFreeVar();
  bool BeginLet();
  void FinishSequence();
  const Expr* FindGraph(int64_t number) const;
  void BindGraph(int64_t number, int64_t begin, Expr value);
  bool Operand();
  bool ParseLocal();
  bool ParseGraph();
  bool ParseName();
  bool ParseNumber();
  bool PushInteger(const Token& token, bool negative, int64_t begin);
  bool PushFloat(const Token& token, bool negative, int64_t begin);
  void PushConstant(Tensor value, int64_t begin);
  bool ParseProjection(int64_t begin);
  void Reduce(Frame& frame, int precedence);
  // The state of a part that may need frames.
  enum class Progress : uint8_t {
    kFailed,
    kDone,      // its value is on top of `values_`
    kNew,       // needs frames; no token of it is consumed
    kHasValue,  // as kNew, and its first operand is on top of `values_`
  };
  Progress ParseAtom(int64_t* begin);
  Progress ParseCall(Frame& call, int64_t* begin);
  void PushElement(Progress progress, int64_t begin);
  Progress FinishCall(const Frame& call, Attrs attrs);
  bool BeginFunction(int64_t begin);
  bool ParseParams(PendingFunction* function);
  bool ParseParam(PendingFunction* function, int64_t list);
  bool BeginClause();
  bool ParsePattern(int depth, Pattern* pattern);
  bool ParsePatternParts(int depth, std::vector<Pattern>* parts);

  TextInput& input_;
  Lexer& lexer_;
  const std::shared_ptr<const Source>& source_;
  Diagnostics* const diagnostics_;
  const Expr placeholder_;
  // The number of errors when the current definition began.
  int errors_before_definition_ = 0;
  bool has_definitions_ = false;

  bool metadata_sought_ = false;
  int64_t metadata_offset_ = -1;
  std::unique_ptr<MetadataReader> metadata_;

  // The bindings in scope. The stacks below keep their nodes alive.
  NameTable<VarNode> vars_;
  NameTable<TypeVarNode> type_vars_;
  FlatHashMap<absl::string_view, Var> free_vars_;
  FlatHashMap<absl::string_view, Constructor> constructors_;
  FlatHashMap<absl::string_view, TypeName> type_names_;
  // `%0`, `%1`, ... of the definition; numbers out of order are elsewhere.
  std::vector<Expr> graph_;
  FlatHashMap<int64_t, Expr> sparse_graph_;

  // Caches of the last nodes for the same text.
  NameTable<OpNode> ops_;
  FlatHashMap<absl::string_view, Type> types_by_text_;
  FlatHashMap<std::pair<const AttrsType*, absl::string_view>, Attrs>
      attrs_by_text_;
  std::vector<Expr> binary_ops_;

  std::vector<Frame> frames_;
  std::vector<Expr> values_;
  std::vector<PendingLet> lets_;
  std::vector<PendingOperator> operators_;
  std::vector<PendingFunction> functions_;
  std::vector<PendingMatch> matches_;
  std::vector<TypeFrame> type_frames_;
  std::vector<Type> type_values_;
};

}  // namespace internal
}  // namespace baton::relay

#endif  // BATON_RELAY_IR_TEXT_PARSER_IMPL_H_
