// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/bytes/layers.h"

#include <algorithm>
#include <cstring>

namespace warpline {
namespace {

constexpr std::size_t kInputBytes = std::size_t{256} << 10;

} // namespace

std::optional<ByteSource::Damage> LayerSource::damage() const {
    if (std::optional<Damage> below = m_inner->damage())
        return Damage{std::move(below->message), m_produced};
    if (m_damage)
        return Damage{*m_damage, m_produced};
    return std::nullopt;
}

InputBuffer::InputBuffer(ByteSource& source) : m_source(source), m_bytes(new char[kInputBytes]) {}

Result<bool> InputBuffer::fill() {
    if (m_begin < m_end)
        return true;
    Result<std::size_t> got = m_source.read(m_bytes.get(), kInputBytes);
    if (!got.ok())
        return got.error();
    m_begin = 0;
    m_end = got.value();
    return m_end > 0;
}

Result<std::unique_ptr<PeekSource>> PeekSource::open(std::unique_ptr<ByteSource> inner) {
    auto source = std::make_unique<PeekSource>(std::move(inner));
    std::string head(kHead, '\0');
    std::size_t have = 0;
    while (have < head.size()) {
        Result<std::size_t> got = source->inner().read(head.data() + have, head.size() - have);
        if (!got.ok()) {
            if (have == 0)
                return got.error();
            source->m_error = got.error();
            break;
        }
        if (got.value() == 0)
            break;
        have += got.value();
    }
    head.resize(have);
    source->m_head = std::move(head);
    return source;
}

Result<std::size_t> PeekSource::read(char* to, std::size_t size) {
    const std::size_t fromHead = std::min(size, m_head.size() - m_at);
    if (fromHead > 0) {
        std::memcpy(to, m_head.data() + m_at, fromHead);
        m_at += fromHead;
        addProduced(fromHead);
        if (fromHead == size)
            return size;
    }
    if (m_error) {
        if (fromHead > 0)
            return fromHead;
        return *m_error;
    }
    Result<std::size_t> got = inner().read(to + fromHead, size - fromHead);
    if (!got.ok()) {
        if (fromHead == 0)
            return got;
        m_error = got.error();
        return fromHead;
    }
    addProduced(got.value());
    return fromHead + got.value();
}

std::optional<ByteSource::Damage> PeekSource::damage() const {
    // Reading ahead may meet the damage before the reader gets there.
    return m_at < m_head.size() ? std::nullopt : LayerSource::damage();
}

} // namespace warpline
