// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of the layout that not every plan has: how experts are split, over how many ranks a copy is sharded, how many
// layers each stage holds.
#pragma once

namespace fourfold::ui {

class FormSection;
class PlanDocument;

void addExpertTensor(FormSection& section);
void addShardDegree(FormSection& section);
void addStageLayers(PlanDocument& document, FormSection& section);

} // namespace fourfold::ui
