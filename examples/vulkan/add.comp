// Adds `value` to each of the first `count` 32-bit words of a storage buffer.
//
// add.spv.h holds the words that glslang-tools 12 made of it:
//   glslangValidator -V --target-env vulkan1.2 --vn vulkan_add_spirv -o add.spv.h add.comp
#version 450

layout(local_size_x = 64) in;

layout(set = 0, binding = 0) buffer words {
    uint word[];
};

layout(push_constant) uniform parameters {
    uint value;
    uint count;
};

// A row of groups may be shorter than the buffer: each invocation strides by all of them.
void main() {
    uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += stride) {
        word[i] += value;
    }
}
