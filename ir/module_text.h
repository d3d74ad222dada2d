// Parses and prints modules as text: a version line and a list of definitions.
//
//   #[version = "0.0.5"]
//   def @main(%x: Tensor[(1, 8), float32]) {
//     nn.relu(%x)
//   }
//
//   absl::StatusOr<IRModule> module = ParseModule(text);
//   std::string text = AsText(*module);
//
// A text contains functions of all kinds. The level that defines a kind
// registers the reader and the writer of its definitions: see function_text.h.
// Relay's are in //relay/ir:text_parser and //relay/ir:text_printer;
// relay/ir/text_parser.h and text_printer.h describe the text. A program reads
// and writes the kinds whose text it links.

#ifndef BATON_IR_MODULE_TEXT_H_
#define BATON_IR_MODULE_TEXT_H_

#include <memory>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"

namespace baton {

// Parses a module. A text that is a single expression becomes `main`.
// `source_name` names the text in messages. One run finds all errors: after an
// error, the parser continues with the next statement or definition. A keyword
// that no linked library registers is an error.
absl::StatusOr<IRModule> ParseModule(absl::string_view text,
                                     absl::string_view source_name = "input");

// As above, but adds errors and warnings to `diagnostics`. The module contains
// the definitions without errors.
IRModule ParseModule(absl::string_view text, absl::string_view source_name,
                     Diagnostics& diagnostics);

// As above, for a `source` that may be a part of a longer text.
IRModule ParseModule(std::shared_ptr<const Source> source,
                     Diagnostics& diagnostics);

struct TextOptions {
  // The first line, `#[version = "0.0.5"]`.
  bool version = true;
  // The `#[metadata]` section, if it is not empty.
  bool metadata = true;
  // A comment that says that the metadata was omitted, if `metadata` is false.
  bool note_omitted_metadata = true;
  // The types found by inference, as `/* ty=... */`.
  bool types = true;
};

// For people: without version line and metadata.
inline constexpr TextOptions kTextForPeople = {
    .version = false, .metadata = false, .note_omitted_metadata = false};

// The whole text: data types, then functions, both sorted by name. If
// `metadata` is on, the text can be parsed again. A definition whose kind has
// no writer in the program is written as
//
//   unprintable @f  // Loop: this program links no text for it
//
// which is an error for the parser.
std::string AsText(const IRModule& module, const TextOptions& options = {});

// Writes the same text to a stream.
void AsText(const IRModule& module, std::ostream& os,
            const TextOptions& options = {});

// AsText() with kTextForPeople.
std::string ToText(const IRModule& module);

}  // namespace baton

#endif  // BATON_IR_MODULE_TEXT_H_
