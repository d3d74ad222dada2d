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
#include "absl/strings/strip.h"

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
    "EALREADY EBADE EBADF EBADFD EBADMSG EBADR EBADRQC EBADSLT EBFONT EBUSY "
    "ECANCELED ECHILD ECHRNG ECOMM ECONNABORTED ECONNREFUSED ECONNRESET "
    "EDEADLK EDEADLOCK EDESTADDRREQ EDOM EDOTDOT EDQUOT EEXIST EFAULT EFBIG "
    "EHOSTDOWN EHOSTUNREACH EHWPOISON EIDRM EILSEQ EINPROGRESS EINTR EINVAL "
    "EIO EISCONN EISDIR EISNAM EKEYEXPIRED EKEYREJECTED EKEYREVOKED EL2HLT "
    "EL2NSYNC EL3HLT EL3RST ELIBACC ELIBBAD ELIBEXEC ELIBMAX ELIBSCN ELNRNG "
    "ELOOP EMEDIUMTYPE EMFILE EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG "
    "ENAVAIL ENETDOWN ENETRESET ENETUNREACH ENFILE ENOANO ENOBUFS ENOCSI "
    "ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOLCK ENOLINK ENOMEDIUM ENOMEM "
    "ENOMSG ENONET ENOPKG ENOPROTOOPT ENOSPC ENOSR ENOSTR ENOSYS ENOTBLK "
    "ENOTCONN ENOTDIR ENOTEMPTY ENOTNAM ENOTRECOVERABLE ENOTSOCK ENOTSUP "
    "ENOTTY ENOTUNIQ ENXIO EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM "
    "EPFNOSUPPORT EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE EREMCHG "
    "EREMOTE EREMOTEIO ERESTART ERFKILL EROFS ESHUTDOWN ESOCKTNOSUPPORT "
    "ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE ETIME ETIMEDOUT ETOOMANYREFS "
    "ETXTBSY EUCLEAN EUNATCH EUSERS EWOULDBLOCK EXDEV EXFULL ";

// Further macros of standard headers, and of headers that these include, but for
// families of macros that IsLikeMacro knows.
constexpr absl::string_view kMacros =
    " "
    "ADJ_ESTERROR ADJ_FREQUENCY ADJ_MAXERROR ADJ_MICRO ADJ_NANO ADJ_OFFSET "
    "ADJ_OFFSET_SINGLESHOT ADJ_OFFSET_SS_READ ADJ_SETOFFSET ADJ_STATUS "
    "ADJ_TAI ADJ_TICK ADJ_TIMECONST AIO_PRIO_DELTA_MAX "
    "ATOMIC_BOOL_LOCK_FREE ATOMIC_CHAR16_T_LOCK_FREE "
    "ATOMIC_CHAR32_T_LOCK_FREE ATOMIC_CHAR8_T_LOCK_FREE "
    "ATOMIC_CHAR_LOCK_FREE ATOMIC_FLAG_INIT ATOMIC_INT_LOCK_FREE "
    "ATOMIC_LLONG_LOCK_FREE ATOMIC_LONG_LOCK_FREE ATOMIC_POINTER_LOCK_FREE "
    "ATOMIC_SHORT_LOCK_FREE ATOMIC_VAR_INIT ATOMIC_WCHAR_T_LOCK_FREE "
    "BC_BASE_MAX BC_DIM_MAX BC_SCALE_MAX BC_STRING_MAX BITINT_MAXWIDTH "
    "BOOL_MAX BOOL_WIDTH CHARCLASS_NAME_MAX CHAR_MAX CHAR_MIN CHAR_WIDTH "
    "CLOCKS_PER_SEC CLOCK_BOOTTIME CLOCK_BOOTTIME_ALARM CLOCK_MONOTONIC "
    "CLOCK_MONOTONIC_COARSE CLOCK_MONOTONIC_RAW CLOCK_PROCESS_CPUTIME_ID "
    "CLOCK_REALTIME CLOCK_REALTIME_ALARM CLOCK_REALTIME_COARSE CLOCK_TAI "
    "CLOCK_THREAD_CPUTIME_ID CLONE_CHILD_CLEARTID CLONE_CHILD_SETTID "
    "CLONE_DETACHED CLONE_FILES CLONE_FS CLONE_IO CLONE_NEWCGROUP "
    "CLONE_NEWIPC CLONE_NEWNET CLONE_NEWNS CLONE_NEWPID CLONE_NEWTIME "
    "CLONE_NEWUSER CLONE_NEWUTS CLONE_PARENT CLONE_PARENT_SETTID "
    "CLONE_PIDFD CLONE_PTRACE CLONE_SETTLS CLONE_SIGHAND CLONE_SYSVSEM "
    "CLONE_THREAD CLONE_UNTRACED CLONE_VFORK CLONE_VM CLOSE_RANGE_CLOEXEC "
    "CLOSE_RANGE_UNSHARE COLL_WEIGHTS_MAX DBL_DECIMAL_DIG DBL_DIG "
    "DBL_EPSILON DBL_HAS_SUBNORM DBL_IS_IEC_60559 DBL_MANT_DIG DBL_MAX "
    "DBL_MAX_10_EXP DBL_MAX_EXP DBL_MIN DBL_MIN_10_EXP DBL_MIN_EXP "
    "DBL_NORM_MAX DBL_SNAN DBL_TRUE_MIN DELAYTIMER_MAX EXPR_NEST_MAX "
    "FE_ALL_EXCEPT FE_DFL_ENV FE_DFL_MODE FE_DIVBYZERO FE_DOWNWARD "
    "FE_INEXACT FE_INVALID FE_NOMASK_ENV FE_OVERFLOW FE_SNANS_ALWAYS_SIGNAL "
    "FE_TONEAREST FE_TOWARDZERO FE_UNDERFLOW FE_UPWARD FILENAME_MAX "
    "FLT_DECIMAL_DIG FLT_DIG FLT_EPSILON FLT_EVAL_METHOD FLT_HAS_SUBNORM "
    "FLT_IS_IEC_60559 FLT_MANT_DIG FLT_MAX FLT_MAX_10_EXP FLT_MAX_EXP "
    "FLT_MIN FLT_MIN_10_EXP FLT_MIN_EXP FLT_NORM_MAX FLT_RADIX FLT_ROUNDS "
    "FLT_SNAN FLT_TRUE_MIN FOPEN_MAX FP_FAST_FMA FP_FAST_FMAF "
    "FP_FAST_FMAF128 FP_FAST_FMAF32 FP_FAST_FMAF32X FP_FAST_FMAF64 "
    "FP_FAST_FMAF64X FP_FAST_FMAL FP_ILOGB0 FP_ILOGBNAN FP_INFINITE "
    "FP_INT_DOWNWARD FP_INT_TONEAREST FP_INT_TONEARESTFROMZERO "
    "FP_INT_TOWARDZERO FP_INT_UPWARD FP_LLOGB0 FP_LLOGBNAN FP_NAN FP_NORMAL "
    "FP_SUBNORMAL FP_ZERO F_LOCK F_OK F_TEST F_TLOCK F_ULOCK HOST_NAME_MAX "
    "INT16_C INT16_MAX INT16_MIN INT16_WIDTH INT32_C INT32_MAX INT32_MIN "
    "INT32_WIDTH INT64_C INT64_MAX INT64_MIN INT64_WIDTH INT8_C INT8_MAX "
    "INT8_MIN INT8_WIDTH INTMAX_C INTMAX_MAX INTMAX_MIN INTMAX_WIDTH "
    "INTPTR_MAX INTPTR_MIN INTPTR_WIDTH INT_FAST16_MAX INT_FAST16_MIN "
    "INT_FAST16_WIDTH INT_FAST32_MAX INT_FAST32_MIN INT_FAST32_WIDTH "
    "INT_FAST64_MAX INT_FAST64_MIN INT_FAST64_WIDTH INT_FAST8_MAX "
    "INT_FAST8_MIN INT_FAST8_WIDTH INT_LEAST16_MAX INT_LEAST16_MIN "
    "INT_LEAST16_WIDTH INT_LEAST32_MAX INT_LEAST32_MIN INT_LEAST32_WIDTH "
    "INT_LEAST64_MAX INT_LEAST64_MIN INT_LEAST64_WIDTH INT_LEAST8_MAX "
    "INT_LEAST8_MIN INT_LEAST8_WIDTH INT_MAX INT_MIN INT_WIDTH IOV_MAX "
    "ITIMER_PROF ITIMER_REAL ITIMER_VIRTUAL LC_ADDRESS LC_ADDRESS_MASK "
    "LC_ALL LC_ALL_MASK LC_COLLATE LC_COLLATE_MASK LC_CTYPE LC_CTYPE_MASK "
    "LC_GLOBAL_LOCALE LC_IDENTIFICATION LC_IDENTIFICATION_MASK "
    "LC_MEASUREMENT LC_MEASUREMENT_MASK LC_MESSAGES LC_MESSAGES_MASK "
    "LC_MONETARY LC_MONETARY_MASK LC_NAME LC_NAME_MASK LC_NUMERIC "
    "LC_NUMERIC_MASK LC_PAPER LC_PAPER_MASK LC_TELEPHONE LC_TELEPHONE_MASK "
    "LC_TIME LC_TIME_MASK LDBL_DECIMAL_DIG LDBL_DIG LDBL_EPSILON "
    "LDBL_HAS_SUBNORM LDBL_IS_IEC_60559 LDBL_MANT_DIG LDBL_MAX "
    "LDBL_MAX_10_EXP LDBL_MAX_EXP LDBL_MIN LDBL_MIN_10_EXP LDBL_MIN_EXP "
    "LDBL_NORM_MAX LDBL_SNAN LDBL_TRUE_MIN LINE_MAX LLONG_MAX LLONG_MIN "
    "LLONG_WIDTH LOGIN_NAME_MAX LONG_LONG_MAX LONG_LONG_MIN LONG_MAX "
    "LONG_MIN LONG_WIDTH L_INCR L_SET L_XTND MATH_ERREXCEPT MATH_ERRNO "
    "MB_CUR_MAX MB_LEN_MAX MOD_CLKA MOD_CLKB MOD_ESTERROR MOD_FREQUENCY "
    "MOD_MAXERROR MOD_MICRO MOD_NANO MOD_OFFSET MOD_STATUS MOD_TAI "
    "MOD_TIMECONST MQ_PRIO_MAX NAME_MAX NGROUPS_MAX NL_ARGMAX NL_LANGMAX "
    "NL_MSGMAX NL_NMAX NL_SETMAX NL_TEXTMAX PATH_MAX "
    "PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP PTHREAD_ATTR_NO_SIGMASK_NP "
    "PTHREAD_BARRIER_SERIAL_THREAD PTHREAD_CANCELED "
    "PTHREAD_CANCEL_ASYNCHRONOUS PTHREAD_CANCEL_DEFERRED "
    "PTHREAD_CANCEL_DISABLE PTHREAD_CANCEL_ENABLE PTHREAD_COND_INITIALIZER "
    "PTHREAD_CREATE_DETACHED PTHREAD_CREATE_JOINABLE "
    "PTHREAD_DESTRUCTOR_ITERATIONS PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP "
    "PTHREAD_EXPLICIT_SCHED PTHREAD_INHERIT_SCHED PTHREAD_KEYS_MAX "
    "PTHREAD_MUTEX_INITIALIZER PTHREAD_ONCE_INIT PTHREAD_PROCESS_PRIVATE "
    "PTHREAD_PROCESS_SHARED PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP "
    "PTHREAD_RWLOCK_INITIALIZER "
    "PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP "
    "PTHREAD_SCOPE_PROCESS PTHREAD_SCOPE_SYSTEM PTHREAD_STACK_MIN "
    "PTRDIFF_MAX PTRDIFF_MIN PTRDIFF_WIDTH RAND_MAX RENAME_EXCHANGE "
    "RENAME_NOREPLACE RENAME_WHITEOUT RE_DUP_MAX RTSIG_MAX R_OK SCHAR_MAX "
    "SCHAR_MIN SCHAR_WIDTH SCHED_BATCH SCHED_DEADLINE SCHED_FIFO SCHED_IDLE "
    "SCHED_ISO SCHED_OTHER SCHED_RESET_ON_FORK SCHED_RR SEEK_CUR SEEK_DATA "
    "SEEK_END SEEK_HOLE SEEK_SET SEM_FAILED SEM_VALUE_MAX SHRT_MAX SHRT_MIN "
    "SHRT_WIDTH SIG_ATOMIC_MAX SIG_ATOMIC_MIN SIG_ATOMIC_WIDTH SIG_BLOCK "
    "SIG_DFL SIG_ERR SIG_HOLD SIG_IGN SIG_SETMASK SIG_UNBLOCK SIZE_MAX "
    "SIZE_WIDTH SSIZE_MAX STA_CLK STA_CLOCKERR STA_DEL STA_FLL STA_FREQHOLD "
    "STA_INS STA_MODE STA_NANO STA_PLL STA_PPSERROR STA_PPSFREQ "
    "STA_PPSJITTER STA_PPSSIGNAL STA_PPSTIME STA_PPSWANDER STA_RONLY "
    "STA_UNSYNC STDERR_FILENO STDIN_FILENO STDOUT_FILENO TIME_ACTIVE "
    "TIME_MONOTONIC TIME_THREAD_ACTIVE TMP_MAX TTY_NAME_MAX UCHAR_MAX "
    "UCHAR_WIDTH UINT16_C UINT16_MAX UINT16_WIDTH UINT32_C UINT32_MAX "
    "UINT32_WIDTH UINT64_C UINT64_MAX UINT64_WIDTH UINT8_C UINT8_MAX "
    "UINT8_WIDTH UINTMAX_C UINTMAX_MAX UINTMAX_WIDTH UINTPTR_MAX "
    "UINTPTR_WIDTH UINT_FAST16_MAX UINT_FAST16_WIDTH UINT_FAST32_MAX "
    "UINT_FAST32_WIDTH UINT_FAST64_MAX UINT_FAST64_WIDTH UINT_FAST8_MAX "
    "UINT_FAST8_WIDTH UINT_LEAST16_MAX UINT_LEAST16_WIDTH UINT_LEAST32_MAX "
    "UINT_LEAST32_WIDTH UINT_LEAST64_MAX UINT_LEAST64_WIDTH UINT_LEAST8_MAX "
    "UINT_LEAST8_WIDTH UINT_MAX UINT_WIDTH ULLONG_MAX ULLONG_WIDTH "
    "ULONG_LONG_MAX ULONG_MAX ULONG_WIDTH USHRT_MAX USHRT_WIDTH WCHAR_MAX "
    "WCHAR_MIN WCHAR_WIDTH WINT_MAX WINT_MIN WINT_WIDTH W_OK XATTR_LIST_MAX "
    "XATTR_NAME_MAX XATTR_SIZE_MAX X_OK ";

// Constants of <cmath>, and what may be behind their names, as in `M_PIf`.
constexpr absl::string_view kMathConstants =
    " M_1_PI M_2_PI M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 "
    "M_PI_4 M_SQRT1_2 M_SQRT2 ";
constexpr absl::string_view kMathSuffixes = " f l f16 f32 f64 f128 f32x f64x ";
// Ends of `HUGE_VAL` and `SNAN` likewise.
constexpr absl::string_view kHugeSuffixes =
    " F L _F16 _F32 _F64 _F128 _F32X _F64X _D32 _D64 _D128 ";
constexpr absl::string_view kNanSuffixes =
    " F L F16 F32 F64 F128 F32X F64X D32 D64 D128 ";
// Types of formats of <cinttypes>.
constexpr absl::string_view kFormatTypes =
    " 8 16 32 64 FAST8 FAST16 FAST32 FAST64 LEAST8 LEAST16 LEAST32 LEAST64 MAX "
    "PTR ";

// True if `name` is one of `names`, each between spaces.
bool IsIn(absl::string_view name, absl::string_view names) {
  return absl::StrContains(names, absl::StrCat(" ", name, " "));
}

// True for macros of <cinttypes>: `PRId64`, `SCNxFAST8`.
bool IsFormat(absl::string_view name) {
  return name.size() > 4 &&
         (absl::StartsWith(name, "PRI") || absl::StartsWith(name, "SCN")) &&
         absl::StrContains("dioxuX", name.substr(3, 1)) &&
         IsIn(name.substr(4), kFormatTypes);
}

// True for macros of <cmath> of floating-point types: `M_PI`, `M_PIf`.
bool IsMathConstant(absl::string_view name) {
  if (absl::ConsumePrefix(&name, "HUGE_VAL")) {
    return name.empty() || IsIn(name, kHugeSuffixes);
  }
  if (absl::ConsumePrefix(&name, "SNAN")) {
    return name.empty() || IsIn(name, kNanSuffixes);
  }
  if (!absl::StartsWith(name, "M_")) return false;
  if (IsIn(name, kMathConstants)) return true;
  const size_t suffix = name.find_first_of("fl");
  return suffix != absl::string_view::npos &&
         IsIn(name.substr(0, suffix), kMathConstants) &&
         IsIn(name.substr(suffix), kMathSuffixes);
}

// True if `name` is reserved for compilers, such as `__LINE__` and `_LP64`, or a
// macro of a standard header: `INT8_MAX`, `M_PI`, `EINVAL`.
bool IsLikeMacro(absl::string_view name) {
  if (name.size() > 2 && name[0] == '_') {
    const auto second = static_cast<unsigned char>(name[1]);
    const auto third = static_cast<unsigned char>(name[2]);
    const bool has_lower =
        std::any_of(name.begin(), name.end(),
                    [](unsigned char c) { return absl::ascii_islower(c); });
    if (second == '_' ? absl::ascii_isalpha(third)
                      : absl::ascii_isupper(second) && !has_lower) {
      return true;
    }
  }
  return IsFormat(name) || IsMathConstant(name) || IsIn(name, kErrors) ||
         IsIn(name, kMacros);
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
