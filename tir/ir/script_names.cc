#include "baton/tir/ir/script_names.h"

#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"

namespace baton::tir {

std::string ScriptDType(DType dtype) {
  if (dtype.code() == DType::Code::kHandle) {
    return dtype.is_void() ? "void" : "handle";
  }
  if (dtype.is_bool() && dtype.lanes() != 1) {
    return absl::StrCat("uint1x", dtype.lanes());
  }
  return dtype.ToString();
}

std::string ScriptString(absl::string_view text) {
  std::string result = "\"";
  for (const char ch : text) {
    const auto c = static_cast<unsigned char>(ch);
    switch (c) {
      case '"':
        result += "\\\"";
        break;
      case '\\':
        result += "\\\\";
        break;
      case '\t':
        result += "\\t";
        break;
      case '\r':
        result += "\\r";
        break;
      case '\n':
        result += "\\n";
        break;
      default:
        if (c >= ' ' && c <= '~') {
          result.push_back(ch);
        } else {
          absl::StrAppend(&result, "\\x", absl::StrFormat("%02X", c));
        }
    }
  }
  result.push_back('"');
  return result;
}

std::string ScriptFloat(double value) {
  if (std::isinf(value)) return value < 0 ? "\"-inf\"" : "\"inf\"";
  if (std::isnan(value)) return "\"nan\"";
  return absl::StrFormat("%.17g", value);
}

bool ParseScriptFloat(absl::string_view text, double* value) {
  if (text == "inf" || text == "-inf") {
    const double inf = std::numeric_limits<double>::infinity();
    *value = text == "inf" ? inf : -inf;
    return true;
  }
  if (text != "nan") return false;
  *value = std::numeric_limits<double>::quiet_NaN();
  return true;
}

}  // namespace baton::tir
