// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/snapshot/machine.h"

#include <algorithm>

namespace warpline::snapshot {

void Machine::appendTo(Value list, const Value* values, std::size_t count) {
    Object* to = object(list);
    if (to == nullptr) {
        odd();
        return;
    }
    if (count > 0 && to->what == What::NewList && !startList(*to, values[0])) {
        to->what = What::List;
        to->number = static_cast<std::uint32_t>(m_generic.size());
        m_generic.emplace_back();
        m_held += 48;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if ((i & 255) == 255 && overBudget()) {
            m_gaveUp = true;
            return;
        }
        appendOne(*to, values[i]);
    }
}

/// Makes an empty list one of records like `first`; false where that is no record.
bool Machine::startList(Object& list, Value first) {
    const Object* item = object(first);
    if (item == nullptr)
        return false;
    const auto become = [&](What what, auto& lists) {
        list.what = what;
        list.number = static_cast<std::uint32_t>(lists.size());
        lists.emplace_back();
        m_held += 64;
        return true;
    };
    switch (item->what) {
    case What::Frame:
        return become(What::Frames, m_frameLists);
    case What::Event:
    case What::EventRow:
        m_held += 400;
        return become(What::Events, m_eventLists);
    case What::Block:
        return become(What::Blocks, m_blockLists);
    case What::Segment:
        return become(What::Segments, m_segmentLists);
    case What::Annotation:
        return become(What::Annotations, m_annotationLists);
    case What::Past:
        return become(What::Pasts, m_pastLists);
    default:
        return false;
    }
}

void Machine::appendOne(Object& list, Value value) {
    if (list.what == What::List) {
        m_generic[list.number].push_back(value);
        m_held += 16;
        return;
    }
    Object* item = object(value);
    const What what = item != nullptr ? item->what : What::Gone;
    switch (list.what) {
    case What::Frames:
        if (what != What::Frame)
            return odd();
        m_frameLists[list.number].push_back(FrameId{item->number});
        m_held += 8;
        return;
    case What::Events: {
        MemoryDeviceBuilder& events = m_eventLists[list.number];
        if (what == What::EventRow) {
            // One dictionary in two places: two events.
            events.addEvent(m_eventLists[item->list].event(item->number));
        } else if (what == What::Event) {
            events.addEvent(m_events.items[item->number]);
            m_events.drop(item->number);
            m_held -= std::min<std::uint64_t>(m_held, 160);
            const bool named = list.number < kMostEventLists;
            *item = {named ? What::EventRow : What::Gone, named ? list.number : 0,
                     static_cast<std::uint32_t>(events.eventCount() - 1)};
        } else {
            return odd();
        }
        ++m_rows;
        return;
    }
    case What::Blocks:
        if (what != What::Block)
            return odd();
        m_blockLists[list.number].push_back(m_blocks.give(item->number));
        break;
    case What::Segments:
        if (what != What::Segment)
            return odd();
        m_segmentLists[list.number].push_back(m_segments.give(item->number));
        break;
    case What::Annotations:
        if (what != What::Annotation)
            return odd();
        m_annotationLists[list.number].push_back(m_annotations.give(item->number));
        break;
    case What::Pasts:
        if (what != What::Past)
            return odd();
        m_pastLists[list.number].push_back(m_pasts.give(item->number));
        break;
    default:
        return odd(); // a stack that was used already, or no list at all
    }
    m_held += 128;
    item->what = What::Gone;
}

void Machine::setItemsOf(Value dict, const Value* pairs, std::size_t count) {
    Object* to = object(dict);
    if (to == nullptr) {
        odd();
        return;
    }
    if (to->what == What::NewDict) {
        if (classify(*to, pairs, count))
            return;
        to->what = What::Dict;
        to->number = static_cast<std::uint32_t>(m_generic.size());
        m_generic.emplace_back(pairs, pairs + count);
        m_held += 48 + count * 8;
        return;
    }
    if (to->what == What::Dict) {
        std::vector<Value> items = std::move(m_generic[to->number]);
        items.insert(items.end(), pairs, pairs + count);
        m_held += count * 16;
        if (!classify(*to, items.data(), items.size()))
            m_generic[to->number] = std::move(items);
        return;
    }
    for (std::size_t i = 0; i + 1 < count; i += 2) {
        if (pairs[i].kind() == Value::Kind::Text)
            apply(*to, keyOf(StringId{static_cast<std::uint32_t>(pairs[i].payload())}), pairs[i + 1]);
    }
}

/// Most events have the keys of the one before them, in its order.
bool Machine::likeLastEvent(const Value* pairs, std::size_t count) const {
    if (count == 0 || count != m_eventKeyCount * 2)
        return false;
    for (std::size_t i = 0; i < m_eventKeyCount; ++i)
        if (!(pairs[i * 2] == m_eventKeys[i]))
            return false;
    return true;
}

/// Makes a record of a dictionary whose keys say what it is; false where they do not.
bool Machine::classify(Object& dict, const Value* pairs, std::size_t count) {
    std::uint64_t keys = 0;
    static_assert(static_cast<std::uint32_t>(Key::Count) <= 64);
    const auto each = [&](auto&& f) {
        for (std::size_t i = 0; i + 1 < count; i += 2)
            if (pairs[i].kind() == Value::Kind::Text)
                f(keyOf(StringId{static_cast<std::uint32_t>(pairs[i].payload())}), pairs[i + 1]);
    };
    if (likeLastEvent(pairs, count))
        keys = std::uint64_t{1} << static_cast<unsigned>(Key::Action);
    else
        each([&](Key key, Value) { keys |= std::uint64_t{1} << static_cast<unsigned>(key); });
    const auto has = [&](Key key) { return (keys >> static_cast<unsigned>(key) & 1) != 0; };

    Object record{What::Gone, 0, 0};
    if (has(Key::Action))
        record = {What::Event, 0, m_events.take()};
    else if (has(Key::TotalSize))
        record = {What::Segment, 0, m_segments.take()};
    else if (has(Key::State) && has(Key::Size))
        record = {What::Block, 0, m_blocks.take()};
    else if (has(Key::Stage))
        record = {What::Annotation, 0, m_annotations.take()};
    else if (has(Key::RealSize))
        record = {What::Past, 0, m_pasts.take()};
    else if (!has(Key::Filename) && !(has(Key::Name) && has(Key::Line)))
        return false;

    if (record.what == What::Gone) {
        FrameParts parts;
        each([&](Key key, Value value) { applyFrame(parts, key, value); });
        record = {What::Frame, 0, internFrame(parts).value};
    } else if (record.what == What::Event) {
        m_held += 160;
        m_eventKeyCount = count / 2 <= m_eventKeys.size() ? count / 2 : 0;
        for (std::size_t i = 0; i < m_eventKeyCount; ++i)
            m_eventKeys[i] = pairs[i * 2];
        RawMemoryEvent& event = m_events.items[record.number];
        each([&](Key key, Value value) { applyEvent(event, key, value); });
    } else {
        m_held += 160;
        each([&](Key key, Value value) { apply(record, key, value); });
    }
    dict = record;
    return true;
}

void Machine::apply(Object& record, Key key, Value value) {
    switch (record.what) {
    case What::Event:
        return applyEvent(m_events.items[record.number], key, value);
    case What::Segment:
        return applySegment(m_segments.items[record.number], key, value);
    case What::Block:
        return applyBlock(m_blocks.items[record.number], key, value);
    case What::Annotation:
        return applyAnnotation(m_annotations.items[record.number], key, value);
    case What::Past:
        return applyPast(m_pasts.items[record.number], key, value);
    case What::Frame: {
        FrameParts parts;
        parts.frame = m_sink.stacks().frame(FrameId{record.number});
        parts.node = parts.frame.fx;
        applyFrame(parts, key, value);
        record.number = internFrame(parts).value;
        return;
    }
    default:
        return odd(); // items for what was put in its place already, or for no dictionary
    }
}

void Machine::applyEvent(RawMemoryEvent& event, Key key, Value value) {
    switch (key) {
    case Key::Action: {
        if (value.kind() != Value::Kind::Text)
            return odd();
        const StringId id{static_cast<std::uint32_t>(value.payload())};
        for (const auto& [name, action] : m_actions) {
            if (name == id) {
                event.action = action;
                return;
            }
        }
        event.action = actionNamed(textOf(value));
        if (m_actions.size() < 32)
            m_actions.emplace_back(id, event.action);
        return;
    }
    case Key::Addr:
    case Key::Address:
        event.address = static_cast<std::uint64_t>(integer(value)); // C++ writes them as negative numbers
        return;
    case Key::DeviceFree:
        event.deviceFree = integer(value);
        return;
    case Key::Size:
        event.size = integer(value);
        return;
    case Key::Stream:
        event.stream = integer(value);
        return;
    case Key::TimeUs:
        if (const auto us = maybeInteger(value))
            event.time = fromMicroseconds(*us);
        return;
    case Key::Frames:
        event.stack = stackOf(value);
        return;
    case Key::ForwardFrames:
        event.forwardStack = stackOf(value);
        return;
    case Key::CompileContext:
        if (const StringId id = describe(value); id && m_sink.strings().view(id) != "N/A")
            event.compileContext = id;
        return;
    case Key::UserMetadata:
        event.userMetadata = describe(value);
        return;
    case Key::PoolId:
    case Key::SegmentPoolId:
        event.pool = poolOf(value);
        return;
    case Key::Category:
        event.category = categoryNamed(textOf(value));
        return;
    default:
        return;
    }
}

void Machine::applyFrame(FrameParts& parts, Key key, Value value) {
    switch (key) {
    case Key::Filename:
        parts.frame.file = describe(value);
        return;
    case Key::Name:
        parts.frame.name = describe(value);
        return;
    case Key::Line:
        parts.frame.line = integer(value);
        return;
    case Key::FxNodeOp:
        parts.op = describe(value);
        return;
    case Key::FxNodeName:
        parts.node = describe(value);
        return;
    case Key::FxNodeTarget:
        parts.target = describe(value);
        return;
    default:
        return;
    }
}

FrameId Machine::internFrame(const FrameParts& parts) {
    MemoryFrame frame = parts.frame;
    if (parts.op || parts.target) {
        std::string text;
        for (const StringId id : {parts.op, parts.target, parts.node})
            if (id)
                text.append(text.empty() ? "" : " ").append(m_sink.strings().view(id));
        frame.fx = m_sink.text(text);
    } else {
        frame.fx = parts.node;
    }
    return m_sink.stacks().addFrame(frame);
}

void Machine::applyBlock(RawMemoryBlock& block, Key key, Value value) {
    switch (key) {
    case Key::Address:
    case Key::Addr:
        block.address = static_cast<std::uint64_t>(integer(value));
        return;
    case Key::Size:
        block.size = integer(value);
        return;
    case Key::RequestedSize:
        block.requested = std::max<std::int64_t>(integer(value), 0);
        return;
    case Key::State: {
        const std::string_view state = textOf(value);
        block.active = state.starts_with("active");
        block.pending = block.active && state != "active_allocated";
        return;
    }
    case Key::Frames:
        if (const StackId stack = stackOf(value))
            block.stack = stack;
        return;
    case Key::History: {
        const Object* list = object(value);
        if (list == nullptr || list->what != What::Pasts || m_pastLists[list->number].empty())
            return;
        const Past& past = m_pastLists[list->number].front();
        if (block.requested < 0 && past.size >= 0)
            block.requested = past.size;
        if (!block.stack)
            block.stack = past.stack;
        return;
    }
    default:
        return;
    }
}

void Machine::applySegment(RawMemorySegment& segment, Key key, Value value) {
    switch (key) {
    case Key::Device:
        segment.device = integer(value);
        return;
    case Key::Address:
        segment.address = static_cast<std::uint64_t>(integer(value));
        return;
    case Key::TotalSize:
        segment.size = integer(value);
        return;
    case Key::AllocatedSize:
        segment.allocated = integer(value);
        return;
    case Key::ActiveSize:
        segment.active = integer(value);
        return;
    case Key::RequestedSize:
        segment.requested = std::max<std::int64_t>(integer(value), 0);
        return;
    case Key::Stream:
        segment.stream = integer(value);
        return;
    case Key::SegmentType:
        segment.flags |= SegmentFlag::KindKnown;
        if (textOf(value) == "small")
            segment.flags |= SegmentFlag::Small;
        return;
    case Key::IsExpandable:
        if (truth(value))
            segment.flags |= SegmentFlag::Expandable;
        return;
    case Key::SegmentPoolId:
    case Key::PoolId:
        segment.pool = poolOf(value);
        return;
    case Key::Frames:
        segment.stack = stackOf(value);
        return;
    case Key::Blocks: {
        Object* list = object(value);
        if (list == nullptr)
            return odd();
        if (list->what == What::Blocks) {
            segment.blocks = std::move(m_blockLists[list->number]);
            list->what = What::Gone;
        } else if (list->what != What::NewList) {
            odd();
        }
        return;
    }
    default:
        return;
    }
}

void Machine::applyAnnotation(AnnotationMark& mark, Key key, Value value) {
    switch (key) {
    case Key::Name:
        mark.name = describe(value);
        return;
    case Key::Stage:
        mark.end = textOf(value) == "END";
        return;
    case Key::Device:
        mark.device = integer(value);
        return;
    case Key::TimeUs:
        if (const auto us = maybeInteger(value))
            mark.time = fromMicroseconds(*us);
        return;
    default:
        return;
    }
}

void Machine::applyPast(Past& past, Key key, Value value) {
    if (key == Key::RealSize)
        past.size = std::max<std::int64_t>(integer(value), 0);
    else if (key == Key::Frames)
        past.stack = stackOf(value);
}

} // namespace warpline::snapshot
