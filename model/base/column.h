// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/large_memory.h"

#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace warpline {

/// A fixed-length array of plain values whose memory is not touched until it is written: sizing a column for
/// millions of rows costs nothing, and pages that are never filled are never paid for.
template <class T>
class Column {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    Column() = default;
    explicit Column(std::size_t size) { reset(size); }
    ~Column() { std::free(m_data); }
    Column(Column&& o) noexcept
        : m_data(std::exchange(o.m_data, nullptr)), m_size(std::exchange(o.m_size, 0)) {}
    Column& operator=(Column&& o) noexcept {
        std::swap(m_data, o.m_data);
        std::swap(m_size, o.m_size);
        return *this;
    }

    /// Drops what is there and takes room for `size` values, uninitialised.
    void reset(std::size_t size) {
        std::free(m_data);
        m_data = nullptr;
        m_size = size;
        if (size == 0)
            return;
        m_data = static_cast<T*>(allocateLarge(size * sizeof(T)));
        if (m_data == nullptr)
            throw std::bad_alloc();
    }
    /// Gives back the room after the first `size` values.
    void shrink(std::size_t size) {
        assert(size <= m_size);
        m_size = size;
        if (size == 0)
            return reset(0);
        if (void* p = std::realloc(m_data, size * sizeof(T)))
            m_data = static_cast<T*>(p);
    }
    /// Room for more than `used` values, of which nobody knows how many will come: several times as much, not
    /// touched, in large pages where it is much. The first `used` values stay. They are copied: std::realloc
    /// cannot move memory of which a part is in large pages, and would take small ones instead.
    void makeRoom(std::size_t used) {
        assert(used <= m_size);
        constexpr std::size_t kMuch = std::size_t{32} << 20;
        Column more(used < 16 ? 64 : used * (used * sizeof(T) < kMuch ? 4 : 2));
        if (used > 0)
            std::memcpy(more.m_data, m_data, used * sizeof(T));
        *this = std::move(more);
    }
    void fill(const T& value) {
        for (std::size_t i = 0; i < m_size; ++i)
            m_data[i] = value;
    }

    T& operator[](std::size_t i) {
        assert(i < m_size);
        return m_data[i];
    }
    const T& operator[](std::size_t i) const {
        assert(i < m_size);
        return m_data[i];
    }
    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] bool empty() const { return m_size == 0; }
    [[nodiscard]] std::size_t bytes() const { return m_size * sizeof(T); }
    T* data() { return m_data; }
    const T* data() const { return m_data; }
    T* begin() { return m_data; }
    T* end() { return m_data + m_size; }
    const T* begin() const { return m_data; }
    const T* end() const { return m_data + m_size; }
    [[nodiscard]] std::span<const T> view() const { return {m_data, m_size}; }

  private:
    T* m_data = nullptr;
    std::size_t m_size = 0;
};

} // namespace warpline
