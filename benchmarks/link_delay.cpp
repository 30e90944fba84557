// Links with a delay, for kernels without netem. Makes pairs of TAP devices OUTER INNER; scripts/hosts gives
// the inner one to a host and puts the outer one on the bridge. Each frame from a host is passed on after the
// delay, in order; one to a host at once. So each way between two hosts takes the delay. Says "ready" when
// the devices are there, and runs until it is told to stop; the devices go with it.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <exception>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "fedarena/base/descriptor.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/print.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using fedarena::Complaint;
using fedarena::Error;
using Frame = std::vector<std::byte>;

// What a host sends in one go is one frame, up to 64 KiB behind a header that says how to cut it.
constexpr std::size_t kLargestFrame = 1 << 17;
// What the way through devices and scheduler takes beside the delay, measured by pings between hosts.
constexpr std::chrono::microseconds kWay{100};
// Of one device before the others have their turn.
constexpr int kFramesAtOnce = 16;

fedarena::Descriptor open_tap(const std::string& name) {
  const auto refuse = [&](const char* what) {
    throw Error(Complaint{.found = fmt::format("{}: {}: {}", name, what, std::strerror(errno)),
                          .remedy = "Run it as root, on a kernel with /dev/net/tun"});
  };
  ifreq request{};
  if (name.empty() || name.size() >= sizeof(request.ifr_name))
    throw Error(Complaint{.found = fmt::format("'{}' cannot name a device", name),
                          .allowed = fmt::format("1 to {} bytes", sizeof(request.ifr_name) - 1)});
  fedarena::Descriptor tap(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!tap) refuse("/dev/net/tun");
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  std::copy(name.begin(), name.end(), std::begin(request.ifr_name));
  if (::ioctl(tap.number(), TUNSETIFF, &request) != 0) refuse("TUNSETIFF");
  if (::ioctl(tap.number(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) != 0)
    refuse("TUNSETOFFLOAD");
  return tap;
}

class Relay {
 public:
  Relay(Clock::duration delay, const std::vector<std::string>& names)
      : delay_(std::max(Clock::duration::zero(), delay - kWay)) {
    for (const std::string& name : names) {
      taps_.push_back(open_tap(name));
      polled_.push_back({.fd = taps_.back().number(), .events = POLLIN, .revents = 0});
    }
  }
  [[noreturn]] void run() {
    while (true) {
      wait();
      for (std::size_t tap = 0; tap < taps_.size(); ++tap) {
        if (polled_[tap].revents != 0) take(tap);
      }
      for (const auto now = Clock::now(); !waiting_.empty() && waiting_.front().due <= now;
           waiting_.pop_front())
        pass(waiting_.front().to, waiting_.front().frame.data(), waiting_.front().frame.size());
    }
  }

 private:
  struct Waiting {
    Clock::time_point due;
    std::size_t to = 0;
    Frame frame;
  };

  // Until a device has a frame, or one of those that wait is due.
  void wait() {
    using std::chrono::nanoseconds;
    timespec left{};
    if (!waiting_.empty()) {
      const auto until = std::chrono::duration_cast<nanoseconds>(waiting_.front().due - Clock::now()).count();
      left.tv_sec = std::max<std::int64_t>(0, until) / 1'000'000'000;
      left.tv_nsec = std::max<std::int64_t>(0, until) % 1'000'000'000;
    }
    if (::ppoll(polled_.data(), polled_.size(), waiting_.empty() ? nullptr : &left, nullptr) < 0 &&
        errno != EINTR)
      throw Error::of("ppoll: {}", std::strerror(errno));
  }

  void take(std::size_t tap) {
    for (int left = kFramesAtOnce; left > 0; --left) {
      const ssize_t size = ::read(taps_[tap].number(), buffer_.data(), buffer_.size());
      if (size <= 0) return;  // none left, or a host that is going
      const bool to_host = tap % 2 == 0;
      const std::size_t other = tap ^ 1U;
      if (to_host || delay_ == Clock::duration::zero())
        pass(other, buffer_.data(), static_cast<std::size_t>(size));
      else
        waiting_.push_back({Clock::now() + delay_, other, Frame(buffer_.begin(), buffer_.begin() + size)});
    }
  }

  // A network may lose frames: what a device does not take is gone.
  void pass(std::size_t to, const std::byte* frame, std::size_t size) {
    if (::write(taps_[to].number(), frame, size) < 0 && errno == EBADFD)
      throw Error::of("a device was removed");
  }

  const Clock::duration delay_;
  std::vector<fedarena::Descriptor> taps_;  // outer, inner, outer, inner, ...
  std::vector<pollfd> polled_;
  std::deque<Waiting> waiting_;  // by when they are due, as all wait equally long
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kLargestFrame);
};

Clock::duration milliseconds_from(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= 0 && value <= 10'000))
    throw Error(
        Complaint{.found = fmt::format("a delay of '{}'", text), .allowed = "milliseconds, 0 to 10000"});
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(value));
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  try {
    if (words.size() < 3 || words.size() % 2 == 0)
      throw Error(Complaint{.found = fmt::format("{} arguments", words.size()),
                            .remedy = "Use: link_delay MILLISECONDS OUTER INNER [OUTER INNER ...]"});
    ::prctl(PR_SET_TIMERSLACK, 1UL);  // nanoseconds, in place of 50,000
    Relay relay(milliseconds_from(words.front()), {words.begin() + 1, words.end()});
    fedarena::print("ready\n");
    std::fflush(stdout);
    relay.run();
  } catch (const Error& error) {
    fedarena::print(stderr, "link_delay: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fedarena::print(stderr, "link_delay: {}\n", error.what());
    return 1;
  }
}
