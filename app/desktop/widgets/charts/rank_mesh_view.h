// SPDX-License-Identifier: GPL-3.0-or-later
// The mesh of ranks as a picture: nodes as frames, GPUs as cells, coloured by pipeline stage. The GPU under the pointer
// (or chosen by the arrow keys) shows its groups.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/view/prediction/rank_mesh.h"

#include <QImage>

#include <optional>

namespace fourfold::ui {

class RankMeshView : public Card, public LinkedTable {
    Q_OBJECT
public:
    explicit RankMeshView(QWidget* parent = nullptr);
    void showMesh(view::RankMesh mesh);
    [[nodiscard]] std::optional<int> current() const { return m_current; } // rank
    // The stage marked in every picture of the page, whose GPUs are framed here; -1 = none.
    void setSelectedStage(int stage);
    [[nodiscard]] int selectedStage() const { return m_stage; }
    // Where a rank is drawn; empty when it is beyond what fits.
    [[nodiscard]] QRectF cellOf(int rank) const;
    [[nodiscard]] QSize minimumSizeHint() const override { return least(320, 170); }
    [[nodiscard]] Table table() const override { return m_mesh.table(); }
    [[nodiscard]] int chosenRow() const override { return m_current.value_or(-1); }
    void chooseRow(int row) override;

signals:
    void stageClicked(int stage);

protected:
    void paintBody(QPainter& painter, const QRect& area, const Theme& theme) override;
    [[nodiscard]] bool isEmpty() const override { return m_mesh.ranks() == 0; }
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Grid {
        QRectF area; // of the cells
        QRect text; // beside them where there is room, else below
        int columns = 1, nodes = 0; // nodes in a line, nodes that are drawn
        int across = 1; // GPUs in a line of a node
        double nodeWidth = 0, nodeHeight = 0, cellWidth = 0, cellHeight = 0, gap = 0;
    };
    [[nodiscard]] Grid gridNow() const;
    [[nodiscard]] QRectF cellIn(const Grid& grid, int rank) const;
    [[nodiscard]] std::optional<int> rankAt(const QPointF& point) const;
    [[nodiscard]] int inNextLine(int rank, int direction) const;
    void setCurrent(std::optional<int> rank);
    void tellStage(); // of the current rank
    [[nodiscard]] bool marksStage() const { return m_stage >= 0 && m_stage < m_mesh.layout().pp; }
    void paintStage(QPainter& painter, const Grid& grid, const Theme& theme) const;
    void paintLegend(QPainter& painter, const QRect& area, const Theme& theme) const;
    void paintCells(QPainter& painter, const Grid& grid, const Theme& theme) const;
    void paintGroups(QPainter& painter, const Grid& grid, const Theme& theme) const;
    void paintNodes(QPainter& painter, const Grid& grid, const Theme& theme) const;
    void paintText(QPainter& painter, const Grid& grid, const Theme& theme) const;

    view::RankMesh m_mesh;
    std::optional<int> m_current;
    int m_stage = -1;
};

} // namespace fourfold::ui
