// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/families.h"

#include <array>
#include <initializer_list>
#include <optional>
#include <string>

namespace warpline {

namespace {

using Words = std::initializer_list<std::string_view>;

bool has(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
}
bool hasAny(std::string_view text, Words words) {
    for (std::string_view w : words) {
        if (has(text, w))
            return true;
    }
    return false;
}
/// `word` in `text`, but not as the head of one of the longer words in `unless`.
bool hasExcept(std::string_view text, std::string_view word, Words unless) {
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        bool other = false;
        for (std::string_view u : unless)
            other = other || text.substr(at).starts_with(u);
        if (!other)
            return true;
    }
    return false;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

/// The function's own name of a demangled kernel: without return type, template arguments and parameters.
/// "void at::native::(anonymous namespace)::foo<int>(int)" gives "at::native::(anonymous namespace)::foo".
std::string_view functionName(std::string_view name) {
    if (name.starts_with("void "))
        name.remove_prefix(5);
    constexpr std::string_view kAnonymous = "(anonymous namespace)";
    std::size_t i = 0;
    while (i < name.size()) {
        if (name[i] == '(' && name.substr(i).starts_with(kAnonymous))
            i += kAnonymous.size();
        else if (name[i] == '<' || name[i] == '(')
            break;
        else
            ++i;
    }
    return name.substr(0, i);
}

/// A function that only starts another, which its template argument names.
bool isShell(std::string_view function) {
    const std::size_t colon = function.rfind(':');
    const std::string_view last = colon == std::string_view::npos ? function : function.substr(colon + 1);
    for (std::string_view shell :
         {"kernel", "kernel2", "device_kernel", "trampoline_kernel", "kentry", "enable_if", "kernel_entry",
          "kernel_impl", "init_device_workspace_kernel"}) {
        if (last == shell)
            return true;
    }
    return false;
}

// The tests below run in order and take the first that holds. A word stands where it does for a reason: a
// fused attention kernel names the matrix instructions that it uses, a convolution is often an implicit GEMM,
// and a normalisation reduces. All texts are lower case.

bool isCommunication(std::string_view n) {
    return hasAny(n, {"nccl", "rccl", "nvshmem", "mscclpp", "allreduce", "all_reduce", "allgather",
                      "all_gather", "reducescatter", "reduce_scatter", "alltoall", "all_to_all", "sendrecv",
                      "cross_device_reduce", "multimem_", "deep_ep", "one_shot_all", "two_shot_all"});
}

bool isOptimiser(std::string_view n) {
    return hasAny(n, {"multi_tensor_apply", "multitensorapply", "multi_tensor_", "fusedadam", "fused_adam",
                      "adamw", "_adam_", "adagrad", "adafactor", "fusedsgd", "fused_sgd", "fusedlamb",
                      "lamb_stage", "optimizer", "foreach_"}) ||
           n.starts_with("adam");
}

bool isAttention(std::string_view n) {
    return hasAny(n, {"fmha", "attention", "attn", "sdpa", "pagedkv", "paged_kv", "withkvcache", "flash_fwd",
                      "flash_bwd", "flash_mla", "flash::compute", "flashmla", "mha_fwd", "mha_bwd",
                      "dot_do_o", "mla_decode"});
}

bool isNormalisation(std::string_view n) {
    return hasAny(n,
                  {"layernorm", "layer_norm", "rmsnorm",      "rms_norm",       "batchnorm",    "batch_norm",
                   "groupnorm", "group_norm", "instancenorm", "instance_norm",  "l2norm",       "bn_fw",
                   "bn_bw",     "softmax",    "gammabeta",    "rowwisemoments", "_norm_kernel", "norm_fwd",
                   "norm_bwd",  "ln_fwd_",    "ln_bwd_",      "welford"});
}

bool isConvolution(std::string_view n) {
    return hasExcept(n, "conv", {"convert", "conversion"}) ||
           hasAny(n, {"winograd", "dgrad", "wgrad", "fprop", "scudnn", "hcudnn", "884cudnn", "implicit_gemm",
                      "im2col", "im2d2col", "col2im", "igemm_fwd", "igemm_bwd", "igemm_wrw", "cudnn::cnn",
                      "fft2d_", "cask_cudnn"});
}

bool isMatmul(std::string_view n) {
    return hasExcept(n, "gemm", {"gemm_gpu"}) ||
           hasAny(n, {"gemv",       "cublas",     "epilogue::", "xmma",    "nvjet",     "gmma",
                      "cijk_",      "splitk",     "matmul",     "mat_mul", "_tensorop", "classtensorop",
                      "16816",      "s884",       "h884",       "s1688",   "_mmq",      "mul_mat",
                      "marlin",     "grouped_mm", "scaled_mm",  "bmm_",    "fused_moe", "moe_mmk",
                      "dot_kernel", "cutlass"});
}

bool isCopy(std::string_view n) {
    return hasAny(n, {"copy",
                      "memcpy",
                      "memset",
                      "fill",
                      "catarray",
                      "concat",
                      "transpose",
                      "permute",
                      "nchwtonhwc",
                      "nhwctonchw",
                      "addpadding",
                      "gather",
                      "scatter",
                      "indexselect",
                      "index_select",
                      "index_put",
                      "index_elementwise",
                      "reshape_and_cache",
                      "kvcache",
                      "kv_cache",
                      "roll_cuda",
                      "pad_kernel",
                      "im2patch",
                      "init_device_workspace",
                      "copybuffer",
                      "fillbuffer"});
}

bool isReduction(std::string_view n) {
    return hasAny(n, {"reduce",
                      "reduction",
                      "argmax",
                      "argmin",
                      "topk",
                      "top_k",
                      "cumsum",
                      "cumprod",
                      "devicescan",
                      "::scan",
                      "lookback_scan",
                      "radixsort",
                      "radix_sort",
                      "merge_sort",
                      "mergesort",
                      "sort_by_key",
                      "bitonicsort",
                      "histogram",
                      "unique_by_key",
                      "nllloss",
                      "nll_loss",
                      "nllcriterion",
                      "_pool",
                      "pool2d",
                      "pooling",
                      "embedding_backward",
                      "embedding_codegen",
                      "embedding_bag",
                      "embeddingbag",
                      "segment_sum",
                      "sum_kernel",
                      "_mean_",
                      "sampling"});
}

bool isElementwise(std::string_view n) {
    return hasAny(n, {"elementwise",
                      "pointwise",
                      "activation",
                      "act_and_mul",
                      "gelu",
                      "silu",
                      "swiglu",
                      "relu",
                      "dropout",
                      "distribution",
                      "rotary",
                      "rope_",
                      "_rope",
                      "quant",
                      "_cast",
                      "cast_",
                      "convert",
                      "_to_float",
                      "scalepackedtensor",
                      "subtensorop",
                      "scal_kernel",
                      "op_tensor",
                      "add_kernel",
                      "mul_kernel",
                      "binary_op",
                      "unary_op",
                      "masked",
                      "where",
                      "clamp",
                      "bias",
                      "arange",
                      "tril",
                      "triu",
                      "upsample",
                      "interpolate",
                      "sigmoid",
                      "random"});
}

/// What the words of a text say a kernel computes.
std::optional<Family> familyOfWords(std::string_view n) {
    if (isCommunication(n))
        return Family::Communication;
    if (isOptimiser(n))
        return Family::Optimiser;
    if (isAttention(n))
        return Family::Attention;
    if (isNormalisation(n))
        return Family::Normalisation;
    if (isConvolution(n))
        return Family::Convolution;
    if (isMatmul(n))
        return Family::Matmul;
    if (isCopy(n))
        return Family::CopySet;
    if (isReduction(n))
        return Family::Reduction;
    if (isElementwise(n))
        return Family::Elementwise;
    return std::nullopt;
}

Family kernelFamily(std::string_view kernel) {
    const std::string whole = lower(kernel);
    const std::string_view function = functionName(whole);
    if (function.starts_with("triton_") || has(function, "inductor"))
        return Family::Compiled;
    // PyTorch's generic kernels say what they do in their template arguments, but those name so many types
    // and functors that only these few may be asked.
    if (has(function, "elementwise_kernel") || has(function, "elementwise_grid_stride") ||
        has(function, "compute_cuda_kernel")) {
        if (hasAny(function, {"index_elementwise", "scatter_gather"}) ||
            hasAny(whole,
                   {"copy_kernel", "fillfunctor", "loadwithoutcast, at::native::memory::storewithcast"}))
            return Family::CopySet;
        return Family::Elementwise;
    }
    if (has(function, "native") && has(function, "reduce_kernel"))
        return Family::Reduction;
    // "cutlass::Kernel2<...>" is a shell: what it runs is its template argument. Of other kernels the
    // arguments only name types.
    return familyOfWords(isShell(function) ? std::string_view(whole) : function)
        .value_or(Family::OtherKernel);
}

bool isBackwardName(std::string_view name) {
    // AddmmBackward0, torch::autograd::CppFunction, CompiledFunctionBackward
    const std::size_t last = name.find_last_not_of("0123456789");
    return last != std::string_view::npos && name.substr(0, last + 1).ends_with("Backward");
}

bool isCollective(std::string_view name) {
    for (std::string_view p : {"nccl:", "rccl:", "hccl:", "xccl:", "gloo:", "mpi:", "ucc:", "c10d::", "_c10d",
                               "record_param_comms", "symm_mem::"}) {
        if (name.starts_with(p))
            return true;
    }
    return false;
}

Family hostFamily(std::string_view name) {
    if (name.starts_with("aten::"))
        return Family::Aten;
    if (isCollective(name))
        return Family::Communication;
    if (name.starts_with("triton_") || name.starts_with("Torch-Compiled Region") ||
        name.starts_with("CompiledFunction") || name.starts_with("## Call CompiledFxGraph") ||
        name.starts_with("inductor::"))
        return Family::Compiled;
    if (name.starts_with("autograd::") || name.starts_with("torch::autograd::") || isBackwardName(name))
        return Family::Autograd;
    return Family::OtherHost;
}

bool isWaitingCall(std::string_view name) {
    // cudaDeviceSynchronize, cuStreamSynchronize, hipEventSynchronize...: the host stands still in them.
    return has(name, "Synchronize");
}

} // namespace

const char* familyName(Family f) {
    static constexpr std::array<const char*, kFamilyCount> kNames{
        "matmul",        "attention",    "convolution",       "elementwise",     "reduction",
        "normalisation", "copy and set", "communication",     "optimiser",       "compiled",
        "other kernel",  "aten op",      "autograd",          "annotation",      "runtime call",
        "waiting",       "Python",       "profiler overhead", "other host event"};
    return kNames[static_cast<std::size_t>(f)];
}

Family familyOf(SliceKind kind, std::string_view name) {
    switch (kind) {
    case SliceKind::Kernel:
        return kernelFamily(name);
    case SliceKind::Copy:
    case SliceKind::Set:
        return Family::CopySet;
    case SliceKind::Annotation:
    case SliceKind::GpuAnnotation:
        return isCollective(name) ? Family::Communication : Family::User;
    case SliceKind::Python:
        return Family::Python;
    case SliceKind::Runtime:
    case SliceKind::Driver:
        return isWaitingCall(name) ? Family::Sync : Family::Runtime;
    case SliceKind::Sync:
        return Family::Sync;
    case SliceKind::Overhead:
        return Family::Overhead;
    case SliceKind::CpuOp:
    case SliceKind::Other:
        break;
    }
    return hostFamily(name);
}

int tensorCoreFromName(std::string_view kernel) {
    const std::string n = lower(kernel);
    // Shapes of matrix instructions, and libraries that use nothing else.
    if (hasAny(n, {"_tensorop",
                   "classtensorop",
                   "gmma",
                   "hmma",
                   "imma_",
                   "_imma",
                   "dmma",
                   "s16816",
                   "h16816",
                   "i16816",
                   "s1688",
                   "h1688",
                   "s884",
                   "h884",
                   "d884",
                   "i8816",
                   "i16832",
                   "s16832",
                   "tensor16x8x",
                   "tensor8x8x",
                   "nvjet",
                   "warpgroupsize",
                   "mfma",
                   "_xdl_",
                   "flash_fwd",
                   "flash_bwd",
                   "fmha_cutlassf_bf16",
                   "fmha_cutlassb_bf16",
                   "utcmma",
                   "umma"}))
        return 1;
    // Tensile (AMD) writes its matrix instruction's shape: MI16x16x1.
    if (n.starts_with("cijk_"))
        return has(n, "_mi") ? 1 : -1;
    if (hasAny(n, {"simt", "sgemm", "dgemm", "_ffma", "gemv", "scudnn", "hgemm", "dgrad_engine", "wgrad_alg0",
                   "splitkreduce", "triton_poi_", "triton_red_", "triton_per_", "im2col", "fft2d"}))
        return 0;
    switch (kernelFamily(kernel)) {
    case Family::Elementwise:
    case Family::Reduction:
    case Family::Normalisation:
    case Family::CopySet:
    case Family::Communication:
    case Family::Optimiser:
        return 0;
    default:
        return -1;
    }
}

FamilyIndex::FamilyIndex(const Trace& trace) : m_byName(trace.strings.size() + 1) {
    const auto key = [](StringId name, SliceKind kind) {
        return (std::uint64_t{name.value} << 8) | static_cast<std::uint64_t>(kind);
    };
    for (std::size_t row = 0; row < trace.slices.size(); ++row) {
        const StringId name = trace.slices.name[row];
        const SliceKind kind = trace.kind(row);
        Entry& entry = m_byName[name.value];
        if (entry.kind == static_cast<std::uint8_t>(kind))
            continue;
        if (entry.kind == kUnused)
            entry = {static_cast<std::uint8_t>(kind), familyOf(kind, trace.strings.view(name))};
        else if (!m_more.contains(key(name, kind)))
            m_more.emplace(key(name, kind), familyOf(kind, trace.strings.view(name)));
    }
}

Family FamilyIndex::of(StringId name, SliceKind kind) const {
    const Entry entry = name.value < m_byName.size() ? m_byName[name.value] : Entry{};
    if (entry.kind == static_cast<std::uint8_t>(kind))
        return entry.family;
    const auto it = m_more.find((std::uint64_t{name.value} << 8) | static_cast<std::uint64_t>(kind));
    return it == m_more.end() ? Family::OtherHost : it->second;
}

} // namespace warpline
