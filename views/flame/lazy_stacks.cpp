// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/flame/lazy_stacks.h"

namespace warpline {

Result<TraceStacksPtr> LazyStacks::get(const std::stop_token& stop) {
    const std::scoped_lock lock(m_mutex);
    if (!m_stacks) {
        Result<TraceStacksPtr> built = TraceStacks::build(m_trace, stop);
        if (!built.ok())
            return built;
        m_stacks = std::move(built).value();
    }
    return m_stacks;
}

std::shared_ptr<const MemoryStacks> LazyMemoryStacks::get() {
    const std::scoped_lock lock(m_mutex);
    if (!m_stacks)
        m_stacks = std::make_shared<const MemoryStacks>(memoryStacks(*m_history));
    return m_stacks;
}

} // namespace warpline
