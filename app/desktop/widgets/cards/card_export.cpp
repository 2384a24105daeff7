// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/cards/card_export.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/dialogs/save_file.h"
#include "app/desktop/look/sized_for.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/cards/card.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/shared/table_model.h"
#include "app/models/shared/text.h"
#include "core/report/picture_file.h"

#include <QApplication>
#include <QBuffer>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QMenu>
#include <QMimeData>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QPushButton>
#include <QSpinBox>
#include <QSvgGenerator>

#include <algorithm>
#include <optional>

namespace fourfold::ui {

namespace {
constexpr int kPixelRatio = 2; // of a PNG: sharp in print and on dense screens
constexpr int kPdfDotsPerInch = 96; // a logical pixel is a CSS pixel

Problem bad(const std::string& message, const QString& file)
{
    return {ProblemCode::bad_input, message, "choose another file name", file.toStdString()};
}

QString suffixOf(const QString& file)
{
    return file.section(QLatin1Char('.'), -1).toLower();
}

void drawOn(QWidget& widget, QPaintDevice& device)
{
    QPainter painter(&device);
    widget.render(&painter, {}, {}, QWidget::DrawChildren);
}

bool isBlank(const QImage& image)
{
    const QRgb first = image.pixel(image.width() / 2, image.height() / 2);
    for (int y = 0; y < image.height(); y += 2) {
        for (int x = 0; x < image.width(); x += 2) {
            if (image.pixel(x, y) != first)
                return false;
        }
    }
    return true;
}

QByteArray encoded(QWidget& widget, const QSize& size, const QString& ending)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    if (ending == QLatin1String("png")) {
        QImage image(size * kPixelRatio, QImage::Format_ARGB32_Premultiplied);
        image.setDevicePixelRatio(kPixelRatio);
        image.fill(Qt::transparent);
        drawOn(widget, image);
        if (!isBlank(image))
            image.save(&buffer, "PNG");
    } else if (ending == QLatin1String("svg")) {
        QSvgGenerator svg;
        svg.setOutputDevice(&buffer);
        svg.setSize(size);
        svg.setViewBox(QRect({}, size));
        svg.setTitle(widget.accessibleName());
        svg.setDescription(widget.accessibleDescription());
        drawOn(widget, svg);
    } else {
        QPdfWriter pdf(&buffer);
        pdf.setResolution(kPdfDotsPerInch);
        pdf.setPageSize(QPageSize(QSizeF(size) * 72.0 / kPdfDotsPerInch, QPageSize::Point, {}, QPageSize::ExactMatch));
        pdf.setPageMargins({});
        pdf.setTitle(widget.accessibleName());
        drawOn(widget, pdf);
    }
    return bytes;
}

QString stem(const QString& title)
{
    QString name;
    for (const QChar c : title.toLower().simplified()) {
        if (c.isLetterOrNumber())
            name += c;
        else if (!name.isEmpty() && !name.endsWith(QLatin1Char('-')))
            name += QLatin1Char('-');
    }
    while (name.endsWith(QLatin1Char('-')))
        name.chop(1);
    return name.isEmpty() ? QStringLiteral("export") : name;
}

void report(QWidget* parent, const QString& title, const QString& file, const Expected<void>& outcome)
{
    if (!outcome)
        showProblem(parent, title, outcome.error());
    else
        sayWritten(parent, file);
}
} // namespace

Expected<void> writePicture(QWidget& widget, const QSize& size, const QString& file, bool forPaper)
{
    const QString ending = suffixOf(file);
    if (ending != QLatin1String("png") && ending != QLatin1String("svg") && ending != QLatin1String("pdf"))
        return bad("a picture can be written as .png, .svg or .pdf", file);
    const auto* card = qobject_cast<const Card*>(&widget);
    QByteArray bytes;
    if (!card || card->hasPicture()) {
        std::optional<LightFor> light;
        if (forPaper)
            light.emplace(widget);
        const SizedFor sized(widget, size);
        bytes = encoded(widget, size, ending);
    }
    if (bytes.isEmpty())
        return Problem{
            ProblemCode::failed, "there is nothing to draw", "wait until the picture has data", file.toStdString()};
    return write_file_atomically(file.toStdString(), bytes.toStdString());
}

Expected<void> writeTable(const Table& table, const QString& file)
{
    const auto format = table_format_of_ending("." + suffixOf(file).toStdString());
    if (!format)
        return bad("a table can be written as .csv, .md, .tex, .json or .txt", file);
    return write_file_atomically(file.toStdString(), table.write(*format));
}

void copyTable(const Table& table)
{
    const TableModel model(table);
    QString html = QStringLiteral("<table>");
    const auto line = [&](const QStringList& cells, const QString& tag) {
        html += QStringLiteral("<tr>");
        for (const QString& cell : cells)
            html += QStringLiteral("<%1>%2</%1>").arg(tag, cell.toHtmlEscaped());
        html += QStringLiteral("</tr>");
    };
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column)
        cells << spreadsheetCell(model.headerData(column, Qt::Horizontal).toString());
    line(cells, QStringLiteral("th"));
    for (int row = 0; row < model.rowCount(); ++row) {
        cells.clear();
        for (int column = 0; column < model.columnCount(); ++column)
            cells << spreadsheetCell(model.index(row, column).data().toString());
        line(cells, QStringLiteral("td"));
    }
    auto* data = new QMimeData;
    data->setText(exactText(spreadsheet_rows(table)));
    data->setHtml(html + QStringLiteral("</table>"));
    QApplication::clipboard()->setMimeData(data);
}

namespace {
void addShow(QMenu& menu, QWidget* parent, std::function<void()> show)
{
    QAction* action = menu.addAction(tr("Show as table\u2026"), parent, std::move(show));
    action->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_T)); // shown here; the window's View menu has it
}

void addFiles(QMenu& menu, QWidget* parent, const QString& title, const std::function<Table()>& table)
{
    menu.addAction(tr("Copy table"), parent, [table] { copyTable(table()); });
    QMenu* files = menu.addMenu(tr("Export table"));
    for (const auto& [name, ending] : {std::pair("CSV\u2026", "csv"), std::pair("Markdown\u2026", "md"),
             std::pair("LaTeX\u2026", "tex"), std::pair("JSON\u2026", "json")}) {
        files->addAction(tr(name), parent, [parent, title, table, ending = QString::fromLatin1(ending)] {
            askExportTable(parent, title, table(), ending);
        });
    }
}
} // namespace

void addExports(QMenu& menu, Card& card)
{
    if (card.hasTable()) {
        addShow(menu, &card, [&card] { showAsTable(card, &card); });
        addFiles(menu, &card, card.title(), [&card] { return card.table(); });
    }
    if (!card.title().isEmpty())
        menu.addAction(tr("Export picture\u2026"), &card, [&card] { askExportPicture(card, card.title()); });
}

void addTableExports(QMenu& menu, QWidget* parent, const QString& title, std::function<Table()> table)
{
    addShow(menu, parent, [parent, title, table] { showAsTable(parent, title, table()); });
    addFiles(menu, parent, title, table);
}

void showAsTable(Card& card, QWidget* parent)
{
    showAsTable(parent, card.title(), card.table(), dynamic_cast<LinkedTable*>(&card));
}

void showAsTable(QWidget* parent, const QString& title, const Table& table, LinkedTable* linked)
{
    QDialog dialog(parent);
    dialog.setObjectName(QStringLiteral("asTable"));
    dialog.setWindowTitle(title);
    resizeDialog(&dialog, 760, 460);
    TableModel model(table);
    auto* view = new DataTable;
    view->present(model, "", title);
    view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    view->resizeColumnsToContents();
    QDialogButtonBox* buttons = closeButton(&dialog);
    QPushButton* copy = buttons->addButton(tr("Copy"), QDialogButtonBox::ActionRole);
    QPushButton* save = buttons->addButton(tr("Export\u2026"), QDialogButtonBox::ActionRole);
    QObject::connect(copy, &QPushButton::clicked, &dialog, [&] { copyTable(table); });
    QObject::connect(
        save, &QPushButton::clicked, &dialog, [&] { askExportTable(&dialog, title, table, QStringLiteral("csv")); });
    dialog.setLayout(columnOf({view, buttons}, 6, {9, 9, 9, 9}));
    if (linked) {
        if (const int row = linked->chosenRow(); row >= 0 && row < model.rowCount())
            view->setCurrentIndex(model.index(row, 0));
        const QItemSelectionModel* chosen = view->selectionModel();
        QObject::connect(chosen, &QItemSelectionModel::selectionChanged, &dialog, [chosen, linked] {
            if (const QModelIndexList rows = chosen->selectedRows(); rows.size() == 1)
                linked->chooseRow(rows.front().row());
        });
    }
    view->setFocus();
    dialog.exec();
}

bool askExportPicture(QWidget& widget, const QString& title)
{
    QDialog dialog(&widget);
    dialog.setObjectName(QStringLiteral("exportPicture"));
    dialog.setWindowTitle(tr("Export %1").arg(title));
    auto* format = new QComboBox;
    for (const auto& [name, ending] : {std::pair("SVG (vector)", "svg"), std::pair("PDF (vector)", "pdf"),
             std::pair("PNG (pixels, twice the size)", "png")})
        format->addItem(tr(name), QString::fromLatin1(ending));
    const auto makeLength = [](int value) {
        auto* box = new QSpinBox;
        box->setRange(kLeastPicture, kMostPicture);
        box->setSuffix(tr(" px"));
        box->setValue(value);
        return box;
    };
    QSpinBox* width = makeLength(widget.width());
    QSpinBox* height = makeLength(widget.height());
    auto* form = new QFormLayout;
    form->addRow(tr("Format"), format);
    form->addRow(tr("Width"), width);
    form->addRow(tr("Height"), height);
    QCheckBox* forPaper = nullptr;
    if (themeOf(&widget).dark) {
        forPaper = new QCheckBox(tr("Light colours, as for paper"));
        forPaper->setChecked(true);
        form->addRow(QString(), forPaper);
    }
    dialog.setLayout(columnOf({form, acceptOrCancel(&dialog, tr("Choose file\u2026")).box}, 6, {9, 9, 9, 9}));
    if (dialog.exec() != QDialog::Accepted)
        return false;
    const QString ending = format->currentData().toString();
    QString file = askSaveFile(&widget, tr("Export picture"), stem(title) + QLatin1Char('.') + ending,
        QStringLiteral("%1 (*.%1)").arg(ending), ending);
    if (file.isEmpty())
        return false;
    if (suffixOf(file) != ending)
        file += QLatin1Char('.') + ending;
    const Expected<void> written
        = writePicture(widget, {width->value(), height->value()}, file, forPaper && forPaper->isChecked());
    report(&widget, tr("The picture was not written"), file, written);
    return written.has_value();
}

bool askExportTable(QWidget* parent, const QString& title, const Table& table, const QString& ending)
{
    const QString file = askSaveFile(parent, tr("Export table"), stem(title) + QLatin1Char('.') + ending,
        tr("CSV (*.csv);;Markdown (*.md);;LaTeX (*.tex);;JSON (*.json)"), ending);
    if (file.isEmpty())
        return false;
    const Expected<void> written = writeTable(table, file);
    report(parent, tr("The table was not written"), file, written);
    return written.has_value();
}

} // namespace fourfold::ui
