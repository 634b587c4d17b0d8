// A kernel for tests on a real CUDA device: add(words, count, value) adds `value` to each of
// `count` 32-bit words. Any device takes this text.
#ifndef ACRE_TESTS_CUDA_KERNEL_H
#define ACRE_TESTS_CUDA_KERNEL_H

static const char cuda_add_kernel[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry add(\n"
    "    .param .u64 words, .param .u64 count, .param .u32 value)\n"
    "{\n"
    "    .reg .pred %p<2>;\n"
    "    .reg .b32 %r<6>;\n"
    "    .reg .b64 %rd<6>;\n"
    "    ld.param.u64 %rd1, [words];\n"
    "    ld.param.u64 %rd2, [count];\n"
    "    ld.param.u32 %r5, [value];\n"
    "    mov.u32 %r1, %ctaid.x;\n"
    "    mov.u32 %r2, %ntid.x;\n"
    "    mov.u32 %r3, %tid.x;\n"
    "    mul.wide.u32 %rd3, %r1, %r2;\n"
    "    cvt.u64.u32 %rd4, %r3;\n"
    "    add.u64 %rd3, %rd3, %rd4;\n"
    "    setp.ge.u64 %p1, %rd3, %rd2;\n"
    "    @%p1 bra done;\n"
    "    cvta.to.global.u64 %rd1, %rd1;\n"
    "    shl.b64 %rd5, %rd3, 2;\n"
    "    add.u64 %rd1, %rd1, %rd5;\n"
    "    ld.global.u32 %r4, [%rd1];\n"
    "    add.u32 %r4, %r4, %r5;\n"
    "    st.global.u32 [%rd1], %r4;\n"
    "done:\n"
    "    ret;\n"
    "}\n";

#endif
