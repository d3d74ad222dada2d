// Registers readers and writers of the text of functions, one pair for each
// level of the IR (node_kind.h). The text of modules (module_text.h) uses them.
//
// A text is a list of definitions. Each begins with a keyword, which selects
// its reader; the kind of a definition selects its writer. One reader or writer
// object handles all definitions of a level in one module.
//
//   loop @sum(...) { ... }
//
//   class LoopReader final : public FunctionTextReader {
//    public:
//     explicit LoopReader(TextInput* input) : input_(*input) {}
//     bool ParseDefinition(absl::string_view keyword,
//                          IRModule* module) override {
//       Lexer& lexer = input_.lexer();
//       lexer.Next();  // `loop`
//       const Token name = lexer.token();
//       if (name.kind != TokenKind::kGlobal) {
//         return input_.Expected("a global name");
//       }
//       input_.Define(lexer.Name(), "@");
//       lexer.Next();
//       ...
//       module->Set(input_.Global(name), LoopFunction(...));
//       return true;
//     }
//   ...
//   BATON_REGISTER_TEXT_READER(LoopReader, "loop");
//
//   class LoopWriter final : public FunctionTextWriter { ... };
//   BATON_REGISTER_TEXT_WRITER(LoopWriter, LoopFunctionNode::kKind);
//
// A keyword is an identifier, or `@` and a name (`@T.prim_func`), for texts
// whose definitions begin with a decorator.
//
// Put both into a library that is linked as a whole (alwayslink).

#ifndef BATON_IR_FUNCTION_TEXT_H_
#define BATON_IR_FUNCTION_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/registry.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/node.h"
#include "baton/ir/span.h"
#include "baton/ir/text_lexer.h"
#include "baton/ir/type.h"

namespace baton {

// ---------------------------------------------------------------------------
// Reading.

// A text being read: its tokens, its errors, and the global names that its
// definitions share.
class TextInput {
 public:
  // `diagnostics` must outlive the input. The spans of the nodes that are read
  // keep `source` alive.
  TextInput(std::shared_ptr<const Source> source, Diagnostics* diagnostics);
  TextInput(const TextInput&) = delete;
  TextInput& operator=(const TextInput&) = delete;

  const std::shared_ptr<const Source>& source() const { return source_; }
  Diagnostics& diagnostics() { return *diagnostics_; }
  Lexer& lexer() { return lexer_; }

  // Report an error at [begin, end) or at the current token. Each returns
  // false.
  bool Error(int64_t begin, int64_t end, std::string message);
  bool ErrorHere(std::string message);
  // Reports `expected WHAT, found ...` at the current token.
  bool Expected(absl::string_view what);
  // Moves past the current token if it is of that kind, otherwise reports an
  // error.
  bool Expect(TokenKind kind) {
    return lexer_.Accept(kind) || Expected(TokenKindName(kind));
  }
  bool TooManyErrors() const {
    return diagnostics_->num_errors() >= Diagnostics::kMaxErrors;
  }
  // From `begin` to the end of the last consumed token.
  Span SpanFrom(int64_t begin) const {
    return Span(source_, begin, lexer_.last_end());
  }
  Span SpanOf(const Token& token) const {
    return Span(source_, token.begin, token.end);
  }

  // The GlobalVar of the function `@name`, of any kind: all uses of the name
  // share one node. `name` is a token of kind kGlobal.
  GlobalVar Global(const Token& name);
  // Records that a definition has the name `name`; the current token must be
  // that name. Reports an error and returns false if an earlier definition has
  // the same name and mark. Marks separate name spaces: `@` for functions of
  // all kinds, `type ` for data types.
  bool Define(absl::string_view name, absl::string_view mark);
  bool IsDefined(absl::string_view name, absl::string_view mark) const;
  // Reports an error if a definition with the mark `other` has the name `name`.
  // The current token must be that name, whose new definition has the mark
  // `mark`.
  void ExpectNotDefined(absl::string_view name, absl::string_view mark,
                        absl::string_view other);

  // The span of the current token; null if memory runs out.
  Span Place() const noexcept;

  // True at the end of the definitions: at the end of the text or at the
  // beginning of the metadata section.
  bool AtTextEnd() const {
    return lexer_.kind() == TokenKind::kEnd ||
           lexer_.kind() == TokenKind::kMetadata;
  }
  // True at the keyword of a definition: a reserved keyword, a registered one
  // that a global name or another word follows, or a registered decorator.
  // Recovery from an error stops here.
  bool AtDefinition();
  void SkipToDefinition();
  // This token with its `@`, if it is a global name that is registered as a
  // keyword; else empty.
  absl::string_view Decorator() const;

  // Moves to the first token of the text, past the version line. Returns false
  // if there is no version line.
  bool ParseVersion();

 private:
  const std::shared_ptr<const Source> source_;
  Diagnostics* const diagnostics_;
  Lexer lexer_;
  FlatHashMap<absl::string_view, GlobalVar> globals_;
  FlatHashMap<std::string, Span> defined_;
};

// Makes a TextInput of `make_source()` and returns the result of
// `read(TextInput&)`. If memory runs out, reports an error and returns a
// default value.
template <typename MakeSource, typename Read>
auto ReadText(const MakeSource& make_source, Diagnostics& diagnostics,
              const Read& read) {
  using Result = decltype(read(std::declval<TextInput&>()));
  std::optional<TextInput> input;
  return IfOutOfMemory(
      [&] { return read(input.emplace(make_source(), &diagnostics)); },
      [&] {
        diagnostics.OutOfMemory(input.has_value() ? input->Place() : Span(),
                                "what the text says");
        return Result();
      });
}

// Reads definitions of one level. The module reader makes one for each module
// that has a definition of the level, from a TextInput* that outlives it.
class FunctionTextReader {
 public:
  virtual ~FunctionTextReader() = default;

  // Reads one definition and adds it to `module` if it has no errors. The
  // current token is the keyword; the reader moves past the end of the
  // definition. Returns false if it did not find the end: the module reader
  // then continues at the next keyword.
  virtual bool ParseDefinition(absl::string_view keyword, IRModule* module) = 0;

  // Called after the last definition of any level, for checks that need all
  // definitions.
  virtual void Finish(IRModule* /*module*/) {}
};

// Two names in TextReaders() are not keywords. One level registers each of
// them.
//
// Reads a text that does not begin with a keyword, up to the metadata section.
inline constexpr absl::string_view kBareText = "an expression";
// Reads the metadata section at the end of the text, after Finish().
inline constexpr absl::string_view kMetadataText = "#[metadata]";

using TextReaderFactory = std::unique_ptr<FunctionTextReader> (*)(TextInput*);

// All registered readers, by keyword.
Registry<TextReaderFactory>& TextReaders();

// ---------------------------------------------------------------------------
// Writing.

// A text being written to a string or, through a string, to a stream.
class TextOutput {
 public:
  // Writes the version line first if `options` request it. If `os` is null, the
  // text stays in the string.
  TextOutput(const TextOptions& options, std::ostream* os);
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  const TextOptions& options() const { return options_; }
  // The text that is not yet in the stream. Writers append to it.
  std::string& text() { return text_; }
  // Moves the text to the stream if there is a stream and the text is long
  // enough.
  void FlushSome() {
    if (os_ != nullptr && text_.size() >= kFlush) Flush();
  }
  // Moves the rest to the stream; without a stream, returns the whole text.
  std::string Finish() &&;

 private:
  static constexpr size_t kFlush = size_t{1} << 16;
  void Flush();

  const TextOptions options_;
  std::ostream* const os_;
  std::string text_;
};

// Writes definitions of one level. The module writer makes one for each module
// that has a definition of the level, from a TextOutput* that outlives it.
class FunctionTextWriter {
 public:
  virtual ~FunctionTextWriter() = default;

  // WriteFunction and WriteType append a definition, beginning with its
  // keyword, without a final line feed. The text must contain everything that
  // the reader of the level needs.
  virtual void WriteFunction(const GlobalVar& var,
                             const BaseFunc& function) = 0;
  // For levels with kinds of data types.
  virtual void WriteType(const TypeDefinition& /*type*/) {}

  // True if its functions follow those of writers for which this is false.
  virtual bool ComesAfterOthers() const { return false; }

  // True if WriteModule() writes modules whose definitions are all its own
  // functions. Such a text has no version line.
  virtual bool WritesModules() const { return false; }
  // Appends a whole module; `functions` are sorted by name, and at least one.
  virtual void WriteModule(
      absl::Span<const IRModule::Definition* const> /*functions*/) {}

  // Called after the last definition of any level. The level that reads the
  // metadata section writes it here.
  virtual void Finish() {}
};

using TextWriterFactory = std::unique_ptr<FunctionTextWriter> (*)(TextOutput*);

// All registered writers, by QualifiedNodeKindName() of the kinds of functions
// and data types.
Registry<TextWriterFactory>& TextWriters();

// ---------------------------------------------------------------------------
// Registration.

// Registers a class derived from FunctionTextReader, which is made from a
// TextInput*, for keywords. A keyword is an identifier, or `@` and a name.
#define BATON_REGISTER_TEXT_READER(Reader, ...)                   \
  [[maybe_unused]] static const bool baton_text_reader_##Reader = \
      ::baton::internal::RegisterTextReader<Reader>({__VA_ARGS__})

// Registers a class derived from FunctionTextWriter, which is made from a
// TextOutput*, for kinds of functions and data types.
#define BATON_REGISTER_TEXT_WRITER(Writer, ...)                   \
  [[maybe_unused]] static const bool baton_text_writer_##Writer = \
      ::baton::internal::RegisterTextWriter<Writer>({__VA_ARGS__})

// Implementation details below.

namespace internal {

template <typename Reader>
std::unique_ptr<FunctionTextReader> MakeTextReader(TextInput* input) {
  return std::make_unique<Reader>(input);
}
template <typename Writer>
std::unique_ptr<FunctionTextWriter> MakeTextWriter(TextOutput* output) {
  return std::make_unique<Writer>(output);
}

template <typename Reader>
bool RegisterTextReader(std::initializer_list<absl::string_view> keywords,
                        CodeLocation location = CodeLocation::Current()) {
  for (const absl::string_view keyword : keywords) {
    TextReaders().Register(keyword, &MakeTextReader<Reader>, location);
  }
  return true;
}
template <typename Writer>
bool RegisterTextWriter(std::initializer_list<NodeKind> kinds,
                        CodeLocation location = CodeLocation::Current()) {
  for (const NodeKind kind : kinds) {
    TextWriters().Register(QualifiedNodeKindName(kind), &MakeTextWriter<Writer>,
                           location);
  }
  return true;
}

}  // namespace internal
}  // namespace baton

#endif  // BATON_IR_FUNCTION_TEXT_H_
