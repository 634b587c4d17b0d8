# Writes the commit that is built into a source file: its hash, and -dirty when files differ from it.
# cmake -DPROJECT=FOLDER -DSOURCE=FILE -P commit.cmake
cmake_minimum_required(VERSION 3.25)
set(commit unknown)
execute_process(COMMAND git -C ${PROJECT} describe --always --dirty --abbrev=40 --exclude=*
    OUTPUT_VARIABLE described RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
if(failed EQUAL 0)
    set(commit ${described})
endif()
file(CONFIGURE OUTPUT ${SOURCE} @ONLY CONTENT
    "extern const char bench_commit[];\nconst char bench_commit[] = \"@commit@\";\n")
