/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Set views with runs of several lengths, for io_plan.sh, which reads what VIREO_IO_REPORT says of
 * them. In each view the processes' blocks take turns.
 *   io_plan FOLDER [KEY VALUE]...   hints
 */
#include "io.h"

int main(int argc, char **argv)
{
    static const int lens[] = {64, 2048, 8192, 65536, 1 << 20};
    MPI_File file;
    MPI_Info info;
    char name[512];
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    CHECK(argc >= 2);
    snprintf(name, sizeof(name), "%s/plan", argv[1]);
    OK(MPI_Info_create(&info));
    for (int i = 2; i + 1 < argc; i += 2)
        OK(MPI_Info_set(info, argv[i], argv[i + 1]));
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        MPI_Datatype block, blocks;
        OK(MPI_Type_contiguous(lens[i], MPI_BYTE, &block));
        OK(MPI_Type_create_resized(block, 0, (MPI_Aint)lens[i] * size, &blocks));
        OK(MPI_Type_commit(&blocks));
        OK(MPI_File_set_view(file, (MPI_Offset)lens[i] * rank, MPI_BYTE, blocks, "native",
                             MPI_INFO_NULL));
        OK(MPI_Type_free(&block));
        OK(MPI_Type_free(&blocks));
    }
    OK(MPI_Info_free(&info));
    OK(MPI_File_close(&file));
    if (rank == 0)
        OK(MPI_File_delete(name, MPI_INFO_NULL));
    OK(MPI_Finalize());
    return 0;
}
