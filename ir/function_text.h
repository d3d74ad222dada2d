// How a level of the IR brings the text of its functions into the text of
// modules (module_text.h).
//
// A text is a list of definitions. Each begins with a keyword, which decides
// who reads it; its kind decides who writes it. One object reads or writes all
// definitions of a level in one module.
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
// Both stand in a library that is linked as a whole (alwayslink).

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

// A text that is being read: its tokens, its mistakes, and the names that its
// definitions share.
class TextInput {
 public:
  // Both must outlive the input; the source stays with what is read.
  TextInput(std::shared_ptr<const Source> source, Diagnostics* diagnostics);
  TextInput(const TextInput&) = delete;
  TextInput& operator=(const TextInput&) = delete;

  const std::shared_ptr<const Source>& source() const { return source_; }
  Diagnostics& diagnostics() { return *diagnostics_; }
  Lexer& lexer() { return lexer_; }

  // Errors, at [begin, end) or at this token. Each returns false.
  bool Error(int64_t begin, int64_t end, std::string message);
  bool ErrorHere(std::string message);
  // `expected WHAT, found ...` at this token.
  bool Expected(absl::string_view what);
  // Moves past this token if it is of that kind, else reports an error.
  bool Expect(TokenKind kind) {
    return lexer_.Accept(kind) || Expected(TokenKindName(kind));
  }
  bool TooManyErrors() const {
    return diagnostics_->num_errors() >= Diagnostics::kMaxErrors;
  }
  // From `begin` to the end of the last token that was passed.
  Span SpanFrom(int64_t begin) const {
    return Span(source_, begin, lexer_.last_end());
  }
  Span SpanOf(const Token& token) const {
    return Span(source_, token.begin, token.end);
  }

  // The function `@name` of the module, of whatever kind: the same variable
  // for all that name it. `name` is a token of kind kGlobal.
  GlobalVar Global(const Token& name);
  // At the name of what is defined: false, with an error, if something of that
  // name and mark is defined before. Marks: `@` for functions of all kinds,
  // `type ` for data types.
  bool Define(absl::string_view name, absl::string_view mark);
  bool IsDefined(absl::string_view name, absl::string_view mark) const;
  // At a name that is being defined: an error if something else, of the mark
  // `other`, has it.
  void ExpectNotDefined(absl::string_view name, absl::string_view mark,
                        absl::string_view other);

  // This token; null if there is no memory for a span.
  Span Place() const noexcept;

  // True at the end of the definitions: of the text, or where the metadata
  // section begins.
  bool AtTextEnd() const {
    return lexer_.kind() == TokenKind::kEnd ||
           lexer_.kind() == TokenKind::kMetadata;
  }
  // True at the keyword of a definition: a reserved one, or a registered one
  // that a global name or another word follows. What reads on after a mistake
  // stops here.
  bool AtDefinition();
  void SkipToDefinition();

  // Reads the version line, if the text begins with one, and moves to the first
  // token after it. False if there is none.
  bool ParseVersion();

 private:
  const std::shared_ptr<const Source> source_;
  Diagnostics* const diagnostics_;
  Lexer lexer_;
  FlatHashMap<absl::string_view, GlobalVar> globals_;
  FlatHashMap<std::string, Span> defined_;
};

// What `read(TextInput&)` makes of the text of `make_source()`; a default
// value, with an error, if there is no memory for it.
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

// Reads definitions of one level. Made for one module, when its first
// definition that the level reads is met, from a TextInput* that outlives it.
class FunctionTextReader {
 public:
  virtual ~FunctionTextReader() = default;

  // Reads one definition, from its keyword, which is this token, past its end,
  // and puts it into `module` if there was no mistake in it. Returns false if
  // its end was not found: reading goes on at the next keyword.
  virtual bool ParseDefinition(absl::string_view keyword, IRModule* module) = 0;

  // After the last definition, of whatever level: for checks that need all.
  virtual void Finish(IRModule* /*module*/) {}
};

// What is registered beside keywords, once, by the level that reads it.
//
// A text that begins with no keyword: the reader reads all of it, up to the
// metadata section.
inline constexpr absl::string_view kBareText = "an expression";
// The section at the end, from its first line on; read after Finish().
inline constexpr absl::string_view kMetadataText = "#[metadata]";

using TextReaderFactory = std::unique_ptr<FunctionTextReader> (*)(TextInput*);

// By keyword.
Registry<TextReaderFactory>& TextReaders();

// ---------------------------------------------------------------------------
// Writing.

// A text that is being written, to a string or through one to a stream.
class TextOutput {
 public:
  // Begins with the version line, if the options ask for it. `os`: null to keep
  // all in the string.
  TextOutput(const TextOptions& options, std::ostream* os);
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  const TextOptions& options() const { return options_; }
  // What is not in the stream yet. Writers append to it.
  std::string& text() { return text_; }
  // Moves the text to the stream if it is long enough, and if there is one.
  void FlushSome() {
    if (os_ != nullptr && text_.size() >= kFlush) Flush();
  }
  // Moves the rest to the stream. Returns the text if there is none.
  std::string Finish() &&;

 private:
  static constexpr size_t kFlush = size_t{1} << 16;
  void Flush();

  const TextOptions options_;
  std::ostream* const os_;
  std::string text_;
};

// Writes definitions of one level. Made for one module, when its first
// definition of the level is met, from a TextOutput* that outlives it.
class FunctionTextWriter {
 public:
  virtual ~FunctionTextWriter() = default;

  // Each appends a definition, its keyword first, without a last line feed.
  // What a reader of the level must have to read it again is in its text.
  virtual void WriteFunction(const GlobalVar& var,
                             const BaseFunc& function) = 0;
  // For levels that have kinds of data types.
  virtual void WriteType(const TypeDefinition& /*type*/) {}

  // After the last definition, of whatever level: the metadata section, from
  // the level that reads it.
  virtual void Finish() {}
};

using TextWriterFactory = std::unique_ptr<FunctionTextWriter> (*)(TextOutput*);

// By QualifiedNodeKindName() of the kinds of functions and data types.
Registry<TextWriterFactory>& TextWriters();

// ---------------------------------------------------------------------------
// Registration.

// Registers a class derived from FunctionTextReader, which is made from a
// TextInput*, for keywords. These are words.
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
