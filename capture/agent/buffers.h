// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace warpline::agent {

/// One of the buffers that CUPTI fills.
struct Buffer {
    std::uint8_t* data = nullptr;
    std::size_t valid = 0; ///< bytes of records in it
    void* context = nullptr;
    std::uint32_t stream = 0;
    bool atCupti = false;
    bool drop = false; ///< given out over the limit: what comes in it is counted and thrown away
    Buffer* next = nullptr;
};

/// The buffers that go round: free, at CUPTI, waiting to be sent. At most `count` of them; when all wait to
/// be sent, CUPTI gets a spare whose content is dropped, since an older CUPTI crashes where it gets none.
/// give() and take...() are called by any thread; no lock is held longer than a list operation.
class Buffers {
  public:
    static constexpr std::size_t kMost = 256; ///< whatever the configuration says
    static constexpr std::size_t kSpares = 4; ///< so many where CUPTI can be refused, else up to kMost

    void configure(std::size_t bytes, std::size_t count, bool mayRefuse);
    /// A buffer for CUPTI, or null where there is none and CUPTI can live with that.
    Buffer* give();
    /// The buffer whose memory this is; null for foreign memory.
    Buffer* find(const std::uint8_t* data);
    /// Puts a filled buffer in the queue of those to be sent.
    void complete(Buffer* buffer);
    /// The next one to be sent, or null.
    Buffer* takeReady();
    void giveBack(Buffer* buffer);
    /// Takes back what CUPTI never returned; only once it is finalized.
    void reclaim();
    /// Returns the memory of the free ones to the system.
    void trim();

    [[nodiscard]] std::size_t bytes() const { return m_bytes; }
    [[nodiscard]] std::size_t waiting();
    [[nodiscard]] std::uint64_t refused() const { return __atomic_load_n(&m_refused, __ATOMIC_RELAXED); }

  private:
    Buffer* freshLocked();
    void freeLocked(Buffer* buffer);

    pthread_mutex_t m_mutex = PTHREAD_MUTEX_INITIALIZER;
    Buffer m_all[kMost + kSpares];
    std::size_t m_used = 0; ///< entries of m_all
    Buffer* m_free = nullptr;
    Buffer* m_freeSpares = nullptr;
    Buffer* m_ready = nullptr;
    Buffer* m_readyLast = nullptr;
    std::size_t m_waiting = 0;
    std::size_t m_normal = 0; ///< of m_all, those that are no spares
    std::size_t m_bytes = 0;
    std::size_t m_count = 0;
    std::uint64_t m_refused = 0;
    bool m_mayRefuse = false;
};

} // namespace warpline::agent
