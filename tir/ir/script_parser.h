// Reads functions of loops from scripts: the implementation of the text reader
// (script_reader.cc). Nothing recurses over the depth of the script.

#ifndef BATON_TIR_IR_SCRIPT_PARSER_H_
#define BATON_TIR_IR_SCRIPT_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/script_lexer.h"
#include "baton/tir/ir/script_value.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

// The interface through which the parser reports errors and places.
class ScriptContext {
 public:
  virtual ~ScriptContext() = default;
  virtual void Error(int64_t begin, int64_t end, std::string message) = 0;
  virtual bool TooManyErrors() const = 0;
  virtual Span SpanOf(int64_t begin, int64_t end) = 0;
  // The function of the module of that name.
  virtual GlobalVar Global(absl::string_view name, int64_t begin,
                           int64_t end) = 0;
  // Defines a function; null if it has errors. `is_incomplete`: blocks are
  // marked by kDetectAccess.
  virtual void Define(absl::string_view name, int64_t begin, int64_t end,
                      PrimFunc function, bool is_incomplete) = 0;
};

// The annotation of a block whose script lacks T.reads or T.writes: a sum of
// kDetectReads and kDetectWrites. CompleteBlocks() (tir/script) replaces it by
// regions.
inline constexpr absl::string_view kDetectAccess =
    "tir.script_parsing_detect_access";
inline constexpr int64_t kDetectReads = 1;
inline constexpr int64_t kDetectWrites = 2;

class ScriptParser {
 public:
  // `text` is the whole source; the definition begins at `begin`.
  ScriptParser(absl::string_view text, int64_t begin, ScriptContext* context)
      : text_(text), context_(*context), lexer_(text, begin) {}
  ScriptParser(const ScriptParser&) = delete;
  ScriptParser& operator=(const ScriptParser&) = delete;

  // Reads the functions of a class, or one function.
  void ParseDefinition();
  // Reads an expression by itself, over the given variables; null if it has
  // errors. `text` has no definition then, and `begin` is 0.
  PrimExpr ParseExpressionOver(absl::Span<const Var> vars);
  int64_t end() const { return lexer_.end(); }

 private:
  using Value = ScriptValue;
  using Token = ScriptToken;
  using Tok = ScriptTokenKind;

  // A statement whose body is being read.
  struct Scope {
    enum Kind : uint8_t { kFunction, kBody, kThen, kElse, kBlock, kInit };
    Kind kind = kBody;
    bool concise = false;  // ends with the scope around it
    bool chained = false;  // of kElse: `elif`
    size_t names = 0;      // of undo_, at its beginning
    int64_t begin = 0;
    int64_t header_end = 0;
    std::vector<Stmt> stmts;
    // kBody: makes the statement with that body.
    std::function<Stmt(Stmt, Span)> make;
    // kThen and kElse.
    PrimExpr condition;
    Stmt then_case;
    // kBlock.
    BlockNode::Parts block;
    std::vector<PrimExpr> iter_values;
    PrimExpr predicate;
    bool has_reads = false;
    bool has_writes = false;
    bool no_realize = false;
  };
  struct Undo {
    std::string name;
    bool was_defined;
    Value value;
  };
  static constexpr size_t kNoBracket = static_cast<size_t>(-1);
  // An open bracket or an operation that waits for its right operand.
  struct Pending {
    enum Kind : uint8_t {
      kBinary,
      kUnary,
      kParen,
      kList,
      kDict,
      kCall,
      kIndex
    };
    Kind kind = kBinary;
    uint32_t sign = 0;
    int precedence = 0;
    int64_t begin = 0;
    // The open bracket around it, in pending_.
    size_t bracket = kNoBracket;
    size_t base = 0;        // of values_, where its operands begin
    size_t item = 0;        // of kIndex: where the item begins
    int colons = 0;         // of kIndex: of the item
    bool is_tuple = false;  // of kParen, kIndex: has a comma
    size_t num_keys = 0;    // of kDict
    // kCall: the indices of keyword arguments.
    std::vector<std::pair<std::string, size_t>> keywords;
  };
  using Values = std::vector<Value>;

  // --- Tokens.
  const Token& token() const { return lexer_.tokens()[next_]; }
  const Token& TokenAt(size_t index) const {
    const auto& tokens = lexer_.tokens();
    return tokens[index < tokens.size() ? index : tokens.size() - 1];
  }
  void Next() {
    if (next_ + 1 < lexer_.tokens().size()) ++next_;
  }
  absl::string_view TextOf(const Token& t) const {
    return text_.substr(static_cast<size_t>(t.begin),
                        static_cast<size_t>(t.end - t.begin));
  }
  bool AtName(absl::string_view name) const {
    return token().kind == Tok::kName && TextOf(token()) == name;
  }
  bool AtSign(const char* sign) const {
    return token().kind == Tok::kSign && token().sign == Sign(sign);
  }
  bool Accept(const char* sign) {
    if (!AtSign(sign)) return false;
    Next();
    return true;
  }
  bool Expect(const char* sign);
  std::string Found() const;
  // Report an error; each returns false.
  bool Fail(int64_t begin, int64_t end, std::string message);
  bool Fail(const Value& value, std::string message) {
    return Fail(value.begin, value.end, std::move(message));
  }
  bool FailHere(std::string message) {
    return Fail(token().begin, token().end, std::move(message));
  }

  // --- Names.
  void DefineName(absl::string_view name, Value value);
  void RestoreNames(size_t size);
  Value Lookup(const Token& t);
  static Value ExprValue(PrimExpr e, int64_t begin, int64_t end);

  // --- Expressions (script_expressions.cc).
  // An expression, up to a token that does not belong to it.
  bool ParseExpr(Value* result);
  // Parses expressions; with commas, a tuple.
  bool ParseExprs(Value* result);
  bool ParseOperand(bool* want_operand, bool* done);
  bool ParseOperator(bool* want_operand, bool* done);
  bool ParseLambda();
  bool ReduceTo(int precedence);
  bool EndItem();
  bool Close(uint32_t bracket);
  void Push(Pending op);
  // The innermost open bracket of the expression; null if there is none.
  Pending* Bracket();
  bool ApplyUnary(uint32_t sign, const Value& a, Value* result);
  bool ApplyBinary(uint32_t sign, const Value& a, const Value& b,
                   Value* result);
  bool ApplyNumbers(uint32_t sign, const Value& a, const Value& b,
                    Value* result);
  bool ApplyIndex(const Value& base, Values indices, int64_t end,
                  Value* result);
  bool ApplyAttribute(const Value& base, const Token& name, Value* result);
  bool Compound(Value::Kind kind, Values items, int64_t begin, int64_t end,
                Value* result);
  // Evaluates the body of a lambda, whose parameters are `vars`.
  bool EvaluateLambda(const Value& lambda, absl::Span<const Var> vars,
                      std::vector<PrimExpr>* results);

  // --- Conversions.
  bool ToExpr(const Value& value, PrimExpr* e);
  bool ToExprs(const Values& values, std::vector<PrimExpr>* result);
  // The items of a list or tuple, or a single expression.
  bool ToExprList(const Value& value, std::vector<PrimExpr>* result);
  // As the value of an annotation or attribute; null for None.
  bool ToAttr(const Value& value, PrimExpr* e);
  bool ToDict(const Value& value, Dict* dict);
  bool ToVar(const Value& value, Var* var);
  bool ToDType(const Value& value, DType* dtype);
  bool ToText(const Value& value, std::string* text);
  bool ToInt(const Value& value, int64_t* number);
  // A predicate, for which 0 and 1 are bools; and what `if` tests.
  bool ToCondition(const Value& value, PrimExpr* e);
  bool ToTest(const Value& value, PrimExpr* e);
  bool ToRegion(const Value& value, BufferRegion* region);
  // The elements of a region, as vectors; null if their number is not constant.
  PrimExpr LoadOf(const BufferRegion& region);

  // --- Functions (script_functions.cc).
  // A call of `T.name`.
  bool CallFunction(absl::string_view name, Values args,
                    std::vector<std::pair<std::string, Value>> keywords,
                    int64_t begin, int64_t end, Value* result);
  bool CallDType(DType dtype, const Values& args,
                 const std::vector<std::pair<std::string, Value>>& keywords,
                 const Value& place, Value* result);
  // Sorts the arguments of a form by the names of its parameters; null where
  // one is not given.
  bool Bind(const Value& form, std::initializer_list<const char*> names,
            size_t required, std::vector<const Value*>* args);
  // The names that may follow `T.`, but for data types.
  static std::vector<std::string> FunctionNames();

  // Functions of expressions. Each Read method makes the result of the calls of
  // one function, or of several that differ by their names.
  struct FunctionCall;
  struct FunctionRow {
    absl::string_view name;
    bool (ScriptParser::*read)(FunctionCall& call);
  };
  static const FunctionRow kFunctions[30];
  bool Bind(FunctionCall& call, std::initializer_list<const char*> names,
            size_t required);
  // Sets the result of the call. Returns true.
  static bool Give(FunctionCall& call, PrimExpr e);
  // Reports that the types of the operands differ. Returns false.
  bool FailToMatch(const FunctionCall& call, const PrimExpr& a,
                   const PrimExpr& b);
  // Reports that there is no such function. Returns false.
  bool FailUnknown(const FunctionCall& call);
  // A call of the operator whose name is `op_name`.
  bool CallNamed(FunctionCall& call, const Value& dtype_name,
                 const Value& op_name, std::vector<PrimExpr> args);
  bool ReadAbs(FunctionCall& call);
  bool ReadBinary(FunctionCall& call, BinaryOp op);
  bool ReadBroadcast(FunctionCall& call);
  bool ReadBufferLoad(FunctionCall& call);
  bool ReadCall(FunctionCall& call);
  bool ReadCallIntrin(FunctionCall& call);
  bool ReadCast(FunctionCall& call);
  bool ReadCastNode(FunctionCall& call);
  bool ReadCeilDiv(FunctionCall& call);
  bool ReadCommReducer(FunctionCall& call);
  bool ReadImm(FunctionCall& call);
  bool ReadIndexMap(FunctionCall& call);
  bool ReadInfinity(FunctionCall& call);
  bool ReadIntrinsic(FunctionCall& call);
  bool ReadIsInfinite(FunctionCall& call);
  bool ReadIterVar(FunctionCall& call);
  bool ReadLet(FunctionCall& call);
  bool ReadLimit(FunctionCall& call);
  bool ReadMetaVar(FunctionCall& call);
  bool ReadNot(FunctionCall& call);
  bool ReadRamp(FunctionCall& call);
  bool ReadSelect(FunctionCall& call);
  bool ReadShuffle(FunctionCall& call);
  bool ReadTarget(FunctionCall& call);
  bool ReadText(FunctionCall& call);
  bool ReadVar(FunctionCall& call);

  // --- Buffers (script_buffers.cc).
  // A call of a method of a buffer or an expression.
  bool CallMethod(const Value& method, Values args,
                  std::vector<std::pair<std::string, Value>> keywords,
                  int64_t end, Value* result);
  bool CallAsType(const Value& method, const Value& form, Value* result);
  bool CallAccessPtr(const Value& method, const Value& form, Value* result);
  bool CallLoadOrStore(const Value& method, const Value& form, Value* result);
  // Makes the buffer of `form`, a call with the arguments of a buffer after
  // `skip` others.
  bool MakeBuffer(const Value& form, absl::string_view name, size_t skip,
                  Buffer* buffer, bool* has_data);

  // --- Statements (script_statements.cc).
  void ParseClass();
  void ParseFunction();
  bool ParseDecorators(bool* is_private);
  bool ParseParam(FlatHashSet<std::string>* names, PrimFuncNode::Parts* parts);
  void ParseBody();
  bool ParseStmt();
  bool ParseFor(int64_t begin);
  bool ParseWith(int64_t begin);
  bool ParseSimple(int64_t begin);
  bool Assign(const std::vector<Token>& names, const Value& value,
              int64_t begin);
  bool AssignForm(const Token& name, const Value& form, int64_t begin);
  bool AssignAnnotated(const Token& name, const Value& type, const Value& value,
                       int64_t begin);
  bool Store(const Value& target, const Value& value, int64_t begin);
  bool ExpressionStmt(const Value& value, int64_t begin);
  bool AxisForm(const std::vector<Token>& names, const Value& form);
  // The names that `num_values` values get: `*a, b` is a_0, a_1 ..., b, and
  // `a` for several values a_0, a_1 ...
  struct NamedTarget {
    std::string name;
    Token token;
    size_t group;  // of the name that is written
  };
  bool SpreadTargets(const std::vector<Token>& names, size_t starred,
                     size_t num_values, const Value& values,
                     std::vector<NamedTarget>* targets);
  // Defines each written name as the values of its group.
  void DefineTargets(const std::vector<Token>& names, size_t starred,
                     const std::vector<NamedTarget>& targets,
                     const std::vector<Var>& vars);
  bool BlockForm(const Value& form);
  Scope* InnerBlock();
  bool Expects(absl::string_view what);
  // Begins the scope of a body; `concise`: to the end of the scope around it.
  Scope& Open(Scope::Kind kind, bool concise, int64_t begin);
  void Append(Stmt stmt) { scopes_.back().stmts.push_back(std::move(stmt)); }
  // Ends the innermost indented body, and what is concise in it.
  void CloseBody();
  void CloseTop();
  void MarkIncomplete(const Scope& scope, BlockNode::Parts& parts);
  PrimFunc MakeFunction(Stmt body);
  void SkipLine();
  void SkipBody();
  Span SpanFrom(int64_t begin) const {
    return context_.SpanOf(begin, last_end_);
  }

  // --- Statements with a body (script_scopes.cc).
  // Opens the body of `form`, which defines `name` if that is not null.
  // `in_with`: the body is indented.
  bool ScopeForm(const Value& form, const Token* name, bool in_with,
                 int64_t begin);
  // Each Read method reads the calls of one function.
  struct ScopeCall;
  struct ScopeRow {
    absl::string_view name;
    bool (ScriptParser::*read)(ScopeCall& call);
  };
  static const ScopeRow kScopes[8];
  Scope& OpenBody(const ScopeCall& call);
  // Defines the name of the call, if it has one, as `e`.
  void DefineResult(const ScopeCall& call, const PrimExpr& e);
  bool ReadAllocate(ScopeCall& call);
  bool ReadAllocateConst(ScopeCall& call);
  bool ReadAssert(ScopeCall& call);
  bool ReadAttr(ScopeCall& call);
  bool ReadDeclBuffer(ScopeCall& call);
  bool ReadLaunchThread(ScopeCall& call);
  bool ReadLetStmt(ScopeCall& call);
  bool ReadRealize(ScopeCall& call);

  const absl::string_view text_;
  ScriptContext& context_;
  ScriptLexer lexer_;
  size_t next_ = 0;
  int64_t last_end_ = 0;
  bool good_ = true;
  int lambda_depth_ = 0;

  std::string module_name_;
  FlatHashMap<std::string, DType> functions_;  // of the class: result types
  FlatHashMap<std::string, Value> names_;
  std::vector<Undo> undo_;

  std::vector<Pending> pending_;
  Values values_;
  size_t pending_base_ = 0;

  std::vector<Scope> scopes_;
  PrimFuncNode::Parts function_;
  std::string function_name_;
  bool is_private_ = false;
  bool has_attrs_ = false;
  bool is_incomplete_ = false;
  std::vector<Buffer> root_buffers_;
  NodeMap<Range> loop_ranges_;
  FlatHashMap<std::string, std::string> env_threads_;  // variable to tag
};

// The extent of the range from `start` to `stop`. A sum of `start` and an
// extent gives that extent; else terms that cancel are left out.
PrimExpr ExtentBetween(const PrimExpr& start, const PrimExpr& stop);

}  // namespace baton::tir

#endif  // BATON_TIR_IR_SCRIPT_PARSER_H_
