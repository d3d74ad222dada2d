#include "baton/tir/codegen/cpp_names.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace baton::tir {
namespace {

// Keywords up to C++20, alternative tokens, and macros of compilers and of
// headers that a program includes before that of a model. In order.
constexpr absl::string_view kKeywords[] = {
    "BIG_ENDIAN",
    "BUFSIZ",
    "BYTE_ORDER",
    "EOF",
    "EXIT_FAILURE",
    "EXIT_SUCCESS",
    "HUGE_VAL",
    "INFINITY",
    "LITTLE_ENDIAN",
    "NAN",
    "NULL",
    "P_tmpdir",
    "SEEK_CUR",
    "SEEK_END",
    "SEEK_SET",
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
    "errno",
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
    "stderr",
    "stdin",
    "stdout",
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

// True if `name` looks like a macro of a compiler, of a C library, or of
// <cstdint>: `__LINE__`, `_LP64`, `INT8_MAX`.
bool IsLikeMacro(absl::string_view name) {
  const bool has_lower =
      std::any_of(name.begin(), name.end(),
                  [](unsigned char c) { return absl::ascii_islower(c); });
  if (name.size() > 2 && name[0] == '_') {
    const auto second = static_cast<unsigned char>(name[1]);
    const auto third = static_cast<unsigned char>(name[2]);
    if (second == '_' ? absl::ascii_isalpha(third)
                      : absl::ascii_isupper(second) && !has_lower) {
      return true;
    }
  }
  if (has_lower) return false;
  for (const absl::string_view end : {"_MAX", "_MIN", "_WIDTH", "_C"}) {
    if (absl::EndsWith(name, end)) return true;
  }
  return false;
}

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
                         absl::string_view(result)) ||
      IsLikeMacro(result)) {
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

std::string CppStringLiteral(absl::string_view text) {
  return absl::StrCat(
      "\"", absl::StrReplaceAll(absl::CEscape(text), {{"?", "\\?"}}), "\"");
}

}  // namespace baton::tir
