// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/agent/buffers.h"

#include "capture/agent/lock.h"

#include <sys/mman.h>

namespace warpline::agent {

void Buffers::configure(std::size_t bytes, std::size_t count, bool mayRefuse) {
    const Lock lock(m_mutex);
    // Buffers of another size may still be at CUPTI: the size stays what it was first.
    if (m_bytes == 0)
        m_bytes = bytes;
    m_count = count < kMost ? count : kMost;
    m_mayRefuse = mayRefuse;
}

Buffer* Buffers::freshLocked() {
    if (m_used == kMost + kSpares)
        return nullptr;
    // Pages are paid for as they are written: a buffer that CUPTI hands back half full costs half.
    void* memory = ::mmap(nullptr, m_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return nullptr;
    Buffer& b = m_all[m_used++];
    b.data = static_cast<std::uint8_t*>(memory);
    return &b;
}

Buffer* Buffers::give() {
    const Lock lock(m_mutex);
    Buffer* b = m_free;
    if (b != nullptr) {
        m_free = b->next;
    } else if (m_normal < m_count) {
        b = freshLocked();
        if (b != nullptr)
            ++m_normal;
    }
    // All of them are at CUPTI or wait to be sent.
    if (b == nullptr && m_freeSpares != nullptr) {
        b = m_freeSpares;
        m_freeSpares = b->next;
    }
    if (b == nullptr && (m_used - m_normal < kSpares || !m_mayRefuse)) {
        b = freshLocked();
        if (b != nullptr)
            b->drop = true;
    }
    if (b == nullptr) {
        __atomic_fetch_add(&m_refused, 1, __ATOMIC_RELAXED);
        return nullptr;
    }
    b->next = nullptr;
    b->valid = 0;
    b->atCupti = true;
    return b;
}

Buffer* Buffers::find(const std::uint8_t* data) {
    const Lock lock(m_mutex);
    for (std::size_t i = 0; i < m_used; ++i)
        if (m_all[i].data == data)
            return &m_all[i];
    return nullptr;
}

void Buffers::complete(Buffer* buffer) {
    const Lock lock(m_mutex);
    buffer->next = nullptr;
    buffer->atCupti = false;
    if (m_readyLast != nullptr)
        m_readyLast->next = buffer;
    else
        m_ready = buffer;
    m_readyLast = buffer;
    ++m_waiting;
}

Buffer* Buffers::takeReady() {
    const Lock lock(m_mutex);
    Buffer* b = m_ready;
    if (b == nullptr)
        return nullptr;
    m_ready = b->next;
    if (m_ready == nullptr)
        m_readyLast = nullptr;
    --m_waiting;
    b->next = nullptr;
    return b;
}

void Buffers::freeLocked(Buffer* buffer) {
    buffer->atCupti = false;
    Buffer*& list = buffer->drop ? m_freeSpares : m_free;
    buffer->next = list;
    list = buffer;
}

void Buffers::giveBack(Buffer* buffer) {
    const Lock lock(m_mutex);
    freeLocked(buffer);
}

void Buffers::reclaim() {
    const Lock lock(m_mutex);
    for (std::size_t i = 0; i < m_used; ++i)
        if (m_all[i].atCupti)
            freeLocked(&m_all[i]);
}

void Buffers::trim() {
    const Lock lock(m_mutex);
    for (Buffer* b = m_free; b != nullptr; b = b->next)
        (void)::madvise(b->data, m_bytes, MADV_DONTNEED);
    for (Buffer* b = m_freeSpares; b != nullptr; b = b->next)
        (void)::madvise(b->data, m_bytes, MADV_DONTNEED);
}

std::size_t Buffers::waiting() {
    const Lock lock(m_mutex);
    return m_waiting;
}

} // namespace warpline::agent
