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
#include "absl/types/span.h"

namespace baton::tir {
namespace {

// Keywords up to C++20, alternative tokens, and macros of compilers and of
// headers that a program includes before that of a model. In order.
constexpr absl::string_view kKeywords[] = {
    "BIG_ENDIAN",
    "BUFSIZ",
    "BYTE_ORDER",
    "CHAR_BIT",
    "CPU_SETSIZE",
    "CSIGNAL",
    "DECIMAL_DIG",
    "EOF",
    "EXIT_FAILURE",
    "EXIT_SUCCESS",
    "FD_SETSIZE",
    "I",
    "INFINITY",
    "LITTLE_ENDIAN",
    "LONG_BIT",
    "L_ctermid",
    "L_cuserid",
    "L_tmpnam",
    "MAXFLOAT",
    "MAX_CANON",
    "MAX_INPUT",
    "NAN",
    "NFDBITS",
    "NULL",
    "NZERO",
    "PDP_ENDIAN",
    "PIPE_BUF",
    "P_tmpdir",
    "TIMER_ABSTIME",
    "TIME_UTC",
    "WCONTINUED",
    "WEOF",
    "WEXITED",
    "WNOHANG",
    "WNOWAIT",
    "WORD_BIT",
    "WSTOPPED",
    "WUNTRACED",
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
    "math_errhandling",
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
    "sched_priority",
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

// Macros of <cerrno>.
constexpr absl::string_view kErrors =
    " "
    "E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EADV EAFNOSUPPORT EAGAIN "
    "EALREADY EBADE EBADF EBADFD EBADMSG EBADR EBADRQC EBADSLT EBFONT "
    "EBUSY ECANCELED ECHILD ECHRNG ECOMM ECONNABORTED ECONNREFUSED "
    "ECONNRESET EDEADLK EDEADLOCK EDESTADDRREQ EDOM EDOTDOT EDQUOT EEXIST "
    "EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EHWPOISON EIDRM EILSEQ "
    "EINPROGRESS EINTR EINVAL EIO EISCONN EISDIR EISNAM EKEYEXPIRED "
    "EKEYREJECTED EKEYREVOKED EL2HLT EL2NSYNC EL3HLT EL3RST ELIBACC "
    "ELIBBAD ELIBEXEC ELIBMAX ELIBSCN ELNRNG ELOOP EMEDIUMTYPE EMFILE "
    "EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENAVAIL ENETDOWN ENETRESET "
    "ENETUNREACH ENFILE ENOANO ENOBUFS ENOCSI ENODATA ENODEV ENOENT "
    "ENOEXEC ENOKEY ENOLCK ENOLINK ENOMEDIUM ENOMEM ENOMSG ENONET ENOPKG "
    "ENOPROTOOPT ENOSPC ENOSR ENOSTR ENOSYS ENOTBLK ENOTCONN ENOTDIR "
    "ENOTEMPTY ENOTNAM ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY ENOTUNIQ "
    "ENXIO EOF EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM EPFNOSUPPORT EPIPE "
    "EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE EREMCHG EREMOTE EREMOTEIO "
    "ERESTART ERFKILL EROFS ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT "
    "ESTALE ESTRPIPE ETIME ETIMEDOUT ETOOMANYREFS ETXTBSY EUCLEAN EUNATCH "
    "EUSERS EWOULDBLOCK EXDEV EXFULL ";

// Beginnings of names of macros of the standard headers of C. Those of
// kMathPrefixes may have small letters behind them, as in `M_PIf`.
constexpr absl::string_view kPrefixes[] = {
    "ADJ_",     "ATOMIC_", "CLOCKS_", "CLOCK_",   "CLONE_",  "DBL_",
    "FE_",      "FLT_",    "FP_",     "HUGE_VAL", "LC_",     "LDBL_",
    "MATH_ERR", "MOD_",    "NL_",     "PTHREAD_", "RENAME_", "SCHED_",
    "SEEK_",    "SIG_",    "SNAN",    "STA_"};
constexpr absl::string_view kMathPrefixes[] = {
    "M_1_PI",   "M_2_PI",  "M_2_SQRTPI", "M_E",       "M_LN10", "M_LN2",
    "M_LOG10E", "M_LOG2E", "M_PI",       "M_SQRT1_2", "M_SQRT2"};

bool StartsWithAny(absl::string_view name,
                   absl::Span<const absl::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [name](absl::string_view start) {
                       return absl::StartsWith(name, start);
                     });
}

// True for macros of <cinttypes>: `PRId64`, `SCNxFAST8`.
bool IsFormat(absl::string_view name) {
  if (name.size() < 5 || !StartsWithAny(name, {{"PRI", "SCN"}})) return false;
  const absl::string_view type = name.substr(4);
  return absl::StrContains("dioxuX", name.substr(3, 1)) &&
         (absl::ascii_isdigit(static_cast<unsigned char>(type[0])) ||
          StartsWithAny(type, {{"FAST", "LEAST", "MAX", "PTR"}}));
}

// True if `name` looks like a macro of a compiler or of a standard header:
// `__LINE__`, `_LP64`, `INT8_MAX`, `M_PI`, `EINVAL`.
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
  if (IsFormat(name) || StartsWithAny(name, kMathPrefixes)) return true;
  if (has_lower) return false;
  for (const absl::string_view end : {"_MAX", "_MIN", "_WIDTH", "_C"}) {
    if (absl::EndsWith(name, end)) return true;
  }
  return StartsWithAny(name, kPrefixes) ||
         absl::StrContains(kErrors, absl::StrCat(" ", name, " "));
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
