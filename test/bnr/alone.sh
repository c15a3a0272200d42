# SPDX-License-Identifier: BSD-3-Clause
# MPI programs without mpiexec, under other launchers' variables, and with settings that are
# wrong. Run as: sh alone.sh MPIEXEC WORK
. "$(dirname "$0")/lib.sh"
work=$2
unset VIREO_CHANNELS VIREO_SINGLETON

same "alone, a program is rank 0 of 1" \
    "$(timeout 20 "$work" init hello ring barrier=3 allreduce=3 p2p=20 colls=20 message=1048576 \
        finalize 2>&1; echo $?)" "rank 0 of 1
0"

# refused CLAIM PART VARIABLE...: exit status not 0, one line that holds PART
refused() {
    claim=$1 part=$2
    shift 2
    env "$@" timeout 20 "$work" init hello finalize >out 2>err && fail "$claim"
    holds "$claim" "$(cat err)" "$part"
    same "in one line" "$(wc -l <err)$(cat out)" 1
}
refused "an Open MPI launcher's world is not split" "meant 4 processes" \
    OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0
refused "nor an MPICH launcher's" "meant 4 processes" PMI_SIZE=4 PMI_RANK=0
refused "nor one whose rank was taken away" "meant 4 processes (PMI_SIZE=4)" PMI_SIZE=4
refused "nor srun's" "meant 4 processes" SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4 SLURM_NTASKS=4
refused "the cure is told" "VIREO_SINGLETON=1" PMI_SIZE=4 PMI_RANK=0
same "VIREO_SINGLETON=1 is the cure" "$(VIREO_SINGLETON=1 PMI_SIZE=4 PMI_RANK=1 \
    timeout 20 "$work" init hello barrier finalize 2>&1)" "rank 0 of 1"
same "a size of 1 is no doubt" "$(PMI_SIZE=1 timeout 20 "$work" init hello finalize 2>&1)" \
    "rank 0 of 1"
same "a batch script's own step is no launcher" \
    "$(SLURM_PROCID=0 SLURM_NTASKS=4 timeout 20 "$work" init hello finalize 2>&1)" "rank 0 of 1"

refused "a channel that does not exist" "VIREO_CHANNELS names 'tpc'; the channels are" \
    VIREO_CHANNELS=tpc,loopback
refused "a setting that does not exist" "VIREO_CHANELS: no setting is called 'chanels'" \
    VIREO_CHANELS=tcp
refused "with the nearest" "did you mean 'channels'" VIREO_CHANELS=tcp
refused "a value that is none" "cannot be 'soon'; it takes a number of us" VIREO_SPIN_US=soon
refused "a time below none" "cannot be '-5'; it takes a number of ms, from 0 to 1000000000" VIREO_CONNECT_TIMEOUT_MS=-5

same "-usize is what MPI_UNIVERSE_SIZE says" \
    "$(run -usize 12 -n 2 "$work" init universe=12 finalize 2>&1; echo $?)" 0
same "else it says the job's size" "$(run -n 2 "$work" init universe=2 finalize 2>&1; echo $?)" 0

VIREO_CHANNELS=tpc run -n 8 "$work" init barrier finalize >out 2>err
same "under mpiexec it is one line, too" "$(wc -l <err)" 1
holds "of the first rank" "$(cat err)" "MPI_Init: VIREO_CHANNELS names 'tpc'"
VIREO_CHANELS=tcp run -n 8 "$work" init barrier finalize 2>err && fail "mpiexec refuses it"
holds "mpiexec refuses a setting that does not exist" "$(cat err)" "did you mean 'channels'"
same "in one line" "$(wc -l <err)" 1

run --report -n 2 true 2>err
same "a report without connections says so once" \
    "$(grep -c 'No connections: no rank sent to another' err)$(grep -c 'No report' err)" 10
same "after a line for each rank" "$(grep -cE '^ +[01] +[0-9]+  [0-9]' err)$(wc -l <err)" 28
