// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/bytes/quote.h"
#include "model/import/sniff/json_outline.h"
#include "model/import/sniff/kinds.h"

#include <algorithm>
#include <fmt/format.h>

namespace warpline {
namespace {

using Kind = JsonOutline::Kind;

/// What torch.profiler and Chrome write beside "traceEvents", before it or after. Only names that say so.
bool isTraceKey(std::string_view key) {
    static constexpr std::string_view kKeys[] = {
        "schemaVersion",  "deviceProperties",    "distributedInfo",       "displayTimeUnit",
        "traceName",      "baseTimeNanoseconds", "record_shapes",         "with_stack",
        "profile_memory", "with_flops",          "with_modules",          "cuda_runtime_version",
        "trace_id",       "systemTraceEvents",   "controllerTraceDataKey"};
    return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

/// What an event may begin with, before its "ph".
bool isEventKey(std::string_view key) {
    static constexpr std::string_view kKeys[] = {"name", "cat", "pid", "tid", "ts",   "dur",
                                                 "tts",  "id",  "s",   "bp",  "args", "attr"};
    return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

std::string listKeys(const std::vector<std::string_view>& keys) {
    constexpr std::size_t kShown = 5;
    std::string list = keys.size() == 1 ? "the key " : "the keys ";
    for (std::size_t i = 0; i < std::min(kShown, keys.size()); ++i)
        list += (i > 0 ? ", " : "") + inQuotes(keys[i], 40);
    if (keys.size() > kShown)
        list += " and others";
    return list;
}

constexpr std::string_view kWhatToOpen = "Open a trace that torch.profiler's export_chrome_trace wrote.";

/// Formats that a root object's keys name.
std::optional<Sniffed> knownObject(const JsonOutline& json, std::string_view head) {
    const auto text = [&](std::string_view key) {
        const JsonOutline::Member* member = json.find(key);
        return member != nullptr ? member->text : std::string_view();
    };
    if (text("$schema").find("speedscope") != std::string_view::npos)
        return isProfile("a speedscope profile");
    if (text("format") == "warpline flame tree")
        return isProfile("a flame tree that Warpline wrote");
    if (text("format") == "warpline session")
        return isOther(
            "This is a session that Warpline saved, not a trace: open it in the window, or open the "
            "files that it names.");
    if (json.has("rocprofiler-sdk-tool"))
        return notRead("the JSON output of AMD's rocprofv3");
    if (text("schema").find("chakra") != std::string_view::npos || (json.has("schema") && json.has("nodes")))
        return notRead(
            "a PyTorch execution trace (ExecutionTraceObserver), which has the ops and their inputs but "
            "no device time",
            kWhatToOpen);
    if ((json.has("segments") && (json.has("device_traces") || json.hasAt(2, "total_size"))) ||
        json.has("device_traces"))
        return isMemory(Sniffed::Format::MemoryJson, "a PyTorch memory snapshot (JSON)");
    if (json.has("nodes") && (json.has("timeDeltas") || json.has("samples") || json.hasAt(2, "callFrame")))
        return notRead("a CPU profile of Chrome or Node.js (.cpuprofile)");
    if (json.hasAt(1, "preprocessedProfileVersion") ||
        (json.has("meta") && (json.has("threads") || json.has("libs")) && json.hasAt(1, "interval")))
        return notRead("a profile of the Firefox Profiler (samply writes this format too)");
    if (json.hasAt(1, "node_fields") || json.hasAt(2, "node_fields"))
        return notRead("a heap snapshot of Chrome or Node.js");
    const bool spans = json.has("spans") || json.hasAt(2, "spans");
    if (spans && (json.has("projectId") || json.hasAt(2, "projectId")))
        return notRead("a Google Cloud trace (a list of spans of requests)", kWhatToOpen);
    if (json.has("resourceSpans") || (spans && json.hasAt(2, "traceID")))
        return notRead("a trace of requests between services (OpenTelemetry or Jaeger)", kWhatToOpen);
    if (head.find("\"nbformat\"") != std::string_view::npos && json.has("cells"))
        return notRead("a Jupyter notebook", kWhatToOpen);
    return std::nullopt;
}

/// Formats that a root array's elements name.
std::optional<Sniffed> knownArray(const JsonOutline& json) {
    if (json.hasAt(1, "spans") && (json.hasAt(1, "projectId") || json.hasAt(1, "traceId")))
        return notRead("a Google Cloud trace (a list of spans of requests)", kWhatToOpen);
    if (json.hasAt(1, "total_size") && json.hasAt(1, "blocks"))
        return isMemory(Sniffed::Format::MemoryJson, "a PyTorch memory snapshot (JSON)");
    if (json.hasAt(1, "children") || (json.hasAt(1, "frame") && json.hasAt(1, "metrics")))
        return isProfile("a call tree in Hatchet's JSON, as Triton's Proton profiler writes it");
    if (json.hasAt(2, "_name") && json.hasAt(2, "_start_us"))
        return notRead("a dump of profiler events as PyTorch's own tests keep them", kWhatToOpen);
    const std::vector<JsonOutline::Element>& e = json.elements;
    const auto numbers = [&](std::size_t i) {
        return i < e.size() && e[i].kind == Kind::Array && e[i].numbers;
    };
    // The raw form is a list of [time, action, size, category].
    if (numbers(0) && e[0].members == 4 && (e.size() < 2 || (numbers(1) && e[1].members == 4)))
        return notRead("PyTorch's raw memory timeline (export_memory_timeline)",
                       "Take a memory snapshot or a trace with profile_memory=True instead.");
    // The other one is a list of times and a list of sizes a category for each.
    if (numbers(0) && e[0].members > 0 &&
        (e.size() == 1 || (e.size() == 2 && e[1].kind == Kind::Array && !e[1].numbers)))
        return notRead("PyTorch's memory timeline (export_memory_timeline)",
                       "Take a memory snapshot or a trace with profile_memory=True instead.");
    return std::nullopt;
}

std::string_view plural(Kind kind) {
    switch (kind) {
    case Kind::Object:
        return "objects";
    case Kind::Array:
        return "arrays";
    case Kind::String:
        return "texts";
    case Kind::Number:
        return "numbers";
    case Kind::Word:
        break;
    }
    return "values";
}

std::optional<Sniffed> sniffArray(const JsonOutline& json, std::string_view head) {
    if (json.hasAt(1, "ph") || json.elements.empty())
        return isChromeTrace(); // "[]" and what was cut right after its start as well
    if (std::optional<Sniffed> known = knownArray(json))
        return known;
    if (hasTraceEvents(head))
        return isChromeTrace();
    const bool objects = std::any_of(json.elements.begin(), json.elements.end(),
                                     [](const JsonOutline::Element& e) { return e.kind == Kind::Object; });
    const std::vector<std::string_view>& keys = json.keys[1];
    if (objects && json.inFirst && std::all_of(keys.begin(), keys.end(), isEventKey))
        return isChromeTrace(); // cut in its first event
    if (objects && (keys.empty() || (json.hasAt(1, "ts") && json.hasAt(1, "name"))))
        return isChromeTrace(); // empty events, or events without a phase
    if (objects)
        return isOther(fmt::format("This is JSON, a list of objects with {}, but no trace: its objects have "
                                   "no \"ph\", the kind of event. {}",
                                   listKeys(keys), kWhatToOpen));
    return isOther(fmt::format("This is JSON, a list of {}, but no trace: a trace is a list of events. {}",
                               plural(json.elements.front().kind), kWhatToOpen));
}

std::optional<Sniffed> sniffObject(const JsonOutline& json, std::string_view head, bool whole) {
    if (json.has("traceEvents") || json.hasAt(0, "traceEvents") || json.has("ph"))
        return isChromeTrace();
    if (std::optional<Sniffed> known = knownObject(json, head))
        return known;
    const std::vector<std::string_view>& keys = json.keys[0];
    // After a whole object there is nothing to be found any more.
    const std::string_view rest = json.closed ? std::string_view() : head;
    if (hasTraceEvents(rest) || rest.find("\"traceEvents\"") != std::string_view::npos)
        return isChromeTrace();
    const bool header = std::any_of(keys.begin(), keys.end(), isTraceKey);
    if (!json.closed && (header || keys.empty()))
        return isChromeTrace();
    if (keys.empty())
        return isOther(
            fmt::format("This is an empty JSON object, {{}}, without a list of events. {}", kWhatToOpen));
    if (header)
        return isOther(
            fmt::format("This is the frame of a trace (with {}) without the list of events, \"traceEvents\". "
                        "Record it again.",
                        listKeys(keys)));
    if (head.find("\"traceEvents\"") != std::string_view::npos)
        return isOther(fmt::format("This is JSON with {}; it has \"traceEvents\", but not at its top. Take "
                                   "the object that holds them out into a file of its own and open that.",
                                   listKeys(keys)));
    Sniffed other = isOther(fmt::format("This is JSON, an object with {}, but no trace: there is no "
                                        "\"traceEvents\" at its top. {}",
                                        listKeys(keys), kWhatToOpen));
    if (!json.closed && !whole)
        other.format = Sniffed::Format::Undecided;
    return other;
}

} // namespace

bool hasTraceEvents(std::string_view text) {
    constexpr std::string_view kPhase = "\"ph\"";
    const auto skipSpace = [&](std::size_t at) {
        while (at < text.size() &&
               (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t'))
            ++at;
        return at;
    };
    for (std::size_t at = text.find(kPhase); at != std::string_view::npos; at = text.find(kPhase, at + 1)) {
        std::size_t next = skipSpace(at + kPhase.size());
        if (next >= text.size() || text[next] != ':')
            continue;
        next = skipSpace(next + 1);
        const std::string_view value = text.substr(next, 3);
        if (value.size() == 3 && value[0] == '"' && value[2] == '"' &&
            ((value[1] | 0x20) >= 'a' && (value[1] | 0x20) <= 'z'))
            return true;
    }
    return false;
}

std::optional<Sniffed> sniffJson(std::string_view head, bool whole) {
    const JsonOutline json = outlineOf(head);
    return json.array ? sniffArray(json, head) : sniffObject(json, head, whole);
}

} // namespace warpline
