// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/base/json_writer.h"
#include "model/import/snapshot/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace warpline::snapshot {

namespace {

/// As much of a setting or of a user's own data as is kept.
constexpr std::size_t kMostPrinted = 4096;
constexpr int kPrintDepth = 4;

} // namespace

std::optional<std::int64_t> Machine::maybeInteger(Value value) const {
    switch (value.kind()) {
    case Value::Kind::Int:
        return inlineInteger(value);
    case Value::Kind::BigInt:
        return static_cast<std::int64_t>(m_ints[value.payload()]);
    case Value::Kind::False:
        return 0;
    case Value::Kind::True:
        return 1;
    case Value::Kind::Float: {
        const double number = m_floats[value.payload()];
        if (std::isfinite(number) && std::abs(number) < 9e18)
            return static_cast<std::int64_t>(number);
        return std::nullopt;
    }
    case Value::Kind::Text: {
        // SQLite tables and JSON written by hand have numbers as texts.
        const std::string_view text = textOf(value);
        std::int64_t number = 0;
        const auto r = std::from_chars(text.data(), text.data() + text.size(), number);
        if (r.ec == std::errc() && r.ptr == text.data() + text.size() && !text.empty())
            return number;
        return std::nullopt;
    }
    default:
        return std::nullopt;
    }
}

std::int64_t Machine::oddInteger(Value value) {
    if (const auto number = maybeInteger(value))
        return *number;
    if (value.kind() != Value::Kind::None)
        odd();
    return 0;
}

std::string_view Machine::textOf(Value value) const {
    if (value.kind() != Value::Kind::Text)
        return {};
    return m_sink.strings().view(StringId{static_cast<std::uint32_t>(value.payload())});
}

bool Machine::truth(Value value) const {
    if (value.kind() == Value::Kind::Text)
        return textOf(value) == "True" || textOf(value) == "true";
    return maybeInteger(value).value_or(0) != 0;
}

/// The stack that a list of frames, or of texts, is; made once a list.
StackId Machine::stackOf(Value value) {
    Object* list = object(value);
    if (list == nullptr) {
        if (value.kind() == Value::Kind::Text && value.payload() != 0) {
            MemoryFrame frame;
            frame.name = StringId{static_cast<std::uint32_t>(value.payload())};
            return textOf(value).empty() ? StackId{}
                                         : m_sink.stacks().addStack({}, m_sink.stacks().addFrame(frame));
        }
        if (value.kind() != Value::Kind::None && value.kind() != Value::Kind::Tuple0)
            odd();
        return {};
    }
    StackTree& stacks = m_sink.stacks();
    StackId stack;
    switch (list->what) {
    case What::NewList:
        return {};
    case What::Stack:
        return StackId{list->number};
    case What::Frames: {
        std::vector<FrameId>& frames = m_frameLists[list->number];
        // Innermost first in the file; the tree grows from the outermost.
        for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
            stack = stacks.addStack(stack, *frame);
        m_held += 24;
        frames = {};
        break;
    }
    case What::List:
    case What::Tuple: {
        const std::vector<Value>& items = m_generic[list->number];
        for (auto item = items.rbegin(); item != items.rend(); ++item) {
            if (const Object* frame = object(*item); frame != nullptr && frame->what == What::Frame) {
                stack = stacks.addStack(stack, FrameId{frame->number});
            } else if (item->kind() == Value::Kind::Text) {
                MemoryFrame named;
                named.name = StringId{static_cast<std::uint32_t>(item->payload())};
                stack = stacks.addStack(stack, stacks.addFrame(named));
            } else {
                odd();
            }
        }
        if (!stack)
            return {};
        break;
    }
    default:
        odd();
        return {};
    }
    list->what = What::Stack;
    list->number = stack.value;
    return stack;
}

std::optional<MemoryPool> Machine::poolOf(Value value) {
    const Object* pair = object(value);
    if (pair == nullptr || (pair->what != What::Tuple && pair->what != What::List))
        return std::nullopt;
    const std::vector<Value>& items = m_generic[pair->number];
    if (items.size() != 2)
        return std::nullopt;
    const auto owner = maybeInteger(items[0]);
    const auto id = maybeInteger(items[1]);
    if (!owner || !id)
        return std::nullopt;
    return MemoryPool{*owner, *id, true};
}

/// A value as a text: a text itself, anything else printed as JSON. None for none and for the empty text.
StringId Machine::describe(Value value) {
    if (value.kind() == Value::Kind::None)
        return {};
    if (value.kind() == Value::Kind::Text)
        return textOf(value).empty() ? StringId{} : StringId{static_cast<std::uint32_t>(value.payload())};
    std::string text;
    print(text, value, 0);
    return m_sink.text(text);
}

void Machine::print(std::string& out, Value value, int depth) {
    if (out.size() > kMostPrinted) {
        if (!out.ends_with("…"))
            out += "…";
        return;
    }
    switch (value.kind()) {
    case Value::Kind::Unset:
    case Value::Kind::None:
        out += "null";
        return;
    case Value::Kind::False:
        out += "false";
        return;
    case Value::Kind::True:
        out += "true";
        return;
    case Value::Kind::Int:
        out += fmt::format("{}", *maybeInteger(value));
        return;
    case Value::Kind::BigInt:
        out += fmt::format("{}", m_ints[value.payload()]);
        return;
    case Value::Kind::Float:
        out += fmt::format("{}", m_floats[value.payload()]);
        return;
    case Value::Kind::Text:
        if (depth == 0) {
            out += textOf(value);
        } else {
            out += '"';
            out += textOf(value).substr(0, kMostPrinted);
            out += '"';
        }
        return;
    case Value::Kind::Tuple0:
        out += "[]";
        return;
    case Value::Kind::Other:
        out += "?";
        return;
    case Value::Kind::Object:
        break;
    }
    const Object* known = object(value);
    if (known == nullptr)
        return;
    const Object& o = *known;
    const bool dict = o.what == What::Dict;
    if (!dict && o.what != What::List && o.what != What::Tuple) {
        out += o.what == What::NewDict ? "{}" : o.what == What::NewList ? "[]" : "?";
        return;
    }
    if (depth >= kPrintDepth) {
        out += "…";
        return;
    }
    const std::vector<Value>& items = m_generic[o.number];
    out += dict ? '{' : '[';
    for (std::size_t i = 0; i < items.size() && out.size() <= kMostPrinted; ++i) {
        if (i > 0)
            out += dict && i % 2 == 1 ? ": " : ", ";
        print(out, items[i], depth + 1);
    }
    out += dict ? '}' : ']';
}

void Machine::takeSegments(Value value, bool host) {
    Object* list = object(value);
    if (list == nullptr || (list->what != What::Segments && list->what != What::NewList)) {
        if (value.kind() != Value::Kind::None && value.kind() != Value::Kind::Tuple0)
            odd();
        return;
    }
    m_tookAnything = true;
    if (list->what == What::NewList)
        return;
    m_sink.addSegments(std::move(m_segmentLists[list->number]), host);
    m_segmentLists[list->number] = {};
    list->what = What::Gone;
}

void Machine::takeTraces(Value value, bool host) {
    const auto take = [&](Object& list, std::int64_t device) {
        if (list.what == What::Events) {
            m_sink.setEvents(device, host, std::move(m_eventLists[list.number]));
            list.what = What::Gone;
        } else if (list.what != What::NewList) {
            odd();
        }
    };
    Object* list = object(value);
    if (list == nullptr) {
        if (value.kind() != Value::Kind::None && value.kind() != Value::Kind::Tuple0)
            odd();
        return;
    }
    m_tookAnything = true;
    m_sink.sawHistory = true;
    if (list->what != What::List && list->what != What::Tuple) {
        take(*list, 0);
        return;
    }
    const std::vector<Value>& devices = m_generic[list->number];
    for (std::size_t i = 0; i < devices.size() && i < 4096; ++i) {
        if (Object* events = object(devices[i]))
            take(*events, host ? 0 : static_cast<std::int64_t>(i));
        else if (devices[i].kind() != Value::Kind::None && devices[i].kind() != Value::Kind::Tuple0)
            odd();
    }
}

void Machine::takeSettings(Value value) {
    const Object* dict = object(value);
    if (dict == nullptr || dict->what != What::Dict)
        return;
    const std::vector<Value>& items = m_generic[dict->number];
    for (std::size_t i = 0; i + 1 < items.size() && i < 512; i += 2) {
        std::string text;
        print(text, items[i + 1], 0);
        std::string name;
        print(name, items[i], 0);
        const Key key = items[i].kind() == Value::Kind::Text
                            ? keyOf(StringId{static_cast<std::uint32_t>(items[i].payload())})
                            : Key::None;
        if (key == Key::TraceAllocOverflowed)
            m_sink.overflowed = truth(items[i + 1]);
        else if (key == Key::TraceAllocMaxEntries)
            m_sink.maxEntries = maybeInteger(items[i + 1]).value_or(-1);
        else if (const Object* parts = object(items[i + 1]);
                 key == Key::RoundupPower2Divisions && parts != nullptr && parts->what == What::Dict) {
            const std::vector<Value>& of = m_generic[parts->number];
            for (std::size_t k = 0; k + 1 < of.size() && k < 64; k += 2) {
                const std::int64_t mebibytes = maybeInteger(of[k]).value_or(0);
                const std::int64_t divisions = maybeInteger(of[k + 1]).value_or(0);
                for (std::size_t bit = 0; bit < 16; ++bit)
                    if (mebibytes == std::int64_t{1} << bit && divisions >= 0 && divisions <= 1 << 20)
                        m_sink.rounding().divisions[bit] = static_cast<std::uint32_t>(divisions);
            }
        }
        m_sink.addSetting(std::move(name), std::move(text));
    }
}

void Machine::takeTop(Value key, Value value) {
    const Key known = key.kind() == Value::Kind::Text
                          ? keyOf(StringId{static_cast<std::uint32_t>(key.payload())})
                          : Key::None;
    switch (known) {
    case Key::Segments:
        return takeSegments(value, false);
    case Key::HostSegments:
        return takeSegments(value, true);
    case Key::DeviceTraces:
        return takeTraces(value, false);
    case Key::HostTraces:
        return takeTraces(value, true);
    case Key::AllocatorSettings:
        return takeSettings(value);
    case Key::ExternalAnnotations: {
        Object* list = object(value);
        if (list == nullptr || list->what != What::Annotations)
            return;
        for (const AnnotationMark& mark : m_annotationLists[list->number])
            m_sink.addAnnotation(mark);
        list->what = What::Gone;
        return;
    }
    default: {
        std::string name;
        print(name, key, 0);
        if (m_sink.unknownKeys.size() < 16)
            m_sink.unknownKeys.push_back(name.substr(0, 60));
    }
    }
}

bool Machine::takeDocument(Value value) {
    Object* top = object(value);
    if (top != nullptr && top->what == What::Segments) {
        takeSegments(value, false); // the oldest form: a bare list of segments
        return true;
    }
    if (top != nullptr && top->what == What::Dict) {
        const std::vector<Value> items = m_generic[top->number];
        for (std::size_t i = 0; i + 1 < items.size(); i += 2)
            takeTop(items[i], items[i + 1]);
    }
    if (!m_tookAnything)
        return fail("it holds neither segments nor device_traces");
    return true;
}

} // namespace warpline::snapshot
