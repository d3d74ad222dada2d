#include "baton/backend/library/library_class.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/tir/codegen/cpp_names.h"

namespace baton {
namespace {

// True if `name`, of a class without a namespace or of the outermost namespace,
// is that of a function or of a type of the headers <cmath>, <cstdint>,
// <cstdio>, <cstdlib>, <cstring>, <ctime> and of what these include, or of the
// function main.
bool IsOfC(absl::string_view name) {
  constexpr absl::string_view kNames =
      " FILE abort abs acos acosh asin asinh atan atan2 atanh atexit atof atoi "
      "atol atoll bcmp bsearch bzero calloc cbrt ceil clearerr clock "
      "clock_getres clock_gettime clock_settime clock_t copysign cos "
      "cosh ctime difftime div div_t double_t dprintf drand48 erf erfc exit "
      "exp exp2 expm1 "
      "fabs fclose fdim feof ferror fflush ffs fgetc fgetpos fgets float_t "
      "floor "
      "fma fmax fmin fmod fopen fpos_t fprintf fputc fputs fread free freopen "
      "frexp fscanf fseek fsetpos ftell fwrite gamma getc getchar getdelim "
      "getenv getline gets "
      "gmtime hypot ilogb index j0 j1 jn labs ldexp ldiv ldiv_t lgamma llabs "
      "lldiv lldiv_t llrint llround localtime log log10 log1p log2 logb lrint "
      "lround main malloc max_align_t memccpy memchr memcmp memcpy memmove "
      "memset mktime modf nan nanosleep nearbyint nextafter nexttoward pclose "
      "perror popen pow printf "
      "ptrdiff_t putc putchar puts qsort rand random realloc remainder remove "
      "remquo rename rewind rindex rint round scalbln scalbn scanf select "
      "setbuf setenv "
      "setvbuf signgam sin sinh size_t snprintf sprintf sqrt srand sscanf "
      "strcat strchr strcmp strcoll strcpy strcspn strdup strerror strftime "
      "strlen strncat strncmp strncpy strpbrk strrchr strsep strspn strstr "
      "strtod strtof strtok strtol strtold strtoll strtoul strtoull strxfrm "
      "system tan tanh tgamma time time_t timegm timer_t timespec tm tmpfile "
      "tmpnam "
      "trunc ungetc unsetenv vfprintf vprintf vsnprintf vsprintf y0 y1 yn ";
  return absl::StrContains(kNames, absl::StrCat(" ", name, " ")) ||
         (absl::EndsWith(name, "_t") &&
          (absl::StartsWith(name, "int") || absl::StartsWith(name, "uint")));
}

}  // namespace

absl::StatusOr<ClassName> ParseClass(const std::string& text) {
  ClassName result;
  for (absl::string_view part : absl::StrSplit(text, "::")) {
    if (part.empty() || tir::CppIdentifier(part) != part) {
      return absl::InvalidArgumentError(
          absl::StrCat("--cpp_class=", text, ": '", part,
                       "' is no C++ identifier (write acme::Mlp)"));
    }
    result.namespaces.emplace_back(part);
  }
  result.name = result.namespaces.back();
  result.namespaces.pop_back();
  // Names that the header itself declares or uses.
  constexpr absl::string_view kMembers[] = {
      "Check",       "CopyWeights", "Error",      "Inputs",     "Instructions",
      "IsSupported", "Outputs",     "Parallel",   "Reset",      "Run",
      "RunChecked",  "RunProfiled", "StepName",   "arena_",     "is_odd_",
      "kArenaAlign", "kArenaBytes", "kCalls",     "kCopyBytes", "kFlops",
      "kMaxError",   "kMaxThreads", "kModelHash", "kSteps",     "kWeightBytes",
      "weights_"};
  const bool is_member = std::find(std::begin(kMembers), std::end(kMembers),
                                   result.name) != std::end(kMembers);
  const std::string& outermost =
      result.namespaces.empty() ? result.name : result.namespaces.front();
  const bool is_std = result.name == "std";
  if (is_member || is_std || IsOfC(outermost)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--cpp_class=", text, ": ",
                     is_member ? "the class has a member '"
                     : is_std  ? "C++ has a namespace '"
                               : "the library of C has '",
                     is_member || is_std ? result.name : outermost,
                     "': give another name, as in acme::Mlp"));
  }
  for (const std::string& name : result.namespaces) {
    if (name != "std") continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--cpp_class=", text, ": the namespace std is that of C++"));
  }
  return result;
}

}  // namespace baton
