// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/families.h"
#include "tests/unit/trace_builder.h"

#include <QTest>

#include <set>
#include <string>

using namespace warpline;
using warpline::test::TraceBuilder;

class TestFamilies : public QObject {
    Q_OBJECT

  private slots:
    void kernels_data();
    void kernels();
    void hostEvents_data();
    void hostEvents();
    void tensorCores_data();
    void tensorCores();
    void everyFamilyHasItsName();
    void indexKeepsKindsApart();
};

// The names are those of real traces: PyTorch 1.8 to 2.11, cuDNN, cuBLAS, CUTLASS, NCCL, MIOpen, Tensile,
// vLLM.
void TestFamilies::kernels_data() {
    QTest::addColumn<int>("family");
    QTest::addColumn<QString>("name");
    int n = 0;
    const auto row = [&n](Family f, const char* name) {
        QTest::addRow("%d %.40s", ++n, name) << static_cast<int>(f) << QString(name);
    };
    row(Family::Matmul, "volta_sgemm_64x64_tn");
    row(Family::Matmul, "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_NNT");
    row(Family::Matmul, "void "
                        "cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1>(cutlass_"
                        "75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1::Params)");
    row(Family::Matmul, "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_"
                        "execute_segment_k_off_kernel__5x_cublas");
    row(Family::Matmul, "void cublasLt::splitKreduce_kernel<32, 16, int, float, float, "
                        "float>(cublasLt::cublasSplitKParams<float>)");
    row(Family::Matmul, "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x224x64_MI16x16x1_SN_LDSB0");
    row(Family::Matmul,
        "void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false, false>(float)");
    row(Family::Attention, "attn_fwd");
    row(Family::Attention, "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, "
                           "128, 128, 4>>(pytorch_flash::Flash_fwd_params)");
    row(Family::Attention,
        "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>::Params)");
    row(Family::Attention, "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x64_"
                           "1x4x1_cga1x1x1_kernel0_0");
    row(Family::Convolution, "void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(int, "
                             "int, int, float const*)");
    row(Family::Convolution, "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1");
    row(Family::Convolution, "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_"
                             "tilesize128x128x16_stage4_warpsize2x2x1");
    row(Family::Convolution, "void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1, false, "
                             "true, true>(int, int, int)");
    row(Family::Convolution,
        "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x256x32_wt32x32x8_ws1x2_wr2x2_ta1x8x2x1_1x4x1x64");
    row(Family::Elementwise,
        "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, "
        "at::detail::Array<char*, 3> >(int, at::native::AddFunctor<float>)");
    row(Family::Elementwise, "void (anonymous namespace)::elementwise_kernel_with_index<int, "
                             "at::native::arange_cuda_out(c10::Scalar const&)>(int)");
    row(Family::Elementwise,
        "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*)");
    row(Family::Elementwise, "SubTensorOpWithScalar1d");
    // A convolution's name in a type of an elementwise kernel says nothing.
    row(Family::Elementwise,
        "void at::native::unrolled_elementwise_kernel<conv_gemm_attention_functor>(int)");
    row(Family::CopySet, "void at::native::elementwise_kernel<128, 4, "
                         "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::"
                         "TensorIteratorBase&)::{lambda()#3}> >(int)");
    row(Family::CopySet, "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
                         "at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>)");
    row(Family::CopySet, "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, "
                         "1, 128, 1>(float*)");
    row(Family::CopySet, "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, "
                         "(cudnnKernelDataType_t)2>(float)");
    row(Family::Reduction, "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
                           "at::native::NormTwoOps<float, float, float>, unsigned int, float, 4> >(float)");
    row(Family::Reduction,
        "void at::native::(anonymous namespace)::max_pool_backward_nchw<float, float>(int, float const*)");
    row(Family::Reduction, "void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int, "
                           "int>::Policy800, false>(int*)");
    row(Family::Normalisation, "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, "
                               "float, false>(int, float)");
    row(Family::Normalisation,
        "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float, float)");
    row(Family::Normalisation, "void (anonymous namespace)::softmax_warp_forward<c10::Half, c10::Half, "
                               "float, 10, false, false>(c10::Half*)");
    row(Family::Normalisation,
        "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<c10::Half, float, "
        "32u>(long)");
    row(Family::Communication, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
    row(Family::Communication,
        "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)");
    row(Family::Optimiser,
        "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
        "namespace)::TensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, "
        "4> >(float)");
    row(Family::Compiled, "triton_poi_fused__scaled_dot_product_flash_attention_cat_transpose_view_10");
    row(Family::Compiled, "triton_red_fused_add_addmm_mul_native_layer_norm_split_unsqueeze_view_16");
    row(Family::OtherKernel, "my_kernel(float*)");
    // Templates of a library whose name holds "gemm" but which is none.
    row(Family::OtherKernel,
        "void fbgemm_gpu::_offsets_range_cuda_kernel<int>(long, long, int const*, int*)");
    row(Family::OtherKernel, "");
}

void TestFamilies::kernels() {
    QFETCH(int, family);
    QFETCH(QString, name);
    const Family got = familyOf(SliceKind::Kernel, name.toStdString());
    QCOMPARE(familyName(got), familyName(static_cast<Family>(family)));
}

void TestFamilies::hostEvents_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("family");
    int n = 0;
    const auto row = [&n](SliceKind k, const char* name, Family f) {
        QTest::addRow("%d %s", ++n, name) << static_cast<int>(k) << QString(name) << static_cast<int>(f);
    };
    row(SliceKind::CpuOp, "aten::mm", Family::Aten);
    row(SliceKind::CpuOp, "autograd::engine::evaluate_function: MmBackward0", Family::Autograd);
    row(SliceKind::CpuOp, "MmBackward0", Family::Autograd);
    row(SliceKind::CpuOp, "torch::autograd::AccumulateGrad", Family::Autograd);
    row(SliceKind::CpuOp, "c10d::allreduce_", Family::Communication);
    row(SliceKind::CpuOp, "record_param_comms", Family::Communication);
    row(SliceKind::CpuOp, "Torch-Compiled Region: 0/0", Family::Compiled);
    row(SliceKind::CpuOp, "triton_poi_fused_addmm_silu_2", Family::Compiled);
    row(SliceKind::CpuOp, "torchvision::nms", Family::OtherHost);
    row(SliceKind::Annotation, "ProfilerStep#3", Family::User);
    row(SliceKind::Annotation, "nccl:all_reduce", Family::Communication);
    row(SliceKind::GpuAnnotation, "forward", Family::User);
    row(SliceKind::Runtime, "cudaLaunchKernel", Family::Runtime);
    row(SliceKind::Runtime, "cudaDeviceSynchronize", Family::Sync);
    row(SliceKind::Driver, "cuStreamSynchronize", Family::Sync);
    row(SliceKind::Driver, "cuLaunchKernelEx", Family::Runtime);
    row(SliceKind::Python, "train.py(3): aten::mm", Family::Python);
    row(SliceKind::Overhead, "Activity Buffer Request", Family::Overhead);
    row(SliceKind::Sync, "Stream Sync", Family::Sync);
    row(SliceKind::Copy, "Memcpy HtoD (Pinned -> Device)", Family::CopySet);
    row(SliceKind::Set, "Memset (Device)", Family::CopySet);
    row(SliceKind::Other, "V8.Task", Family::OtherHost);
}

void TestFamilies::hostEvents() {
    QFETCH(int, kind);
    QFETCH(QString, name);
    QFETCH(int, family);
    const Family got = familyOf(static_cast<SliceKind>(kind), name.toStdString());
    QCOMPARE(familyName(got), familyName(static_cast<Family>(family)));
}

void TestFamilies::tensorCores_data() {
    QTest::addColumn<int>("expected");
    QTest::addColumn<QString>("name");
    int n = 0;
    const auto row = [&n](int expected, const char* name) {
        QTest::addRow("%d %.40s", ++n, name) << expected << QString(name);
    };
    row(1, "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn");
    row(1, "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn");
    row(1,
        "void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x64_32x4_tn_align8>(Params)");
    row(1, "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_NNT");
    row(1,
        "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel");
    row(1, "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x64_1x4x1_cga1x1x1_"
           "kernel0_0");
    row(1, "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64> >(Params)");
    row(0, "ampere_sgemm_128x64_tn");
    row(0, "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(Params)");
    row(0, "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4_"
           "kernel");
    row(0, "volta_scudnn_128x64_relu_interior_nn_v1");
    row(0, "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float> >(int)");
    row(0, "triton_poi_fused_addmm_gelu_view_15");
    row(0, "SubTensorOpWithScalar1d");
    row(0, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
    row(-1, "triton_tem_fused_mm_3");
    row(-1, "gemm_kernel");
    row(-1, "my_kernel");
}

void TestFamilies::tensorCores() {
    QFETCH(int, expected);
    QFETCH(QString, name);
    QCOMPARE(tensorCoreFromName(name.toStdString()), expected);
}

void TestFamilies::everyFamilyHasItsName() {
    std::set<std::string> names;
    for (int f = 0; f < kFamilyCount; ++f)
        names.insert(familyName(static_cast<Family>(f)));
    QCOMPARE(names.size(), static_cast<std::size_t>(kFamilyCount));
    QVERIFY(!names.contains(""));
}

void TestFamilies::indexKeepsKindsApart() {
    TraceBuilder builder;
    const TrackId thread = builder.track(builder.process(1, false), TrackKind::Thread, 1);
    const TrackId stream = builder.track(builder.process(0, true), TrackKind::Stream, 7);
    // torch.compile records an op and a kernel of the same name; a user may call a range like an op.
    const auto op = builder.add(thread, "cpu_op", "aten::mm", 0, 10);
    const auto range = builder.add(thread, "user_annotation", "aten::mm", 20, 10);
    const auto kernel = builder.add(stream, "kernel", "aten::mm", 40, 10);
    const auto other = builder.add(stream, "kernel", "volta_sgemm_64x64_tn", 60, 10);
    const TracePtr trace = builder.finish();
    const FamilyIndex index(*trace);
    QCOMPARE(index.of(*trace, builder.id(op).index()), Family::Aten);
    QCOMPARE(index.of(*trace, builder.id(range).index()), Family::User);
    QCOMPARE(index.of(*trace, builder.id(kernel).index()), familyOf(SliceKind::Kernel, "aten::mm"));
    QCOMPARE(index.of(*trace, builder.id(other).index()), Family::Matmul);
}

QTEST_APPLESS_MAIN(TestFamilies)
#include "tst_families.moc"
