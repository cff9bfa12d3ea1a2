// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/sample.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSaveFile>
#include <QStandardPaths>

namespace warpline {

static QString samplePlace() {
    return QStandardPaths::writableLocation(QStandardPaths::CacheLocation) +
           QStringLiteral("/samples/gpt.json.gz");
}

Result<QString> samplePath() {
    QFile sample(QStringLiteral(":/samples/gpt.json.gz"));
    if (!sample.open(QIODevice::ReadOnly))
        return Error::failed("The sample is not part of this build: build with the resources folder.");
    const QByteArray bytes = sample.readAll();
    const QString path = samplePlace();
    QFile there(path);
    if (there.open(QIODevice::ReadOnly) && there.size() == bytes.size() && there.readAll() == bytes)
        return path;
    QDir().mkpath(QFileInfo(path).absolutePath());
    QSaveFile out(path);
    if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size() || !out.commit()) {
        return Error::failed("The sample could not be written to " + path.toStdString() + ": " +
                             out.errorString().toStdString() + ".");
    }
    return path;
}

bool isSample(const QString& path) {
    return path == samplePlace();
}

} // namespace warpline
