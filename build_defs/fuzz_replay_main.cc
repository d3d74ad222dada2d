// Runs a libFuzzer target once on each file that the command line names, and on
// each file below each folder that it names. So a corpus is a regression test
// with any compiler.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

bool Replay(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)),
                                std::istreambuf_iterator<char>());
  // Printed before the run: the last name is the guilty one.
  std::fprintf(stderr, "%s (%zu bytes)\n", path.c_str(), bytes.size());
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()),
                         bytes.size());
  return true;
}

bool ReplayAll(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return Replay(path);
  bool ok = true;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(path, error)) {
    if (entry.is_regular_file(error)) ok = Replay(entry.path()) && ok;
  }
  return ok && !error;
}

}  // namespace

int main(int argc, char** argv) {
  LLVMFuzzerTestOneInput(nullptr, 0);
  bool ok = true;
  for (int i = 1; i < argc; ++i) ok = ReplayAll(argv[i]) && ok;
  return ok ? 0 : 1;
}
