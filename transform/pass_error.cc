#include "baton/transform/pass_error.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace baton {
namespace {

constexpr char kPayloadUrl[] = "baton/pass_error";

// The payload is a list of strings, each after its length.
void Put(absl::string_view text, std::string* out) {
  absl::StrAppend(out, text.size(), ":", text);
}

class Reader {
 public:
  explicit Reader(absl::string_view data) : data_(data) {}

  bool Take(std::string* out) {
    const size_t colon = data_.find(':');
    uint64_t size = 0;
    if (colon == absl::string_view::npos ||
        !absl::SimpleAtoi(data_.substr(0, colon), &size) ||
        size > data_.size() - colon - 1) {
      return false;
    }
    *out = std::string(data_.substr(colon + 1, size));
    data_.remove_prefix(colon + 1 + size);
    return true;
  }
  bool Take(int64_t* out) {
    std::string text;
    return Take(&text) && absl::SimpleAtoi(text, out);
  }

 private:
  absl::string_view data_;
};

std::string Serialize(const PassError& error) {
  std::string out;
  Put(error.message, &out);
  Put(error.culprit, &out);
  Put(absl::StrCat(error.frames.size()), &out);
  for (const PassError::Frame& frame : error.frames) {
    Put(frame.pass, &out);
    Put(absl::StrCat(frame.number), &out);
    Put(frame.function, &out);
  }
  Put(absl::StrCat(error.also.size()), &out);
  for (const std::string& also : error.also) Put(also, &out);
  return out;
}

std::optional<PassError> Parse(absl::string_view data) {
  Reader reader(data);
  PassError error;
  int64_t count = 0;
  if (!reader.Take(&error.message) || !reader.Take(&error.culprit) ||
      !reader.Take(&count)) {
    return std::nullopt;
  }
  for (int64_t i = 0; i < count; ++i) {
    PassError::Frame frame;
    if (!reader.Take(&frame.pass) || !reader.Take(&frame.number) ||
        !reader.Take(&frame.function)) {
      return std::nullopt;
    }
    error.frames.push_back(std::move(frame));
  }
  if (!reader.Take(&count)) return std::nullopt;
  for (int64_t i = 0; i < count; ++i) {
    std::string also;
    if (!reader.Take(&also)) return std::nullopt;
    error.also.push_back(std::move(also));
  }
  return error;
}

std::string Render(const PassError& error) {
  std::string out;
  const char* separator = "in pass ";
  for (const PassError::Frame& frame : error.frames) {
    absl::StrAppend(&out, separator, "#", frame.number, " ", frame.pass);
    if (!frame.function.empty()) {
      absl::StrAppend(&out, ", function @", frame.function);
    }
    separator = " > ";
  }
  if (!error.culprit.empty()) {
    absl::StrAppend(&out, out.empty() ? "" : ": ", error.culprit);
  }
  if (!out.empty()) out += ":\n";
  for (const std::string& also : error.also) {
    absl::StrAppend(&out, "then also failed: ",
                    absl::StrReplaceAll(also, {{"\n", " "}}), "\n");
  }
  return out + error.message;
}

}  // namespace

std::optional<PassError> GetPassError(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayloadUrl);
  if (!payload.has_value()) return std::nullopt;
  return Parse(std::string(*payload));
}

std::string OriginalMessage(const absl::Status& status) {
  const std::optional<PassError> error = GetPassError(status);
  return error.has_value() ? error->message : std::string(status.message());
}

absl::Status WithPassError(const absl::Status& status, const PassError& error) {
  absl::Status result(status.code(), Render(error));
  status.ForEachPayload(
      [&result](absl::string_view url, const absl::Cord& payload) {
        result.SetPayload(url, payload);
      });
  result.SetPayload(kPayloadUrl, absl::Cord(Serialize(error)));
  return result;
}

}  // namespace baton
