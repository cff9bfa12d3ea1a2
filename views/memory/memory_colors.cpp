// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/memory/memory_colors.h"

#include "model/analysis/memory_holders.h"
#include "views/text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>

namespace warpline {

namespace {

/// Colours for things that are only to be told apart, in an order that keeps neighbours far from one another.
constexpr std::array kDistinct{
    Family::Matmul,      Family::Reduction, Family::Optimiser,     Family::Attention,   Family::Normalisation,
    Family::Convolution, Family::Compiled,  Family::Communication, Family::Elementwise, Family::CopySet};

QColor mixed(const QColor& a, const QColor& b, int percentOfB) {
    const auto mix = [&](int x, int y) { return (x * (100 - percentOfB) + y * percentOfB) / 100; };
    return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

} // namespace

QColor BlockColors::category(const Theme& theme, MemoryCategory category) {
    switch (category) {
    case MemoryCategory::Parameter:
        return theme.color(Family::Matmul);
    case MemoryCategory::OptimizerState:
        return theme.color(Family::Attention);
    case MemoryCategory::Activation:
        return theme.color(Family::Reduction);
    case MemoryCategory::Gradient:
        return theme.color(Family::Optimiser);
    case MemoryCategory::Temporary:
        return theme.color(Family::Normalisation);
    case MemoryCategory::Unknown:
        break;
    }
    return theme.color(Family::CopySet);
}

void BlockColors::add(const Theme& theme, const QString& name, const QColor& color) {
    m_legend.push_back({name, color});
    m_color.push_back(color.rgb());
    m_edge.push_back(mixed(color, theme.background, 65).rgb());
}

BlockColors::BlockColors(const Theme& theme, const MemoryHistory& history, const MemoryDevice& device,
                         MemoryFocus::Colour by) {
    const MemoryBlockTable& blocks = device.blocks;
    m_class.resize(blocks.count());
    // The key of each block's class; then the classes by how many bytes they have, so that the largest get
    // the first colours and the many small ones share the last.
    std::vector<std::int64_t> bytes;
    std::unordered_map<StackId, FrameId> lineOf;
    std::vector<std::uint32_t> keys(blocks.count());
    for (std::size_t row = 0; row < blocks.count(); ++row) {
        std::uint32_t key = 0;
        switch (by) {
        case MemoryFocus::Colour::Category:
            key = static_cast<std::uint32_t>(blocks.category[row]);
            break;
        case MemoryFocus::Colour::Line: {
            const auto [it, isNew] = lineOf.try_emplace(blocks.stack[row]);
            if (isNew)
                it->second = programFrame(history, blocks.stack[row]);
            key = it->second.value;
            break;
        }
        case MemoryFocus::Colour::Stream:
            key = blocks.stream[row];
            break;
        case MemoryFocus::Colour::Pool:
            key = blocks.pool[row];
            break;
        case MemoryFocus::Colour::Size:
            key = static_cast<std::uint32_t>(
                std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(blocks.size[row], 1))) / 5);
            break;
        }
        keys[row] = key;
        if (key >= bytes.size())
            bytes.resize(key + 1, -1);
        bytes[key] = std::max<std::int64_t>(bytes[key], 0) + blocks.size[row];
    }
    std::vector<std::pair<std::int64_t, std::uint32_t>> order;
    for (std::uint32_t key = 0; key < bytes.size(); ++key) {
        if (bytes[key] >= 0)
            order.emplace_back(-bytes[key], key);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::uint8_t> classOf(bytes.size());
    for (const auto& [sum, key] : order) {
        QString name;
        QColor color = theme.color(kDistinct[std::min(m_legend.size(), kDistinct.size() - 1)]);
        switch (by) {
        case MemoryFocus::Colour::Category:
            name = toQString(memoryCategoryName(static_cast<MemoryCategory>(key)));
            color = category(theme, static_cast<MemoryCategory>(key));
            break;
        case MemoryFocus::Colour::Line:
            name = key == 0 ? MemoryFocus::tr("no stack") : toQString(history.frameText(FrameId{key}));
            break;
        case MemoryFocus::Colour::Stream:
            name = toQString(device.streamName(key));
            break;
        case MemoryFocus::Colour::Pool:
            name = toQString(device.poolName(static_cast<std::uint16_t>(key)));
            break;
        case MemoryFocus::Colour::Size: {
            const std::int64_t from = key == 0 ? 0 : std::int64_t{1} << (key * 5 - 1);
            name = MemoryFocus::tr("from %1").arg(bytesText(from));
            break;
        }
        }
        if (by != MemoryFocus::Colour::Category && m_legend.size() + 1 >= kDistinct.size()) {
            // What is left shares the last colour.
            if (m_legend.size() + 1 == kDistinct.size())
                add(theme, order.size() == kDistinct.size() ? name : MemoryFocus::tr("others"), color);
            classOf[key] = static_cast<std::uint8_t>(m_legend.size() - 1);
            continue;
        }
        classOf[key] = static_cast<std::uint8_t>(m_legend.size());
        add(theme, name, color);
    }
    for (std::size_t row = 0; row < blocks.count(); ++row)
        m_class[row] = classOf[keys[row]];
}

} // namespace warpline
