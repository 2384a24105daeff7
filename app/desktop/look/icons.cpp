// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/look/icons.h"

#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

namespace fourfold::ui {

namespace {
QPixmap drawn(QByteArray svg, const QColor& color, int size)
{
    svg.replace("currentColor", color.name().toLatin1());
    QSvgRenderer renderer(svg);
    QPixmap pixmap(size, size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    renderer.render(&painter);
    return pixmap;
}
} // namespace

QIcon themedIcon(const QString& name, const Theme& theme)
{
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QByteArray svg = file.readAll();
    QIcon icon;
    for (const int size : {16, 32, 48}) {
        icon.addPixmap(drawn(svg, theme.text, size), QIcon::Normal);
        icon.addPixmap(drawn(svg, theme.line, size), QIcon::Disabled);
    }
    return icon;
}

QIcon applicationIcon()
{
    return QIcon(QStringLiteral(":/icons/fourfold.svg"));
}

} // namespace fourfold::ui
