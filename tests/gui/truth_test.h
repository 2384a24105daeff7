// SPDX-License-Identifier: GPL-3.0-or-later
// The window says what the command says: every figure and warning of `predict --json` is on a page; plans and runs are
// not lost behind its back.
#pragma once

#include <QObject>

class TruthTest : public QObject {
    Q_OBJECT
private slots:
    void everyFigureOfTheCommandIsOnThePlanPage_data();
    void everyFigureOfTheCommandIsOnThePlanPage();
    void warningsAreInSearchRowsComparisonsAndTheRunForm();
    void aRunThatThisComputerCannotHoldDoesNotStart();
    void aPlanThatChangedOnDiskIsNotOverwritten();
    void compareLetsGoOfAnOpenPlan();
    void aJournalThatCannotBeKeptIsTold();
    void aBandwidthIsTypedAsItIs();
    void aBarOpensItsOwnDerivation();
    void theWindowComesBackFromAZoom();
};
