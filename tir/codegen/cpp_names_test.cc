#include "baton/tir/codegen/cpp_names.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

TEST(CppNamesTest, MakesIdentifiers) {
  EXPECT_EQ(CppIdentifier("conv1/out:0"), "conv1_out_0");
  EXPECT_EQ(CppIdentifier("1x"), "_1x");
  EXPECT_EQ(CppIdentifier("class"), "class_");
  EXPECT_EQ(CppIdentifier("\xc3\xa9"), "__");
  EXPECT_EQ(CppIdentifier(""), "_");
  // Macros of compilers and of standard headers.
  for (const char* name : {"stdin", "INT8_MAX", "UINT64_C", "__LINE__",
                           "__x86_64", "_LP64", "EOF", "errno"}) {
    EXPECT_EQ(CppIdentifier(name), absl::StrCat(name, "_"));
  }
  for (const char* name : {"X", "_Relu", "MAX", "_1", "x_C", "_x", "X1_OUT"}) {
    EXPECT_EQ(CppIdentifier(name), name);
  }
  EXPECT_EQ(CppStringLiteral("a\n\"?"
                             "?/\xc3\xa9"),
            "\"a\\n\\\"\\?\\?/\\303\\251\"");
  CppNames names;
  EXPECT_EQ(names.Unique("a.b"), "a_b");
  EXPECT_EQ(names.Unique("a:b"), "a_b_2");
  EXPECT_EQ(names.Unique("a_b_2"), "a_b_2_2");
  EXPECT_EQ(names.Unique("a/b"), "a_b_3");
  EXPECT_EQ(CppCommentText("x */ int y; /* \\\n?"
                           "?/"),
            "x ./ int y; /. . ../");
}

TEST(CppNamesTest, NoIdentifierIsAMacro) {
  for (const char* name : {"ADJ_TICK",
                           "ATOMIC_FLAG_INIT",
                           "ATOMIC_INT_LOCK_FREE",
                           "BC_BASE_MAX",
                           "BIG_ENDIAN",
                           "BUFSIZ",
                           "CHAR_BIT",
                           "CHAR_MAX",
                           "CHAR_WIDTH",
                           "CLOCKS_PER_SEC",
                           "CLOCK_MONOTONIC",
                           "CLONE_FS",
                           "CPU_SETSIZE",
                           "DBL_EPSILON",
                           "DBL_HAS_SUBNORM",
                           "DBL_MAX",
                           "DBL_MAX_10_EXP",
                           "DECIMAL_DIG",
                           "E2BIG",
                           "EDOM",
                           "EILSEQ",
                           "EINVAL",
                           "ERANGE",
                           "EXIT_FAILURE",
                           "FE_ALL_EXCEPT",
                           "FE_DIVBYZERO",
                           "FE_TONEAREST",
                           "FILENAME_MAX",
                           "FLT_EVAL_METHOD",
                           "FLT_MIN",
                           "FLT_RADIX",
                           "FLT_TRUE_MIN",
                           "FOPEN_MAX",
                           "FP_FAST_FMA",
                           "FP_ILOGB0",
                           "FP_NAN",
                           "FP_NORMAL",
                           "FP_SUBNORMAL",
                           "FP_ZERO",
                           "HUGE_VAL",
                           "HUGE_VALF",
                           "HUGE_VALL",
                           "HUGE_VAL_F128",
                           "HUGE_VAL_F32X",
                           "I",
                           "INFINITY",
                           "INT16_MIN",
                           "INT64_C",
                           "INT64_WIDTH",
                           "INTMAX_MAX",
                           "INTPTR_MIN",
                           "INT_FAST16_MAX",
                           "INT_LEAST8_WIDTH",
                           "INT_MAX",
                           "LC_ALL",
                           "LC_ALL_MASK",
                           "LC_CTYPE",
                           "LC_NUMERIC",
                           "LDBL_DIG",
                           "LINE_MAX",
                           "LITTLE_ENDIAN",
                           "LLONG_MIN",
                           "LONG_LONG_MAX",
                           "L_tmpnam",
                           "MATH_ERRNO",
                           "MB_CUR_MAX",
                           "MOD_NANO",
                           "MOD_OFFSET",
                           "M_1_PI",
                           "M_2_SQRTPI",
                           "M_2_SQRTPIl",
                           "M_E",
                           "M_Ef",
                           "M_Ef64x",
                           "M_LN10",
                           "M_LOG2Ef16",
                           "M_PI",
                           "M_PI_2",
                           "M_PI_4f128",
                           "M_PIf32x",
                           "M_SQRT1_2",
                           "M_SQRT2l",
                           "NAN",
                           "NL_ARGMAX",
                           "NULL",
                           "PATH_MAX",
                           "PRIXMAX",
                           "PRId64",
                           "PRIoLEAST16",
                           "PRIuPTR",
                           "PTHREAD_CANCELED",
                           "PTHREAD_STACK_MIN",
                           "PTRDIFF_MAX",
                           "P_tmpdir",
                           "RAND_MAX",
                           "RENAME_EXCHANGE",
                           "R_OK",
                           "SCHED_FIFO",
                           "SCNxFAST8",
                           "SEEK_CUR",
                           "SEEK_SET",
                           "SHRT_MAX",
                           "SIG_ATOMIC_MIN",
                           "SIG_DFL",
                           "SIZE_MAX",
                           "SNAN",
                           "SNANF32X",
                           "SSIZE_MAX",
                           "STA_MODE",
                           "STA_NANO",
                           "TIME_UTC",
                           "TMP_MAX",
                           "UINT8_MAX",
                           "UINTMAX_C",
                           "WCHAR_MIN",
                           "WEOF",
                           "WINT_MAX",
                           "WNOHANG",
                           "errno",
                           "linux",
                           "math_errhandling",
                           "stderr",
                           "unix"}) {
    EXPECT_EQ(CppIdentifier(name), absl::StrCat(name, "_"));
  }
}

// Names of models are as they were.
TEST(CppNamesTest, OtherNamesStay) {
  for (const char* name :
       {"X",         "E",          "ENCODER",    "SIGMOID",
        "FILTER",    "FLOAT_IN",   "PRIOR",      "PRIor",
        "SCNN_1",    "MOD",        "input_ids",  "M_0",
        "STATE",     "SNR",        "MATH",       "M_EMBED",
        "M_E_1",     "M_PI_3",     "M_PIlf",     "M_LN10_OUT",
        "M_PIXELS",  "FE_IN",      "MOD_1",      "STA_X",
        "LC_0",      "FP_16",      "NL_TEXT",    "SIG_1",
        "FLT_OUT",   "SNANS",      "HUGE_VALUE", "PRId64_1",
        "PRIu8x",    "SCHED_STEP", "CLOCK_IN",   "INPUT_MAX",
        "INPUT_MIN", "IMG_WIDTH",  "LAYER_C",    "ATOMIC_NUMBER"}) {
    EXPECT_EQ(CppIdentifier(name), name);
  }
}

}  // namespace
}  // namespace baton::tir
