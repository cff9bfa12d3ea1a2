// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/memory_history.h"

#include <string>

namespace warpline {

/// Fills MemoryBlockTable::category and ::evidence of all devices. Rules, the first that holds decides; what
/// none decides is Unknown:
///
///  1. FileSays: the file names a category for the event (memory-profile conversions do).
///  2. OptimizerStack: the block was allocated inside an optimizer's step (an annotation
///     "Optimizer.step#..." is open at that time, or a frame is a function "step"/"_init_group"/"_fused_*"/
///     "_multi_tensor_*"/"_single_tensor_*" of a file under torch/optim or apex/deepspeed's optimizers) and
///     outlives that step: optimizer state. OptimizerScratch: freed before it: temporary. Where neither times
///     nor annotations say when the step was over, the block is kept if it is alive at the end.
///  3. BackwardKept: allocated in the backward pass (a frame of the autograd engine: "backward" or
///     "_engine_run_backward" of torch/autograd or torch/_tensor.py, or torch::autograd::Engine of C++
///     stacks) outlives the pass, and was freed by zero_grad (annotation "Optimizer.zero_grad#..." or a frame
///     of that name at its free), or is alive at the end: gradient. Kernels of the backward pass run on the
///     engine's own thread, which has no Python stack: a block without frames is taken to be of the backward
///     pass where an annotation or, in a history made from a trace, an op of that name encloses it, never
///     otherwise. BackwardFreed: freed within the pass: temporary.
///  4. ModuleBuild: a frame is a module's "__init__", "reset_parameters", "_apply" or "to"/"cuda" of
///     torch/nn/modules, and the block is alive at the end: parameter.
///  5. ForwardKept: allocated under a module's "forward" or "_call_impl", outside of any optimizer step, and
///     freed from the backward pass (or, where the free has no stack, after the forward call's annotation):
///     activation. ForwardFreed: freed with a module's forward still in the stack of its free: temporary.
///  6. What was there before the history and never freed may be a parameter, optimizer state or a buffer: a
///     parameter where its stack says so (rule 4), optimizer state where it says that (rule 2); otherwise
///     unknown.
///  7. Brief: allocated and freed with no more than 16 events between: temporary.
void inferCategories(MemoryHistory& history);

/// One sentence: why this block is taken for what it is, or why nothing is known.
std::string categoryEvidence(const MemoryHistory& history, const MemoryDevice& device, BlockId block);

} // namespace warpline
