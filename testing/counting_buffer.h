// A stream buffer that counts bytes and discards them.

#ifndef BATON_TESTING_COUNTING_BUFFER_H_
#define BATON_TESTING_COUNTING_BUFFER_H_

#include <cstdint>
#include <streambuf>

namespace baton::testing {

class CountingBuffer : public std::streambuf {
 public:
  // The number of bytes written so far.
  int64_t bytes() const { return bytes_; }

 protected:
  int_type overflow(int_type c) override {
    ++bytes_;
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char* /*s*/, std::streamsize n) override {
    bytes_ += n;
    return n;
  }

 private:
  int64_t bytes_ = 0;
};

}  // namespace baton::testing

#endif  // BATON_TESTING_COUNTING_BUFFER_H_
