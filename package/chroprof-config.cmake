# find_package(chroprof) and target_link_libraries(program PRIVATE chroprof::chroprof): the headers.
# One source file of the program defines CHROPROF_IMPLEMENTATION before it includes chroprof.h.
if(NOT TARGET chroprof::chroprof)
    get_filename_component(_chroprof_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
    add_library(chroprof::chroprof INTERFACE IMPORTED)
    set_target_properties(chroprof::chroprof PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${_chroprof_prefix}/include")
    unset(_chroprof_prefix)
endif()
