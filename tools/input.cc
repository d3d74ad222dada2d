#include "baton/tools/input.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/printable.h"
#include "baton/base/registry.h"
#include "baton/base/source.h"
#include "baton/base/status_macros.h"
#include "baton/base/value_text.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/well_formed.h"
#include "baton/tools/files.h"

namespace baton {
namespace {

struct Part {
  absl::string_view text;
  int line;  // of its beginning
};

std::vector<Part> Split(absl::string_view text) {
  std::vector<Part> parts;
  size_t begin = 0;  // of the part
  int part_line = 1;
  int line = 1;
  for (size_t pos = 0; pos < text.size(); ++line) {
    const size_t line_feed = text.find('\n', pos);
    const size_t end =
        line_feed == absl::string_view::npos ? text.size() : line_feed + 1;
    if (absl::StripTrailingAsciiWhitespace(text.substr(pos, end - pos)) ==
        kModuleSeparator) {
      parts.push_back({text.substr(begin, pos - begin), part_line});
      begin = end;
      part_line = line + 1;
    }
    pos = end;
  }
  parts.push_back({text.substr(begin), part_line});
  return parts;
}

}  // namespace

std::vector<std::shared_ptr<const Source>> SourcesOf(std::string text,
                                                     const std::string& name,
                                                     bool split) {
  std::vector<std::shared_ptr<const Source>> sources;
  if (split) {
    for (const Part& part : Split(text)) {
      sources.push_back(std::make_shared<const Source>(
          name, std::string(part.text), part.line));
    }
  } else {
    sources.push_back(std::make_shared<const Source>(name, std::move(text)));
  }
  return sources;
}

InputModule ParseInput(const std::shared_ptr<const Source>& source,
                       Diagnostics& diagnostics) {
  Diagnostics found;  // in this module
  InputModule input;
  input.module = ParseModule(source, found);
  input.line = source->PositionOf(0).line;
  relay::InferTypes(input.module, found);
  if (!found.has_errors()) CheckWellFormed(input.module, found);
  for (const Diagnostic& diagnostic : found.list()) {
    diagnostics.Add(diagnostic);
  }
  return input;
}

std::vector<InputModule> ParseModules(std::string text, const std::string& name,
                                      bool split, Diagnostics& diagnostics) {
  std::vector<InputModule> modules;
  for (const std::shared_ptr<const Source>& source :
       SourcesOf(std::move(text), name, split)) {
    modules.push_back(ParseInput(source, diagnostics));
  }
  return modules;
}

// True if a file begins like text: a protocol buffer soon has a byte that is
// not text.
bool BeginsAsText(absl::string_view content) {
  constexpr size_t kEnough = 256;
  const absl::string_view begin = content.substr(0, kEnough);
  return std::all_of(begin.begin(), begin.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return absl::ascii_isprint(byte) || c == '\t' || c == '\n' || c == '\r';
  });
}

// True if a NUL near the beginning of a file follows bytes that are no text. A
// text that has one by mistake is parsed, which finds its place.
bool HasNulBehindNoText(absl::string_view content) {
  constexpr size_t kEnough = 4096;
  const size_t nul = content.substr(0, kEnough).find('\0');
  if (nul == absl::string_view::npos) return false;
  const absl::string_view before = content.substr(0, nul);
  return before.empty() || !IsUtf8(before) ||
         std::any_of(before.begin(), before.end(), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return absl::ascii_iscntrl(byte) && !absl::ascii_isspace(byte);
         });
}

InputFormat FormatOf(absl::string_view content, absl::string_view name) {
  // The field 1, a number, of a protocol buffer: no text begins so.
  constexpr char kOnnxVersion = '\x08';
  if (content.empty() ? absl::EndsWith(name, ".onnx")
                      : content[0] == kOnnxVersion ||
                            (absl::EndsWith(name, ".onnx") &&
                             content[0] != '\x89' && !BeginsAsText(content))) {
    return InputFormat::kOnnx;
  }
  // No text begins with the first byte of binary files.
  const bool is_binary =
      content.empty() ? absl::EndsWith(name, ".baton")
                      : content[0] == '\x89' || HasNulBehindNoText(content);
  return is_binary ? InputFormat::kBinary : InputFormat::kText;
}

Registry<ModuleReader>& ModuleReaders() {
  static auto& registry =
      *Registry<ModuleReader>::NewGlobal("reader of a format");
  return registry;
}

Registry<ModuleWriter>& ModuleWriters() {
  static auto& registry =
      *Registry<ModuleWriter>::NewGlobal("writer of a format");
  return registry;
}

absl::string_view ForeignKindOf(absl::string_view content) {
  struct Kind {
    absl::string_view begin;
    absl::string_view name;
    size_t offset = 0;
  };
  static constexpr Kind kKinds[] = {
      {"PK\x03\x04", "a zip archive, as PyTorch saves models"},
      {"\x1f\x8b", "a gzip file"},
      {"BZh", "a bzip2 file"},
      {"\xfd"
       "7zXZ",
       "an xz file"},
      {"\x28\xb5\x2f\xfd", "a zstd file"},
      {"ustar", "a tar archive", 257},
      {"\x89HDF", "an HDF5 file, as Keras saves models"},
      {"\x93NUMPY", "an array of NumPy"},
      {"\x80\x02", "a pickle of Python"},
      {"\x80\x04", "a pickle of Python"},
      {"\x89PNG", "an image"},
      {"\xff\xd8\xff", "an image"},
      {"%PDF", "a PDF document"},
      {"\x7f"
       "ELF",
       "a program or a library"},
      {"ML\xefR", "bytecode of MLIR"},
      {"TFL3", "a model of TensorFlow Lite", 4},
      {"ORTM", "a model in ONNX Runtime's own format", 4},
      {"module {", "text of MLIR"},
      {"module attributes", "text of MLIR"},
      {"module @", "text of MLIR"},
      {"builtin.module", "text of MLIR"},
      {"func.func", "text of MLIR"},
      {"HloModule", "text of XLA"},
      {"<!DOCTYPE", "a web page"},
      {"<html", "a web page"},
      {"<?xml", "an XML document, as OpenVINO saves models"},
      {"{\"", "JSON"},
      {"ir_version:", "an ONNX model in the text form of protocol buffers"},
      {"version https://git-lfs", "a pointer of Git LFS, not the file itself"},
  };
  for (const Kind& kind : kKinds) {
    if (content.size() >= kind.offset &&
        absl::StartsWith(content.substr(kind.offset), kind.begin)) {
      return kind.name;
    }
  }
  return "";
}

namespace {

// Quotes the names in `text`, which is `NAME:VALUE,...`, unless they are
// identifiers or quoted: names of ONNX have any characters.
std::string WithQuotedNames(absl::string_view text) {
  std::string result;
  size_t begin = 0;
  size_t colon = absl::string_view::npos;  // the last one before the value
  int depth = 0;
  bool is_quoted = false;
  const auto add = [&](size_t end) {
    const absl::string_view part = text.substr(begin, end - begin);
    const absl::string_view name = absl::StripAsciiWhitespace(
        part.substr(0, colon == absl::string_view::npos ? 0 : colon - begin));
    const bool is_plain =
        name.empty() || name[0] == '"' ||
        (!absl::ascii_isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  c == '_' || c == '.';
         }));
    if (is_plain) {
      absl::StrAppend(&result, part);
    } else {
      absl::StrAppend(
          &result, "\"",
          absl::StrReplaceAll(name, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"",
          text.substr(colon, end - colon));
    }
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && is_quoted) {
      ++i;
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (is_quoted) {
      continue;
    } else if (c == '[' || c == '(' || c == '{') {
      ++depth;
    } else if (c == ']' || c == ')' || c == '}') {
      --depth;
    } else if (c == ':' && depth == 0) {
      colon = i;
    } else if (c == ',' && depth == 0) {
      add(i);
      result += ',';
      begin = i + 1;
      colon = absl::string_view::npos;
    }
  }
  add(text.size());
  return result;
}

}  // namespace

absl::StatusOr<std::map<std::string, std::vector<int64_t>>> ParseInputShapes(
    absl::string_view text) {
  std::map<std::string, std::vector<int64_t>> result;
  if (text.empty()) return result;
  BATON_ASSIGN_OR_RETURN(
      const AttrValue value,
      ParseAttrValue(absl::StrCat("{", WithQuotedNames(text), "}"),
                     "--input_shapes"));
  const auto error = [](absl::string_view name) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--input_shapes: the shape of ", name, " is no list of numbers"));
  };
  const AttrMap* shapes = value.As<AttrMap>();
  if (shapes == nullptr) return error("the inputs");
  for (const auto& [name, shape] : *shapes) {
    const AttrList* list = shape.As<AttrList>();
    if (list == nullptr) return error(name);
    std::vector<int64_t>& dims = result[name];
    for (const AttrValue& dim : *list) {
      const int64_t* number = dim.As<int64_t>();
      if (number == nullptr) return error(name);
      if (*number < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("--input_shapes: the shape of ", name,
                         " has the negative extent ", *number));
      }
      dims.push_back(*number);
    }
  }
  return result;
}

absl::StatusOr<std::map<std::string, InputValue>> ParseInputValues(
    absl::string_view text) {
  std::map<std::string, InputValue> result;
  if (text.empty()) return result;
  BATON_ASSIGN_OR_RETURN(
      const AttrValue value,
      ParseAttrValue(absl::StrCat("{", WithQuotedNames(text), "}"),
                     "--input_values"));
  const auto error = [](absl::string_view name) {
    return absl::InvalidArgumentError(
        absl::StrCat("--input_values: the value of ", name,
                     " is no number and no list of numbers"));
  };
  const AttrMap* values = value.As<AttrMap>();
  if (values == nullptr) return error("the inputs");
  for (const auto& [name, given] : *values) {
    InputValue& input = result[name];
    // False if it is no number.
    const auto add = [&input](const AttrValue& element) {
      if (const bool* truth = element.As<bool>()) {
        input.elements.push_back(int64_t{*truth});
      } else if (const int64_t* integer = element.As<int64_t>()) {
        input.elements.push_back(*integer);
      } else if (const double* number = element.As<double>()) {
        input.elements.push_back(*number);
      } else {
        return false;
      }
      return true;
    };
    if (const AttrList* list = given.As<AttrList>()) {
      if (!std::all_of(list->begin(), list->end(), add)) return error(name);
      input.shape = {static_cast<int64_t>(list->size())};
    } else if (!add(given)) {
      return error(name);
    }
  }
  return result;
}

absl::StatusOr<BinaryContent> ReadBinaryModule(const FileContent& content,
                                               absl::string_view name) {
  BATON_ASSIGN_OR_RETURN(BinaryContent result,
                         ReadBinary(content.bytes, content.owner, name));
  absl::Status status = CheckWellFormed(result.module);
  if (status.ok()) status = CheckTypes(result.module);
  if (status.ok()) return result;
  return absl::Status(status.code(),
                      absl::StrCat(name, ": ", status.message()));
}

}  // namespace baton
