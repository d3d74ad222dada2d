#include "baton/ir/module_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/near_names.h"
#include "baton/base/registry.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_text.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/text_lexer.h"
#include "baton/ir/type.h"

namespace baton {
namespace {

// ---------------------------------------------------------------------------
// Reading.

class ModuleReader {
 public:
  explicit ModuleReader(TextInput* input)
      : input_(*input), lexer_(input->lexer()) {}

  IRModule Read();

 private:
  // The word with which a definition begins here, known or not; empty if none
  // does.
  absl::string_view Keyword() {
    if (IsReservedWord(lexer_.kind())) {
      return TextReaders().Contains(lexer_.Name()) ? lexer_.Name()
                                                   : absl::string_view();
    }
    switch (lexer_.kind()) {
      case TokenKind::kIdentifier:
        return lexer_.BeforeNameOrWord() ? lexer_.Name() : absl::string_view();
      case TokenKind::kGlobal:
        return input_.Decorator();
      default:
        return {};
    }
  }
  void ReadDefinitions();
  bool ReadDefinition(absl::string_view keyword);
  // Null if none is registered.
  FunctionTextReader* ReaderOf(absl::string_view keyword);
  bool UnknownKeyword(absl::string_view keyword);

  TextInput& input_;
  Lexer& lexer_;
  IRModule module_;
  std::vector<std::pair<TextReaderFactory, std::unique_ptr<FunctionTextReader>>>
      readers_;
  // The reader of the last definition: the next one usually has the same
  // keyword.
  absl::string_view last_keyword_;
  FunctionTextReader* last_reader_ = nullptr;
};

IRModule ModuleReader::Read() {
  const bool versioned = input_.ParseVersion();
  if (input_.AtTextEnd()) {
    if (!versioned) input_.Expected("a definition or an expression");
  } else if (!Keyword().empty()) {
    ReadDefinitions();
  } else if (FunctionTextReader* reader = ReaderOf(kBareText)) {
    reader->ParseDefinition(kBareText, &module_);
  } else {
    input_.Expected("a definition");
    input_.SkipToDefinition();
    ReadDefinitions();
  }
  for (size_t i = 0; i < readers_.size(); ++i) {
    readers_[i].second->Finish(&module_);
  }
  if (input_.TooManyErrors() || lexer_.kind() == TokenKind::kEnd) {
    return std::move(module_);
  }
  if (lexer_.kind() != TokenKind::kMetadata) {
    input_.Expected("the end of the text");
  } else if (FunctionTextReader* reader = ReaderOf(kMetadataText)) {
    reader->ParseDefinition(kMetadataText, &module_);
  } else {
    input_.ErrorHere("this program links nothing that reads metadata");
  }
  return std::move(module_);
}

void ModuleReader::ReadDefinitions() {
  while (!input_.AtTextEnd() && !input_.TooManyErrors()) {
    const int64_t begin = lexer_.token().begin;
    const absl::string_view keyword = Keyword();
    if (keyword.empty() ? input_.Expected("a definition")
                        : ReadDefinition(keyword)) {
      continue;
    }
    if (lexer_.token().begin == begin) lexer_.Next();
    input_.SkipToDefinition();
  }
}

bool ModuleReader::ReadDefinition(absl::string_view keyword) {
  if (keyword != last_keyword_) {
    last_reader_ = ReaderOf(keyword);
    last_keyword_ = keyword;
  }
  if (last_reader_ == nullptr) return UnknownKeyword(keyword);
  return last_reader_->ParseDefinition(keyword, &module_);
}

FunctionTextReader* ModuleReader::ReaderOf(absl::string_view keyword) {
  const TextReaderFactory* const factory = TextReaders().Find(keyword);
  if (factory == nullptr) return nullptr;
  for (const auto& [known, reader] : readers_) {
    if (known == *factory) return reader.get();
  }
  readers_.emplace_back(*factory, (*factory)(&input_));
  return readers_.back().second.get();
}

bool ModuleReader::UnknownKeyword(absl::string_view keyword) {
  if (absl::Status status = TextReaders().CheckUnique(keyword); !status.ok()) {
    return input_.ErrorHere(std::string(status.message()));
  }
  std::vector<std::string> known;
  for (std::string& name : TextReaders().Names()) {
    if (name != kBareText && name != kMetadataText) {
      known.push_back(std::move(name));
    }
  }
  const std::string near = DidYouMean(keyword, known);
  for (std::string& name : known) name = absl::StrCat("`", name, "`");
  return input_.ErrorHere(absl::StrCat(
      "no definition begins with `", keyword, "`",
      known.empty() ? ", this program links nothing that reads one"
                    : absl::StrCat(", known are ", absl::StrJoin(known, ", ")),
      near));
}

// ---------------------------------------------------------------------------
// Writing.

class ModuleWriter {
 public:
  explicit ModuleWriter(TextOutput* output) : output_(*output) {}

  void Write(const IRModule& module);

 private:
  // Null if none is registered.
  FunctionTextWriter* WriterOf(NodeKind kind);
  // The writer of all functions if it writes modules, else null.
  FunctionTextWriter* ModuleWriterOf(
      absl::Span<const IRModule::Definition* const> functions);
  void BeginDefinition() {
    if (!first_) output_.text().push_back('\n');
    first_ = false;
  }
  void EndDefinition() {
    output_.text().push_back('\n');
    output_.FlushSome();
  }
  void WriteUnprintable(absl::string_view mark, absl::string_view name,
                        NodeKind kind) {
    absl::StrAppend(&output_.text(), "unprintable ", mark, name, "  // ",
                    NodeKindName(kind), ": this program links no text for it");
  }

  TextOutput& output_;
  bool first_ = true;
  std::vector<std::pair<TextWriterFactory, std::unique_ptr<FunctionTextWriter>>>
      writers_;
  std::vector<std::pair<NodeKind, FunctionTextWriter*>> writer_of_;
};

// Pointers to the elements of `definitions`, sorted by name.
template <typename T, typename NameOf>
std::vector<const T*> SortedByName(absl::Span<const T> definitions,
                                   NameOf name_of) {
  std::vector<const T*> result;
  result.reserve(definitions.size());
  for (const T& definition : definitions) result.push_back(&definition);
  std::sort(result.begin(), result.end(),
            [&](const T* a, const T* b) { return name_of(*a) < name_of(*b); });
  return result;
}

void ModuleWriter::Write(const IRModule& module) {
  const auto types = SortedByName<TypeDefinition>(
      module.types(), [](const TypeDefinition& type) -> const std::string& {
        return type->name();
      });
  for (const TypeDefinition* type : types) {
    BeginDefinition();
    const NodeKind kind = (*type)->kind();
    if (FunctionTextWriter* writer = WriterOf(kind)) {
      writer->WriteType(*type);
    } else {
      WriteUnprintable("type ", (*type)->name(), kind);
    }
    EndDefinition();
  }
  auto functions = SortedByName<IRModule::Definition>(
      module.functions(),
      [](const IRModule::Definition& definition) -> const std::string& {
        return definition.var->name();
      });
  functions.erase(std::remove_if(functions.begin(), functions.end(),
                                 [](const IRModule::Definition* definition) {
                                   return !definition->function.defined();
                                 }),
                  functions.end());
  if (types.empty()) {
    if (FunctionTextWriter* writer = ModuleWriterOf(functions)) {
      output_.text().clear();  // the version line
      return writer->WriteModule(functions);
    }
  }
  std::stable_partition(functions.begin(), functions.end(),
                        [this](const IRModule::Definition* definition) {
                          const FunctionTextWriter* writer =
                              WriterOf(definition->function->kind());
                          return writer == nullptr ||
                                 !writer->ComesAfterOthers();
                        });
  for (const IRModule::Definition* definition : functions) {
    BeginDefinition();
    const NodeKind kind = definition->function->kind();
    if (FunctionTextWriter* writer = WriterOf(kind)) {
      writer->WriteFunction(definition->var, definition->function);
    } else {
      WriteUnprintable("@", definition->var->name(), kind);
    }
    EndDefinition();
  }
  for (const auto& [factory, writer] : writers_) writer->Finish();
}

FunctionTextWriter* ModuleWriter::ModuleWriterOf(
    absl::Span<const IRModule::Definition* const> functions) {
  FunctionTextWriter* result = nullptr;
  for (const IRModule::Definition* definition : functions) {
    FunctionTextWriter* writer = WriterOf(definition->function->kind());
    if (writer == nullptr || !writer->WritesModules()) return nullptr;
    if (result != nullptr && result != writer) return nullptr;
    result = writer;
  }
  return result;
}

FunctionTextWriter* ModuleWriter::WriterOf(NodeKind kind) {
  for (const auto& [known, writer] : writer_of_) {
    if (known == kind) return writer;
  }
  FunctionTextWriter* result = nullptr;
  if (const TextWriterFactory* const factory =
          TextWriters().Find(QualifiedNodeKindName(kind))) {
    for (const auto& [known, writer] : writers_) {
      if (known == *factory) result = writer.get();
    }
    if (result == nullptr) {
      writers_.emplace_back(*factory, (*factory)(&output_));
      result = writers_.back().second.get();
    }
  }
  writer_of_.emplace_back(kind, result);
  return result;
}

template <typename MakeSource>
IRModule ReadModule(const MakeSource& make_source, Diagnostics& diagnostics) {
  return ReadText(make_source, diagnostics,
                  [](TextInput& input) { return ModuleReader(&input).Read(); });
}

std::string Print(const IRModule& module, const TextOptions& options,
                  std::ostream* os) {
  TextOutput output(options, os);
  ModuleWriter(&output).Write(module);
  return std::move(output).Finish();
}

}  // namespace

IRModule ParseModule(std::shared_ptr<const Source> source,
                     Diagnostics& diagnostics) {
  return ReadModule([&] { return std::move(source); }, diagnostics);
}

IRModule ParseModule(absl::string_view text, absl::string_view source_name,
                     Diagnostics& diagnostics) {
  return ReadModule(
      [&] {
        return std::make_shared<Source>(std::string(source_name),
                                        std::string(text));
      },
      diagnostics);
}

absl::StatusOr<IRModule> ParseModule(absl::string_view text,
                                     absl::string_view source_name) {
  Diagnostics diagnostics;
  IRModule module = ParseModule(text, source_name, diagnostics);
  if (absl::Status status = diagnostics.ToStatus(); !status.ok()) return status;
  return module;
}

std::string AsText(const IRModule& module, const TextOptions& options) {
  return Print(module, options, nullptr);
}

void AsText(const IRModule& module, std::ostream& os,
            const TextOptions& options) {
  Print(module, options, &os);
}

std::string ToText(const IRModule& module) {
  return Print(module, kTextForPeople, nullptr);
}

}  // namespace baton
