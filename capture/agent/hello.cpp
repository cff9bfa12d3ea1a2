// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/agent/hello.h"

#include "capture/protocol/wire.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace warpline::agent {

namespace {

/// Appends fields to a buffer that may be too small: what does not fit is left out.
class FieldWriter {
  public:
    FieldWriter(char* to, std::size_t size) : m_to(to), m_left(size) {}
    void text(const char* key, const char* value) {
        if (value == nullptr)
            return;
        const std::size_t needed = std::strlen(key) + std::strlen(value) + 2;
        if (needed > m_left)
            return;
        std::snprintf(m_to, m_left, "%s=%s", key, value);
        m_to += needed;
        m_left -= needed;
    }
    void number(const char* key, long value) {
        char digits[24];
        std::snprintf(digits, sizeof digits, "%ld", value);
        text(key, digits);
    }
    [[nodiscard]] std::size_t left() const { return m_left; }

  private:
    char* m_to;
    std::size_t m_left;
};

/// A small file of /proc, its NULs and line ends as spaces.
bool readSmall(const char* path, char* to, std::size_t size) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const ssize_t n = ::read(file, to, size - 1);
    ::close(file);
    std::size_t length = n > 0 ? static_cast<std::size_t>(n) : 0;
    for (std::size_t i = 0; i < length; ++i)
        if (to[i] == '\0' || to[i] == '\n')
            to[i] = ' ';
    while (length > 0 && to[length - 1] == ' ')
        --length;
    to[length] = '\0';
    return length > 0;
}

const char* find(const char* fields, std::size_t size, const char* key) {
    const std::size_t keySize = std::strlen(key);
    const char* const end = fields + size;
    while (fields < end) {
        const auto* stop =
            static_cast<const char*>(std::memchr(fields, '\0', static_cast<std::size_t>(end - fields)));
        if (stop == nullptr)
            return nullptr;
        if (static_cast<std::size_t>(stop - fields) > keySize && std::memcmp(fields, key, keySize) == 0 &&
            fields[keySize] == '=')
            return fields + keySize + 1;
        fields = stop + 1;
    }
    return nullptr;
}

void readNumber(const char* fields, std::size_t size, const char* key, std::uint32_t most,
                std::uint32_t& to) {
    const char* text = find(fields, size, key);
    if (text == nullptr)
        return;
    const unsigned long value = std::strtoul(text, nullptr, 10);
    to = value < most ? static_cast<std::uint32_t>(value) : most;
}

} // namespace

std::size_t writeHello(char* to, std::size_t size, bool attached) {
    const wire::HelloHeader header;
    std::memcpy(to, &header, sizeof header);
    FieldWriter out(to + sizeof header, size - sizeof header);
    out.number("pid", ::getpid());
    out.number("ppid", ::getppid());
    out.text("how", attached ? "attached" : "injected");
    char text[4096];
    const ssize_t n = ::readlink("/proc/self/exe", text, sizeof text - 1);
    if (n > 0) {
        text[n] = '\0';
        out.text("exe", text);
    }
    if (::gethostname(text, sizeof text - 1) == 0)
        out.text("host", text);
    if (readSmall("/proc/self/cmdline", text, sizeof text))
        out.text("command", text);
    out.text("visible_devices", std::getenv("CUDA_VISIBLE_DEVICES"));
    static constexpr const char* kRank[] = {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK"};
    for (const char* name : kRank) {
        if (const char* rank = std::getenv(name)) {
            out.text("rank", rank);
            break;
        }
    }
    out.text("local_rank", std::getenv("LOCAL_RANK"));
    out.text("world_size", std::getenv("WORLD_SIZE"));
    return size - out.left();
}

void readConfiguration(const char* fields, std::size_t size, Settings& settings) {
    if (const char* kinds = find(fields, size, wire::config::kKinds))
        settings.kinds = std::strtoull(kinds, nullptr, 10);
    if (const char* begin = find(fields, size, wire::config::kBegin)) {
        static constexpr struct {
            const char* name;
            Begin begin;
        } kBegins[] = {{"now", Begin::Now},
                       {"wait", Begin::Wait},
                       {"delay", Begin::Delay},
                       {"profiler", Begin::Profiler},
                       {"range", Begin::Range}};
        for (const auto& b : kBegins)
            if (std::strcmp(begin, b.name) == 0)
                settings.begin = b.begin;
    }
    constexpr std::uint32_t kAny = ~std::uint32_t{0};
    readNumber(fields, size, wire::config::kDelayMs, kAny, settings.delayMs);
    readNumber(fields, size, wire::config::kRangeSkip, kAny, settings.rangeSkip);
    readNumber(fields, size, wire::config::kRangeCount, kAny, settings.rangeCount);
    readNumber(fields, size, wire::config::kFlushMs, 10'000, settings.flushMs);
    readNumber(fields, size, wire::config::kBufferCount, Buffers::kMost, settings.bufferCount);
    readNumber(fields, size, wire::config::kBufferBytes, 32u << 20, settings.bufferBytes);
    constexpr std::uint32_t kLeastBuffer = 64u << 10;
    if (settings.bufferBytes < kLeastBuffer)
        settings.bufferBytes = kLeastBuffer;
    settings.bufferBytes &= ~std::uint32_t{4095};
    if (settings.bufferCount < 2)
        settings.bufferCount = 2;
    if (const char* name = find(fields, size, wire::config::kRangeName))
        std::snprintf(settings.rangeName, sizeof settings.rangeName, "%s", name);
}

void threadName(unsigned tid, char* to, std::size_t size) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%u/comm", tid);
    if (!readSmall(path, to, size))
        to[0] = '\0';
}

} // namespace warpline::agent
