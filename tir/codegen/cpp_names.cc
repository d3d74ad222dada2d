#include "baton/tir/codegen/cpp_names.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace baton::tir {
namespace {

// Keywords up to C++20, alternative tokens, and macros of the two headers that
// generated sources include. In order.
constexpr absl::string_view kKeywords[] = {
    "NULL",
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "linux",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "offsetof",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unix",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
};

}  // namespace

std::string CppIdentifier(absl::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  if (result.empty()) return "_";
  if (absl::ascii_isdigit(static_cast<unsigned char>(result[0]))) {
    result.insert(0, "_");
  }
  if (std::binary_search(std::begin(kKeywords), std::end(kKeywords),
                         absl::string_view(result))) {
    result.push_back('_');
  }
  return result;
}

void CppNames::Reserve(absl::string_view identifier) {
  taken_.emplace(std::string(identifier), 1);
}

std::string CppNames::Unique(absl::string_view name) {
  std::string identifier = CppIdentifier(name);
  const auto [found, is_new] = taken_.emplace(identifier, 1);
  if (is_new) return identifier;
  int number = found->second;
  std::string numbered;
  do {
    numbered = absl::StrCat(identifier, "_", ++number);
  } while (taken_.count(numbered) != 0);
  taken_[identifier] = number;
  taken_.emplace(numbered, 1);
  return numbered;
}

std::string CppCommentText(absl::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool printable = c >= ' ' && c <= '~' && c != '\\' && c != '?';
    // `?` may begin a trigraph, and a backslash may continue the line.
    result.push_back(printable ? c : (c == '\n' || c == '\t' ? ' ' : '.'));
  }
  for (size_t at = 0; (at = result.find("*/", at)) != std::string::npos;) {
    result[at] = '.';
  }
  for (size_t at = 0; (at = result.find("/*", at)) != std::string::npos;) {
    result[at + 1] = '.';
  }
  return result;
}

std::string CppQuotedText(absl::string_view text) {
  return absl::StrReplaceAll(CppCommentText(text), {{"\"", "_"}});
}

}  // namespace baton::tir
