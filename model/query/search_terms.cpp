// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/query/search_terms.h"

#include "model/query/search.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace warpline {

namespace {

bool isSpace(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

/// Reads digits with at most one point; gives how many characters it took, 0 where that is no number or too
/// long a one.
std::size_t readDecimal(std::string_view text, std::uint64_t& mantissa, int& decimals) {
    mantissa = 0;
    decimals = 0;
    bool point = false;
    bool any = false;
    std::size_t i = 0;
    for (; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '.' && !point) {
            point = true;
        } else if (isDigit(c)) {
            const auto digit = static_cast<std::uint64_t>(c - '0');
            if (mantissa > (std::numeric_limits<std::uint64_t>::max() - digit) / 10)
                return 0;
            mantissa = mantissa * 10 + digit;
            decimals += point ? 1 : 0;
            any = true;
        } else {
            break;
        }
    }
    return any ? i : 0;
}

std::optional<std::uint64_t> readHex(std::string_view text) {
    if (text.size() < 3 || text.size() > 18 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
        return std::nullopt;
    std::uint64_t v = 0;
    for (const char c : text.substr(2)) {
        const int d = isDigit(c)             ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
        if (d < 0)
            return std::nullopt;
        v = v << 4 | static_cast<std::uint64_t>(d);
    }
    return v;
}

struct TimeUnit {
    std::string_view name;
    std::int64_t ns;
};
constexpr TimeUnit kTimeUnits[] = {
    {"", 1},       {"ns", 1},         {"us", 1'000},        {"µs", 1'000},
    {"μs", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}, {"min", 60'000'000'000}};

const TimeUnit* timeUnit(std::string_view name) {
    for (const TimeUnit& u : kTimeUnits) {
        if (u.name == name)
            return &u;
    }
    return nullptr;
}

/// What a person types, read from left to right.
class Parser {
  public:
    Parser(std::string_view text, const std::function<bool(const std::string&)>& isKey)
        : m_text(text), m_isKey(isKey) {}

    Result<std::vector<SearchTerm>> parse() {
        while (skipSpaces()) {
            Result<Done> r = readTerm();
            if (!r.ok())
                return r.error();
        }
        return std::move(m_terms);
    }

  private:
    bool skipSpaces() {
        while (m_at < m_text.size() && isSpace(m_text[m_at]))
            ++m_at;
        return m_at < m_text.size();
    }

    Result<Done> readTerm() {
        if (m_text[m_at] == '/') {
            if (const std::size_t end = regexEnd(); end != std::string_view::npos) {
                const std::string_view expression = m_text.substr(m_at + 1, end - m_at - 1);
                m_at = end + 1;
                return addRegex(expression);
            }
        }
        const std::size_t begin = m_at;
        if (m_text[m_at] == '"') {
            const std::string_view phrase = readQuoted();
            if (m_at < m_text.size() && isOperator(m_text[m_at]) && m_isKey(foldKey(phrase)))
                return readArgument(phrase);
            addName(phrase);
            return Done{};
        }
        // The word up to the first operator may be a key.
        while (m_at < m_text.size() && !isSpace(m_text[m_at]) && !isOperator(m_text[m_at]))
            ++m_at;
        const std::string_view head = m_text.substr(begin, m_at - begin);
        const std::string key = foldKey(head);
        const std::size_t afterHead = m_at;
        if (key == "dur" || key == "duration") {
            skipSpaces();
            if (m_at < m_text.size() && isOperator(m_text[m_at]))
                return readDuration();
            m_at = afterHead;
        }
        if (m_at < m_text.size() && isOperator(m_text[m_at])) {
            const bool doubleColon = m_text.substr(m_at).starts_with("::");
            if (key == "cat" && !doubleColon && (m_text[m_at] == ':' || m_text[m_at] == '='))
                return readCategory();
            if (key == "name" && m_text[m_at] == ':' && !doubleColon && !m_isKey(key)) {
                ++m_at;
                addName(readValue());
                return Done{};
            }
            if (!key.empty() && !doubleColon && m_isKey(key))
                return readArgument(head);
        }
        while (m_at < m_text.size() && !isSpace(m_text[m_at]))
            ++m_at;
        addWord(m_text.substr(begin, m_at - begin));
        return Done{};
    }

    static bool isOperator(char c) { return c == '=' || c == ':' || c == '<' || c == '>'; }

    /// The slash that ends the expression beginning here: one before a space or the end, not escaped. Paths
    /// such as /usr/lib have none and stay words.
    [[nodiscard]] std::size_t regexEnd() const {
        for (std::size_t i = m_at + 1; i < m_text.size(); ++i) {
            if (m_text[i] == '\\') {
                ++i;
                continue;
            }
            if (m_text[i] == '/' && i > m_at + 1 && (i + 1 == m_text.size() || isSpace(m_text[i + 1])))
                return i;
        }
        return std::string_view::npos;
    }

    /// A quoted phrase; one that is not closed reaches to the end, as it does while it is being typed.
    std::string_view readQuoted() {
        const std::size_t begin = ++m_at;
        const std::size_t end = std::min(m_text.find('"', begin), m_text.size());
        m_at = std::min(end + 1, m_text.size());
        return m_text.substr(begin, end - begin);
    }

    /// The value after an operator: quoted, or up to the next space outside of brackets.
    std::string_view readValue() {
        if (m_at < m_text.size() && m_text[m_at] == '"')
            return readQuoted();
        const std::size_t begin = m_at;
        int open = 0;
        for (; m_at < m_text.size(); ++m_at) {
            const char c = m_text[m_at];
            if (isSpace(c) && open <= 0)
                break;
            open += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
        }
        return m_text.substr(begin, m_at - begin);
    }

    Comparison readComparison() {
        const char c = m_text[m_at++];
        const bool orEqual = m_at < m_text.size() && m_text[m_at] == '=' && c != ':';
        if (orEqual)
            ++m_at; // "==" is "="
        if (c == '<')
            return orEqual ? Comparison::LessOrEqual : Comparison::Less;
        if (c == '>')
            return orEqual ? Comparison::GreaterOrEqual : Comparison::Greater;
        return Comparison::Equal;
    }

    Result<Done> readDuration() {
        const std::size_t signAt = m_at;
        SearchTerm term;
        term.kind = SearchTerm::Kind::Duration;
        term.comparison = readComparison();
        const std::string_view sign = m_text.substr(signAt, m_at - signAt);
        skipSpaces();
        std::string_view value = readValue();
        // "1.5 ms": the unit may stand apart.
        const std::size_t afterValue = m_at;
        if (!value.empty() && isDigit(value.back()) && skipSpaces()) {
            const std::size_t begin = m_at;
            const std::string_view unit = readValue();
            if (!unit.empty() && timeUnit(unit) != nullptr)
                value = m_text.substr(static_cast<std::size_t>(value.data() - m_text.data()),
                                      begin + unit.size() -
                                          static_cast<std::size_t>(value.data() - m_text.data()));
            else
                m_at = afterValue;
        } else {
            m_at = afterValue;
        }
        if (!parseDuration(value, term.duration))
            return Error::failed(
                value.empty() ? fmt::format("A duration is missing after \"dur{}\": write it like dur{}1ms.",
                                            sign, sign)
                              : fmt::format("\"{}\" is no duration: write it like dur{}250us.", value, sign));
        m_terms.push_back(std::move(term));
        return Done{};
    }

    Result<Done> readCategory() {
        ++m_at;
        const std::string_view value = readValue();
        if (value.empty())
            return Error::failed("A category is missing after \"cat:\": write it like cat:kernel.");
        SearchTerm term;
        term.kind = SearchTerm::Kind::Category;
        term.text = foldCase(value);
        term.pattern = TextPattern::containing(value);
        m_terms.push_back(std::move(term));
        return Done{};
    }

    Result<Done> readArgument(std::string_view key) {
        SearchTerm term;
        term.kind = SearchTerm::Kind::Argument;
        term.key = foldKey(key);
        term.contains = m_text[m_at] == ':';
        term.comparison = readComparison();
        const std::string_view value = readValue();
        term.text = foldCase(value);
        term.number = ExactNumber::parse(value);
        if (term.comparison != Comparison::Equal && !term.number)
            return Error::failed(fmt::format("\"{}\" is no number to compare {} with.", value, key));
        if (term.contains)
            term.pattern = TextPattern::containing(value);
        m_terms.push_back(std::move(term));
        return Done{};
    }

    /// The number of a word that looks like an address: in hexadecimal, or a long decimal one.
    static std::optional<std::uint64_t> addressOf(std::string_view word) {
        constexpr std::size_t kShortestHex = 6;
        constexpr std::size_t kShortestDecimal = 9;
        if (word.size() >= kShortestHex && word.starts_with('0') && !isDigit(word[1]))
            return readHex(word);
        std::uint64_t number = 0;
        int decimals = 0;
        if (word.size() < kShortestDecimal || readDecimal(word, number, decimals) != word.size() ||
            word.back() == '.' || decimals != 0)
            return std::nullopt;
        return number;
    }

    void addWord(std::string_view word) {
        const std::optional<std::uint64_t> address = addressOf(word);
        if (!address) {
            addName(word);
            return;
        }
        SearchTerm term;
        term.kind = SearchTerm::Kind::Address;
        term.text = foldCase(word);
        term.pattern = TextPattern::containing(word);
        term.number = ExactNumber{false, *address, 0};
        m_terms.push_back(std::move(term));
    }

    void addName(std::string_view text) {
        if (text.empty())
            return;
        SearchTerm term;
        term.text = foldCase(text);
        term.pattern = TextPattern::containing(text);
        m_terms.push_back(std::move(term));
    }

    Result<Done> addRegex(std::string_view expression) {
        Result<TextPattern> pattern = TextPattern::regex(expression);
        if (!pattern.ok())
            return pattern.error();
        SearchTerm term;
        term.text = std::string(expression);
        term.pattern = std::move(pattern).value();
        m_terms.push_back(std::move(term));
        return Done{};
    }

    std::string_view m_text;
    const std::function<bool(const std::string&)>& m_isKey;
    std::size_t m_at = 0;
    std::vector<SearchTerm> m_terms;
};

} // namespace

bool parseDuration(std::string_view text, TimeNs& out) {
    while (!text.empty() && isSpace(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && isSpace(text.back()))
        text.remove_suffix(1);
    std::uint64_t mantissa = 0;
    int decimals = 0;
    const std::size_t digits = readDecimal(text, mantissa, decimals);
    if (digits == 0)
        return false;
    std::string_view unit = text.substr(digits);
    while (!unit.empty() && isSpace(unit.front()))
        unit.remove_prefix(1);
    const TimeUnit* u = timeUnit(unit);
    if (u == nullptr)
        return false;
    __extension__ using Wide = unsigned __int128;
    Wide ns = Wide{mantissa} * static_cast<std::uint64_t>(u->ns);
    for (; decimals > 0; --decimals)
        ns = decimals == 1 ? (ns + 5) / 10 : ns / 10;
    if (ns > static_cast<std::uint64_t>(std::numeric_limits<TimeNs>::max()))
        return false;
    out = static_cast<TimeNs>(ns);
    return true;
}

std::string foldKey(std::string_view key) {
    std::string out = foldCase(key);
    for (char& c : out) {
        if (c == '_')
            c = ' ';
    }
    return out;
}

std::optional<ExactNumber> ExactNumber::parse(std::string_view text) {
    ExactNumber n;
    if (text.starts_with('-')) {
        n.negative = true;
        text.remove_prefix(1);
    }
    if (const std::optional<std::uint64_t> hex = readHex(text)) {
        n.mantissa = *hex;
        return n;
    }
    const std::size_t digits = readDecimal(text, n.mantissa, n.decimals);
    if (digits == 0)
        return std::nullopt;
    const std::string unit = foldCase(text.substr(digits));
    const int bits = unit.empty() ? 0 : unit == "kib" ? 10 : unit == "mib" ? 20 : unit == "gib" ? 30 : -1;
    if (bits < 0 || (n.mantissa << bits) >> bits != n.mantissa)
        return std::nullopt;
    n.mantissa <<= bits;
    return n;
}

ExactNumber ExactNumber::of(const Arg& arg) {
    if (arg.kind == ArgKind::UInt)
        return {false, static_cast<std::uint64_t>(arg.integer), 0};
    const bool negative = arg.integer < 0;
    const auto bits = static_cast<std::uint64_t>(arg.integer);
    return {negative, negative ? 0 - bits : bits, arg.kind == ArgKind::Decimal ? arg.decimals : 0};
}

bool ExactNumber::operator==(const ExactNumber& o) const {
    // 1.50 is 1.5: take zeros off the longer one until both have as many decimals.
    std::uint64_t a = mantissa;
    std::uint64_t b = o.mantissa;
    for (int i = decimals; i > o.decimals; --i, a /= 10) {
        if (a % 10 != 0)
            return false;
    }
    for (int i = o.decimals; i > decimals; --i, b /= 10) {
        if (b % 10 != 0)
            return false;
    }
    return a == b && (a == 0 || negative == o.negative);
}

long double ExactNumber::value() const {
    const long double v = static_cast<long double>(mantissa) / std::pow(10.0L, decimals);
    return negative ? -v : v;
}

Result<std::vector<SearchTerm>> parseSearch(std::string_view text,
                                            const std::function<bool(const std::string&)>& isKey) {
    return Parser(text, isKey).parse();
}

} // namespace warpline
