// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/options.h"

#include "model/query/search.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QRegularExpression>

#include <algorithm>

namespace warpline {
namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("Options", text);
}

std::optional<RangeOption::Moment> parseMoment(const QString& text) {
    const QString trimmed = text.trimmed();
    bool plain = false;
    const qlonglong value = trimmed.toLongLong(&plain);
    if (plain)
        return RangeOption::Moment{false, value};
    RangeOption::Moment moment{true, 0};
    if (!parseDuration(trimmed.toStdString(), moment.value))
        return std::nullopt;
    return moment;
}

TimeNs addClamped(TimeNs a, TimeNs b) {
    TimeNs sum = 0;
    if (__builtin_add_overflow(a, b, &sum))
        return b < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

ParsedOptions wrong(const QString& sentence) {
    return {std::nullopt, sentence + QStringLiteral("\n") + tr("Try: warpline --help") + QStringLiteral("\n"),
            2};
}

} // namespace

std::optional<RangeOption> RangeOption::parse(const QString& text) {
    const qsizetype colon = text.indexOf(u':');
    if (colon < 0 || text.size() == 1)
        return std::nullopt;
    RangeOption range;
    const QString from = text.left(colon);
    const QString to = text.mid(colon + 1);
    if (!from.isEmpty() && !(range.begin = parseMoment(from)))
        return std::nullopt;
    if (!to.isEmpty() && !(range.end = parseMoment(to)))
        return std::nullopt;
    if (range.begin && range.end && range.begin->relative == range.end->relative &&
        range.begin->value >= range.end->value)
        return std::nullopt;
    return range;
}

TimeRange RangeOption::in(TimeRange extent) const {
    const auto resolve = [&](const std::optional<Moment>& moment, TimeNs open) {
        if (!moment)
            return open;
        const TimeNs time = moment->relative ? addClamped(extent.begin, moment->value) : moment->value;
        return std::clamp(time, extent.begin, extent.end);
    };
    return {resolve(begin, extent.begin), resolve(end, extent.end)};
}

ParsedOptions parseOptions(const QStringList& arguments) {
    QCommandLineParser parser;
    parser.setApplicationDescription(tr("Shows where time went on the GPU and its host: opens traces of "
                                        "torch.profiler (Chrome JSON, plain or in "
                                        "gzip, zstd, zip, tar)."));
    parser.addPositionalArgument(QStringLiteral("FILE"),
                                 tr("What to open; - is the standard input. Several share one time axis."),
                                 QStringLiteral("[FILE...]"));
    const auto add = [&](const char* name, const QString& description, const char* value = nullptr) {
        QCommandLineOption option(QString::fromLatin1(name), description);
        if (value != nullptr)
            option.setValueName(QString::fromLatin1(value));
        parser.addOption(option);
        return QString::fromLatin1(name);
    };
    const QString screenshot = add("screenshot", tr("Draw a picture without a display, and end."), "OUT.png");
    const QString view = add("view", tr("What to draw: timeline, ops, kernels, memory or flame."), "VIEW");
    const QString range = add("range",
                              tr("Select this stretch and show it: 10ms:20ms from the start, or nanoseconds "
                                 "of the trace's clock."),
                              "A:B");
    const QString select = add("select", tr("Select the longest event of this name and show it."), "NAME");
    const QString search = add("search", tr("Search for this."), "TEXT");
    const QString size = add("size", tr("Size of the picture in pixels."), "WxH");
    const QString dark = add("dark", tr("Dark colours."));
    const QString light = add("light", tr("Light colours."));
    const QString help = add("help", tr("Print this and end."));
    const QString version = add("version", tr("Print the version and end."));

    if (!parser.parse(arguments))
        return wrong(parser.errorText() + QStringLiteral("."));
    if (parser.isSet(help))
        return {std::nullopt, parser.helpText(), 0};
    if (parser.isSet(version))
        return {std::nullopt,
                QStringLiteral("warpline ") + QCoreApplication::applicationVersion() + QStringLiteral("\n"),
                0};

    Options options;
    options.files = parser.positionalArguments();
    if (parser.isSet(screenshot)) {
        options.screenshot = parser.value(screenshot);
        if (options.screenshot.isEmpty() || options.screenshot.startsWith(QStringLiteral("--")))
            return wrong(tr("--screenshot needs the name of the picture to write."));
    }
    if (parser.isSet(view)) {
        const QStringList views{QStringLiteral("timeline"), QStringLiteral("ops"), QStringLiteral("kernels"),
                                QStringLiteral("memory"), QStringLiteral("flame")};
        const qsizetype index = views.indexOf(parser.value(view));
        if (index < 0)
            return wrong(tr("There is no view \"%1\": choose timeline, ops, kernels, memory or flame.")
                             .arg(parser.value(view)));
        options.view = static_cast<Options::View>(index);
        options.viewGiven = true;
    }
    if (parser.isSet(range)) {
        options.range = RangeOption::parse(parser.value(range));
        if (!options.range)
            return wrong(tr("\"%1\" is no range: write two times, the earlier first, as 10ms:20ms.")
                             .arg(parser.value(range)));
    }
    options.select = parser.value(select);
    options.search = parser.value(search);
    if (parser.isSet(size)) {
        static const QRegularExpression form(QStringLiteral("^(\\d{1,5})x(\\d{1,5})$"));
        const QRegularExpressionMatch match = form.match(parser.value(size));
        options.size = QSize(match.captured(1).toInt(), match.captured(2).toInt());
        constexpr int kLeast = 320;
        constexpr int kMost = 16384;
        if (!match.hasMatch() || options.size.width() < kLeast || options.size.height() < kLeast ||
            options.size.width() > kMost || options.size.height() > kMost)
            return wrong(
                tr("\"%1\" is no size: write 1600x1000, from 320 to 16384 each.").arg(parser.value(size)));
    }
    if (parser.isSet(dark) && parser.isSet(light))
        return wrong(tr("Choose --dark or --light, not both."));
    if (parser.isSet(dark))
        options.appearance = Options::Appearance::Dark;
    else if (parser.isSet(light))
        options.appearance = Options::Appearance::Light;
    return {options, {}, 0};
}

} // namespace warpline
