// Simulates a full disk.

#ifndef BATON_TESTING_FULL_DISK_H_
#define BATON_TESTING_FULL_DISK_H_

#include <sys/resource.h>

#include <csignal>

namespace baton::testing {

// During its lifetime, no file of this process or its child processes can grow
// beyond `bytes` bytes: further writes are errors.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit full = {.rlim_cur = bytes, .rlim_max = limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit limit_ = {};
  void (*handler_)(int);
};

}  // namespace baton::testing

#endif  // BATON_TESTING_FULL_DISK_H_
