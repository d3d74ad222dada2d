// The main function of a libFuzzer target in an ordinary test. It runs the
// target once on each file in the command line and on each file below each
// folder there, so that a corpus is a regression test with any compiler; then,
// for some time, on mutations of those files.
//
//   foo_fuzz_test [--seconds=N] [--long_seconds=20] [--seed=1]
//       [FILE | FOLDER]...
//
// Mutations run for `seconds`; by default for 2, for half of `long_seconds` if
// the environment variable BATON_LONG_TESTS is 1, for all of them if it is 2.
//
// Input N of seed S is always the same. The failing input is written to the
// test's outputs folder, or to the current one; the message names the file.

#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// Defined by the sanitizers, if any.
extern "C" void __attribute__((weak))
__sanitizer_set_death_callback(void (*callback)());

namespace {

namespace fs = std::filesystem;

// One input may take this much time of the processor: other programs on the
// machine do not matter.
constexpr unsigned kSecondsPerInput = 20;
constexpr size_t kMaxSize = size_t{1} << 16;

std::string current_input;
bool input_saved = false;

// In a process that is about to die.
void SaveInput() {
  if (input_saved) return;
  input_saved = true;
  const char* folder = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  const std::string path =
      std::string(folder == nullptr ? "." : folder) + "/failing_input";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return;
  std::fwrite(current_input.data(), 1, current_input.size(), file);
  std::fclose(file);
  std::fprintf(stderr, "the input is in %s\n", path.c_str());
}

void OnSignal(int signal) {
  if (signal == SIGPROF) {
    std::fprintf(stderr,
                 "an input takes more than %u seconds of the processor\n",
                 kSecondsPerInput);
  }
  SaveInput();
  ::signal(signal, SIG_DFL);
  raise(signal);
}

// Sends SIGPROF after so many seconds of the processor; 0: never.
void SetTimer(unsigned seconds) {
  itimerval timer = {};
  timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

void Run(std::string input) {
  current_input = std::move(input);
  SetTimer(kSecondsPerInput);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(current_input.data()),
                         current_input.size());
  SetTimer(0);
}

bool ReadFile(const fs::path& path, std::vector<std::string>* corpus) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  corpus->emplace_back(std::istreambuf_iterator<char>(file),
                       std::istreambuf_iterator<char>());
  // Printed before the run: the last name is the guilty one.
  std::fprintf(stderr, "%s (%zu bytes)\n", path.c_str(), corpus->back().size());
  Run(corpus->back());
  return true;
}

bool ReadAll(const fs::path& path, std::vector<std::string>* corpus) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return ReadFile(path, corpus);
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(path, error)) {
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // so that a seed means one thing
  bool ok = true;
  for (const fs::path& file : files) ok = ReadFile(file, corpus) && ok;
  return ok && !error;
}

// Changes inputs by pieces: bytes, words of the corpus, stretches of other
// inputs.
class Mutator {
 public:
  Mutator(const std::vector<std::string>& corpus, uint64_t seed)
      : corpus_(corpus), random_(seed) {
    for (const std::string& input : corpus) AddWords(input);
    std::sort(words_.begin(), words_.end());
    words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
  }

  std::string Next() {
    std::string input = corpus_.empty() ? std::string() : Pick(corpus_);
    // Large inputs are slow: work on a part of them, as a rule.
    if (input.size() > 2000 && Below(4) != 0) {
      input = input.substr(Below(input.size() - 1000), 1000 + Below(1000));
    }
    const size_t times = 1 + Below(Below(8) == 0 ? 32 : 4);
    for (size_t i = 0; i < times; ++i) Mutate(&input);
    if (input.size() > kMaxSize) input.resize(kMaxSize);
    return input;
  }

 private:
  size_t Below(size_t n) { return n == 0 ? 0 : random_() % n; }
  const std::string& Pick(const std::vector<std::string>& from) {
    return from[Below(from.size())];
  }

  // Runs of letters and digits, and single marks.
  void AddWords(const std::string& input) {
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
             c == '.' || c == '%' || c == '@';
    };
    for (size_t i = 0; i < input.size() && words_.size() < 100000;) {
      size_t end = i + 1;
      if (is_word(input[i])) {
        while (end < input.size() && is_word(input[end])) ++end;
      }
      if (end - i < 64) words_.push_back(input.substr(i, end - i));
      i = end;
    }
  }

  void Mutate(std::string* input) {
    const size_t at = Below(input->size() + 1);
    const size_t rest = input->size() - at;
    const size_t length = std::min(rest, 1 + Below(Below(4) == 0 ? 200 : 12));
    switch (Below(9)) {
      case 0:
        input->erase(at, length);
        return;
      case 1:
        if (!words_.empty()) input->insert(at, Pick(words_));
        return;
      case 2:
        if (!words_.empty()) input->replace(at, length, Pick(words_));
        return;
      case 3:
        input->insert(Below(input->size() + 1), input->substr(at, length));
        return;
      case 4:
        if (!corpus_.empty()) {
          const std::string& other = Pick(corpus_);
          input->insert(at, other.substr(Below(other.size() + 1), 200));
        }
        return;
      case 5:
        if (rest > 0) {
          (*input)[at] = static_cast<char>(
              static_cast<unsigned char>((*input)[at]) ^ (1u << Below(8)));
        }
        return;
      case 6:
        if (rest > 0) (*input)[at] = static_cast<char>(Below(256));
        return;
      case 7: {
        // Another number.
        const size_t digit = input->find_first_of("0123456789", at);
        if (digit == std::string::npos) return;
        static constexpr const char* kNumbers[] = {"0",
                                                   "-1",
                                                   "1",
                                                   "2",
                                                   "65536",
                                                   "2147483648",
                                                   "9223372036854775807",
                                                   "99999999999999999999",
                                                   "1e999",
                                                   "0.1"};
        input->replace(digit, 1, kNumbers[Below(std::size(kNumbers))]);
        return;
      }
      default:
        input->resize(at);
        return;
    }
  }

  const std::vector<std::string>& corpus_;
  std::mt19937_64 random_;
  std::vector<std::string> words_;
};

// The number after `--name=`, if `arg` is that flag.
bool Flag(const char* arg, const char* name, uint64_t* value) {
  const size_t size = std::strlen(name);
  if (std::strncmp(arg, name, size) != 0) return false;
  *value = std::strtoull(arg + size, nullptr, 10);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGPROF}) {
    struct sigaction action;
    // A sanitizer that has taken the signal keeps it.
    if (sigaction(signal, nullptr, &action) == 0 &&
        action.sa_handler == SIG_DFL) {
      ::signal(signal, OnSignal);
    }
  }
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(SaveInput);
  }
  uint64_t seconds = 0;
  uint64_t long_seconds = 20;
  uint64_t seed = 1;
  std::vector<std::string> corpus;
  bool ok = true;
  LLVMFuzzerTestOneInput(nullptr, 0);
  for (int i = 1; i < argc; ++i) {
    if (Flag(argv[i], "--seconds=", &seconds)) continue;
    if (Flag(argv[i], "--long_seconds=", &long_seconds)) continue;
    if (Flag(argv[i], "--seed=", &seed)) continue;
    ok = ReadAll(argv[i], &corpus) && ok;
  }
  if (seconds == 0) {
    const char* const form = std::getenv("BATON_LONG_TESTS");
    const bool is_nightly = form != nullptr && std::strcmp(form, "2") == 0;
    const bool is_long =
        form != nullptr && *form != '\0' && std::strcmp(form, "0") != 0;
    seconds = is_nightly ? long_seconds
              : is_long  ? (long_seconds + 1) / 2
                         : std::min<uint64_t>(long_seconds, 2);
  }
  Mutator mutator(corpus, seed);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int64_t runs = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) Run(mutator.Next());
  std::fprintf(stderr, "%lld mutations, seed %llu: nothing found\n",
               static_cast<long long>(runs),
               static_cast<unsigned long long>(seed));
  return ok ? 0 : 1;
}
