// How many nodes a thread makes and destroys.

#ifndef BATON_IR_NODE_COUNTS_H_
#define BATON_IR_NODE_COUNTS_H_

#include <cstdint>
#include <mutex>
#include <thread>

namespace baton {

// Nodes of all classes that were made and destroyed, with the bytes of their
// memory. Those of more than 256 bytes are not counted, and under sanitizers
// none are.
struct NodeCounts {
  int64_t made = 0;
  int64_t made_bytes = 0;
  int64_t destroyed = 0;
  int64_t destroyed_bytes = 0;
  // The most that made_bytes - destroyed_bytes has been.
  int64_t peak_bytes = 0;
};

// Between Begin() and End(), which may be nested, the calling thread counts
// nodes. Counting costs about as much as making a node; a thread that does not
// count pays nothing.
class NodeCounting {
 public:
  // Counting goes on if there is no memory for it, but counts nothing.
  static void Begin();
  static void End();
  // What this thread has counted since the outermost Begin(); zeros outside.
  static NodeCounts Now();

  // For a thread that others help: what they make and destroy counts as its.
  class Helpers {
   public:
    Helpers();  // on the thread that is helped
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;
    // On the thread that is helped, when the others have ended.
    void Join();

    // Around the work of a helper; nothing on the thread that is helped.
    class Use {
     public:
      explicit Use(Helpers& helpers);
      ~Use();
      Use(const Use&) = delete;
      Use& operator=(const Use&) = delete;

     private:
      Helpers* helpers_;  // null: nothing to do
    };

   private:
    const bool counts_;
    const std::thread::id thread_;
    std::mutex mutex_;
    NodeCounts counted_;
  };
};

}  // namespace baton

#endif  // BATON_IR_NODE_COUNTS_H_
