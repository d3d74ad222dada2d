// Makes C++ identifiers of arbitrary names.
//
//   CppNames names;
//   names.Unique("input.1");  // input_1
//   names.Unique("input:1");  // input_1_2
//   names.Unique("class");    // class_

#ifndef BATON_TIR_CODEGEN_CPP_NAMES_H_
#define BATON_TIR_CODEGEN_CPP_NAMES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"

namespace baton::tir {

// `name` with each character outside of [A-Za-z0-9_] replaced by `_`. Adds a
// `_` before a leading digit, and a `_` behind a keyword, a macro of a standard
// header (`stdin`, `INT8_MAX`) and a name that is reserved for compilers
// (`__LINE__`). The empty name becomes `_`.
std::string CppIdentifier(absl::string_view name);

// Identifiers of one scope, each given once.
class CppNames {
 public:
  // Marks `identifier` as taken.
  void Reserve(absl::string_view identifier);
  // CppIdentifier(name); if that is taken, with the first free suffix from `_2`
  // on.
  std::string Unique(absl::string_view name);

 private:
  FlatHashMap<std::string, int> taken_;  // the last number that was tried
};

// `text` for a comment of one line: printable ASCII, nothing that ends or
// continues the comment.
std::string CppCommentText(absl::string_view text);

// As CppCommentText, for a name between double quotes: quotes in it become `_`.
std::string CppQuotedText(absl::string_view text);

// `text` as a string literal, with its quotes: no trigraph is in it.
std::string CppStringLiteral(absl::string_view text);

}  // namespace baton::tir

#endif  // BATON_TIR_CODEGEN_CPP_NAMES_H_
