// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors

// A CUDA program that counts what it does: streams, copies, sets, pools, NVTX ranges and a graph. At its end it
// prints one line of JSON with the counts; what was recorded must be the same.
//   counted [ROUNDS] [SECONDS]     nvcc -O2 -o counted counted.cu

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

namespace {

struct Counts {
    long kernels = 0, copies = 0, sets = 0, ranges = 0;
    long long copiedBytes = 0, setBytes = 0;
};
Counts g_counts;

void check(cudaError_t code, const char* what) {
    if (code == cudaSuccess)
        return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    std::exit(1);
}
#define CHECK(call) check(call, #call)

__global__ void saxpy(int n, float a, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

template <int Factor>
__global__ void scale(int n, float* x) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= Factor;
}

constexpr int kCount = 1 << 18;
constexpr size_t kBytes = kCount * sizeof(float);
constexpr int kBlock = 256;
constexpr int kGrid = kCount / kBlock;

class Range {
  public:
    Range(nvtxDomainHandle_t domain, const char* name, int payload) : m_domain(domain) {
        nvtxEventAttributes_t a{};
        a.version = NVTX_VERSION;
        a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
        a.colorType = NVTX_COLOR_ARGB;
        a.color = 0xff3366cc;
        a.payloadType = NVTX_PAYLOAD_TYPE_INT32;
        a.payload.iValue = payload;
        a.messageType = NVTX_MESSAGE_TYPE_ASCII;
        a.message.ascii = name;
        nvtxDomainRangePushEx(domain, &a);
        ++g_counts.ranges;
    }
    ~Range() { nvtxDomainRangePop(m_domain); }

  private:
    nvtxDomainHandle_t m_domain;
};

} // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
    const double seconds = argc > 2 ? std::atof(argv[2]) : 0;
    nvtxDomainHandle_t domain = nvtxDomainCreateA("counted");
    cudaStream_t a, b;
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    float *host, *x, *y;
    CHECK(cudaMallocHost(&host, kBytes));
    CHECK(cudaMalloc(&x, kBytes));
    CHECK(cudaMalloc(&y, kBytes));

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 5; ++i)
        scale<3><<<kGrid, kBlock, 0, a>>>(kCount, x);
    CHECK(cudaStreamEndCapture(a, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));

    const auto begun = std::chrono::steady_clock::now();
    int done = 0;
    for (; done < rounds ||
           std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() < seconds;
         ++done) {
        Range round(domain, "round", done);
        {
            Range copies(domain, "copies", 0);
            CHECK(cudaMemcpyAsync(x, host, kBytes, cudaMemcpyHostToDevice, a));
            CHECK(cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToDevice, a));
            CHECK(cudaMemsetAsync(y, 0, kBytes, a));
            g_counts.copies += 2;
            g_counts.copiedBytes += 2 * kBytes;
            g_counts.sets += 1;
            g_counts.setBytes += kBytes;
        }
        {
            Range kernels(domain, "kernels", 0);
            for (int i = 0; i < 8; ++i)
                saxpy<<<kGrid, kBlock, 0, i % 2 == 0 ? a : b>>>(kCount, 2.0f, x, y);
            g_counts.kernels += 8;
        }
        CHECK(cudaEventRecord(event, a));
        CHECK(cudaStreamWaitEvent(b, event, 0));
        float* pooled = nullptr;
        CHECK(cudaMallocAsync(reinterpret_cast<void**>(&pooled), kBytes, b));
        scale<2><<<kGrid, kBlock, 0, b>>>(kCount, pooled);
        ++g_counts.kernels;
        CHECK(cudaFreeAsync(pooled, b));
        CHECK(cudaGraphLaunch(exec, a));
        g_counts.kernels += 5;
        CHECK(cudaMemcpyAsync(host, y, kBytes, cudaMemcpyDeviceToHost, a));
        g_counts.copies += 1;
        g_counts.copiedBytes += kBytes;
        CHECK(cudaStreamSynchronize(a));
        CHECK(cudaStreamSynchronize(b));
    }
    CHECK(cudaDeviceSynchronize());
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    std::printf("{\"kernels\": %ld, \"copies\": %ld, \"sets\": %ld, \"ranges\": %ld, \"copied_bytes\": %lld, "
                "\"set_bytes\": %lld, \"rounds\": %d, \"seconds\": %.6f, \"pid\": %d}\n",
                g_counts.kernels, g_counts.copies, g_counts.sets, g_counts.ranges, g_counts.copiedBytes,
                g_counts.setBytes, done, took, static_cast<int>(getpid()));
    return 0;
}
