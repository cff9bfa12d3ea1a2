// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "tests/bench/gen/model.h"

#include <fmt/format.h>

#include <utility>

namespace gen {

const std::vector<std::string_view>& kernelNames(Work work) {
    static const std::vector<std::string_view> kGemm{
        "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn",
        "ampere_bf16_s16816gemm_bf16_256x64_ldg8_f2f_stages_64x4_nn",
        "void "
        "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x256_32x3_nt_align8>(cutlass_80_"
        "tensorop_bf16_s16816gemm_relu_bf16_128x256_32x3_nt_align8::Params)",
        "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x64x64_stage3_warpsize2x2x1_tensor16x8x16_"
        "kernel"};
    static const std::vector<std::string_view> kPointwise{
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
        "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
        "void at::native::vectorized_elementwise_kernel<4, "
        "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
        "at::native::GeluType)::{lambda()#1}::operator()() const::{lambda()#4}::operator()() "
        "const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int, "
        "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
        "at::native::GeluType)::{lambda()#1}::operator()() const::{lambda()#4}::operator()() "
        "const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>)",
        "void "
        "at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)"
        "::{lambda()#3}::operator()() const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1}, "
        "std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1, unsigned int>, TrivialOffsetCalculator<1, "
        "unsigned int>, at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1> >(int)",
        "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, "
        "1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)"};
    static const std::vector<std::string_view> kSoftmax{
        "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 10, false, "
        "false>(c10::BFloat16*, c10::BFloat16 const*, int, int, int, bool const*, int, bool)"};
    static const std::vector<std::string_view> kNorm{
        "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, "
        "float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, "
        "c10::BFloat16*)",
        "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<c10::BFloat16, float, "
        "32u, 1u, 32u, true, true, false>(long, long, c10::BFloat16 const*, c10::BFloat16 const*, float "
        "const*, float const*, c10::BFloat16*, c10::BFloat16*)"};
    static const std::vector<std::string_view> kReduce{
        "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, "
        "at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, float, "
        "c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, "
        "c10::BFloat16, 4> >(at::native::ReduceOp<c10::BFloat16>)"};
    static const std::vector<std::string_view> kOptimiser{
        "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
        "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
        "namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float const*, double, "
        "double, double, double, double, bool, float*, float*, "
        "(at::native::ADAM_MODE)1>(at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>)"};
    static const std::vector<std::string_view> kCollective{
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"};
    switch (work) {
    case Work::Gemm:
        return kGemm;
    case Work::Softmax:
        return kSoftmax;
    case Work::Norm:
        return kNorm;
    case Work::Reduce:
        return kReduce;
    case Work::Optimiser:
        return kOptimiser;
    case Work::Collective:
        return kCollective;
    case Work::Pointwise:
    case Work::None:
        break;
    }
    return kPointwise;
}

Op::Op(std::string_view n, std::vector<std::string_view> d, std::vector<std::string_view> t,
       std::vector<const Op*> c, Work w, bool a)
    : name(n), dims(std::move(d)), calls(std::move(c)), work(w), allocates(a) {
    types = concrete = "[";
    for (const std::string_view type : t) {
        const char* comma = types.size() > 1 ? ", " : "";
        types += fmt::format("{}\"{}\"", comma, type);
        concrete += fmt::format("{}\"{}\"", comma,
                                type == "ScalarList" ? "[8192, 2048]"
                                : type == "Scalar"   ? "1"
                                                     : "");
    }
    types += ']';
    concrete += ']';
}

constexpr std::string_view kBf16 = "c10::BFloat16";
constexpr std::string_view kList = "ScalarList";
constexpr std::string_view kScalar = "Scalar";

const Op kEmpty("aten::empty", {"[[], [], [], [], [], []]"}, {kList, kScalar, kScalar, kScalar, "", ""}, {},
                Work::None, true);
const Op kEmptyStrided("aten::empty_strided", {"[[], [], [], [], [], []]"},
                       {kList, kList, kScalar, kScalar, kScalar, ""}, {}, Work::None, true);
const Op kAsStrided("aten::as_strided", {"[[2048, 8192], [], [], []]"}, {kBf16, kList, kList, kScalar});
const Op kTranspose("aten::transpose", {"[[2048, 8192], [], []]"}, {kBf16, kScalar, kScalar}, {&kAsStrided});
const Op kT("aten::t", {"[[2048, 8192]]", "[[8192, 2048]]"}, {kBf16}, {&kTranspose});
const Op kView("aten::view", {"[[8192, 2048], []]", "[[8, 1024, 16, 128], []]"}, {kBf16, kList});
const Op kMm("aten::mm", {"[[8192, 2048], [2048, 2048]]", "[[8192, 2048], [2048, 8192]]"}, {kBf16, kBf16}, {},
             Work::Gemm);
const Op kAddmm("aten::addmm",
                {"[[2048], [8192, 2048], [2048, 2048], [], []]",
                 "[[8192], [8192, 2048], [2048, 8192], [], []]"},
                {kBf16, kBf16, kBf16, kScalar, kScalar}, {&kEmpty}, Work::Gemm);
const Op kLinear("aten::linear",
                 {"[[8, 1024, 2048], [2048, 2048], [2048]]", "[[8, 1024, 2048], [8192, 2048], [8192]]"},
                 {kBf16, kBf16, kBf16}, {&kT, &kView, &kAddmm, &kView});
const Op kAdd("aten::add", {"[[8, 1024, 2048], [8, 1024, 2048], []]"}, {kBf16, kBf16, kScalar}, {&kEmpty},
              Work::Pointwise);
const Op kGelu("aten::gelu", {"[[8, 1024, 8192], []]"}, {kBf16, ""}, {&kEmptyStrided}, Work::Pointwise);
const Op kCopy("aten::copy_", {"[[8, 1024, 2048], [8, 1024, 2048], []]"}, {"float", kBf16, kScalar}, {},
               Work::Pointwise);
const Op kToCopy("aten::_to_copy", {"[[8, 1024, 2048], [], [], [], [], [], []]"},
                 {kBf16, kScalar, "", "", "", kScalar, ""}, {&kEmptyStrided, &kCopy});
const Op kTo("aten::to", {"[[8, 1024, 2048], [], [], [], []]"}, {kBf16, kScalar, kScalar, kScalar, ""},
             {&kToCopy});
const Op kNativeNorm("aten::native_layer_norm", {"[[8, 1024, 2048], [], [2048], [2048], []]"},
                     {kBf16, kList, kBf16, kBf16, kScalar}, {&kEmpty, &kEmpty}, Work::Norm);
const Op kNorm("aten::layer_norm", {"[[8, 1024, 2048], [], [2048], [2048], [], []]"},
               {kBf16, kList, kBf16, kBf16, kScalar, kScalar}, {&kNativeNorm});
const Op kBmm("aten::bmm", {"[[128, 1024, 128], [128, 128, 1024]]"}, {kBf16, kBf16}, {&kEmpty}, Work::Gemm);
const Op kMatmul("aten::matmul", {"[[8, 16, 1024, 128], [8, 16, 128, 1024]]"}, {kBf16, kBf16},
                 {&kView, &kBmm, &kView});
const Op kSoftmaxInner("aten::_softmax", {"[[8, 16, 1024, 1024], [], []]"}, {kBf16, kScalar, kScalar},
                       {&kEmpty}, Work::Softmax);
const Op kSoftmax("aten::softmax", {"[[8, 16, 1024, 1024], [], []]"}, {kBf16, kScalar, ""}, {&kSoftmaxInner});
const Op kSum("aten::sum", {"[[8192, 2048], [], [], []]"}, {kBf16, kList, kScalar, ""},
              {&kAsStrided, &kEmpty}, Work::Reduce);
const Op kAddInPlace("aten::add_", {"[[2048, 2048], [2048, 2048], []]"}, {kBf16, kBf16, kScalar}, {},
                     Work::Pointwise);
const Op kDetachInner("detach", {"[[2048, 2048]]"}, {kBf16});
const Op kDetach("aten::detach", {"[[2048, 2048]]"}, {kBf16}, {&kDetachInner});
const Op kFill("aten::fill_", {"[[1], []]"}, {"float", kScalar}, {}, Work::Pointwise);
const Op kZero("aten::zero_", {"[[2048, 2048]]"}, {kBf16}, {&kFill});
const Op kFusedAdam("aten::_fused_adamw_", {"[[[2048, 2048], [2048], [8192, 2048], [8192]], [], [], [], []]"},
                    {"TensorList", "TensorList", "TensorList", "TensorList", "TensorList"}, {&kZero},
                    Work::Optimiser);

const std::vector<Module>& blockModules() {
    static const std::vector<Module> kBlock{{"LayerNorm", {&kNorm}},
                                            {"Linear", {&kLinear}},
                                            {"Linear", {&kLinear}},
                                            {"Linear", {&kLinear}},
                                            {"Attention", {&kMatmul, &kSoftmax, &kMatmul, &kTo}},
                                            {"Linear", {&kLinear}},
                                            {"", {&kAdd}},
                                            {"LayerNorm", {&kNorm}},
                                            {"Linear", {&kLinear}},
                                            {"GELU", {&kGelu}},
                                            {"Linear", {&kLinear}},
                                            {"", {&kAdd}}};
    return kBlock;
}

const std::vector<Backward>& backwardNodes() {
    static const std::vector<Backward> kNodes{
        Backward{"AddmmBackward0", {&kT, &kMm, &kT, &kMm, &kSum, &kView}},
        Backward{"GeluBackward0", {&kGelu}},
        Backward{"NativeLayerNormBackward0", {&kNativeNorm}},
        Backward{"AddBackward0", {}},
        Backward{"BmmBackward0", {&kTranspose, &kBmm, &kTranspose, &kBmm}},
        Backward{"SoftmaxBackward0", {&kSoftmaxInner}},
        Backward{"ToCopyBackward0", {&kToCopy}},
        Backward{"ViewBackward0", {&kView}},
        Backward{"TBackward0", {&kT}},
        Backward{"torch::autograd::AccumulateGrad", {&kDetach, &kAddInPlace}}};
    return kNodes;
}

} // namespace gen
