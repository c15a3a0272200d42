# SPDX-License-Identifier: BSD-3-Clause
# Containers and pods, reached by commands that stand for docker, kubectl and blaunch: no terminal, an environment that is
# scrubbed, another folder, all other descriptors closed. Run as: sh containers.sh MPIEXEC WORK
. "$(dirname "$0")/lib.sh"
work=$2

# A container: stdin only with -i.
cat >inside <<'END'
#!/bin/bash
cd /
if [ "$1" = -i ]; then shift; else exec </dev/null; fi
for fd in $(ls /proc/$$/fd); do
    [ "$fd" -le 2 ] || eval "exec $fd>&-"
done
exec setsid -w env -i PATH=/usr/bin:/bin HOSTNAME="$box" HOME=/ "$@"
END
cat >docker <<'END'
#!/bin/sh
[ "$1" = exec ] || { echo "docker: unknown command: $1" >&2; exit 125; }
shift
input=
[ "$1" = -i ] && { input=-i; shift; }
case $1 in box[0-9]) ;; *) echo "Error response from daemon: No such container: $1" >&2; exit 1 ;; esac
export box=$1
shift
exec "$folder/inside" $input "$@"
END
cat >kubectl <<'END'
#!/bin/sh
[ "$1 $2 $4" = "exec -i --" ] || { echo "error: unknown words: $*" >&2; exit 1; }
case $3 in pod[0-9]) ;; *) echo "Error from server (NotFound): pods \"$3\" not found" >&2; exit 1 ;; esac
export box=$3
shift 4
exec "$folder/inside" -i "$@"
END
cat >blaunch <<'END'
#!/bin/sh
export box=$1
shift
exec "$folder/inside" -i "$@"
END
chmod +x inside docker kubectl blaunch
export folder="$scratch" PATH="$scratch:$PATH"

# mpi WHAT OPTIONS: four ranks on two of them
mpi() {
    what=$1
    shift
    same "$what: messages between them" "$(run "$@" -n 4 "$work" init hello ring barrier=3 message=1048576 colls finalize 2>&1 | sort)" \
        "$(printf 'rank %d of 4\n' 0 1 2 3)"
    same "$what: each has two" "$(run "$@" -n 4 sh -c 'echo $BNR_HOST' 2>&1 | sort | uniq -c | xargs)" "2 $first 2 $second"
    same "$what: words stay as they are" "$(run "$@" -n 1 printf '%s|' 'a b' '$x' "'" '"' 2>&1)" "a b|\$x|'|\"|"
    same "$what: stdin reaches a rank" "$(echo x | run "$@" -n 2 -stdin 1 sh -c '[ $BNR_RANK = 0 ] || cat' 2>&1)" x
    run "$@" -n 4 sh -c '[ $BNR_RANK = 3 ] && exit 7; exec sleep 30' 2>err
    same "$what: an exit code comes back" $? 7
    holds "$what: with a line" "$(cat err)" "rank 3 on $second"
    # The environment is mpiexec's, the folder too, and not the container's.
    same "$what: variables come along" "$(X=y run "$@" -n 2 sh -c 'echo $X $PWD' 2>&1 | sort -u)" "y $scratch"
    timeout 60 "$mpiexec" "$@" -n 2 sh -c 'echo x; exec sleep 300' >out 2>/dev/null &
    job=$!
    for _ in $(seq 100); do
        [ "$(grep -c x out)" = 2 ] || sleep 0.1
    done
    kill $job
    wait $job 2>/dev/null
    same "$what: a job that is ended ends" $? 143
}

first=box1 second=box2
mpi docker --launcher-cmd 'docker exec -i %h' -host box1:2,box2:2
mpi "docker by stdio" --daemon-link stdio --launcher-cmd 'docker exec -i %h' -host box1:2,box2:2
first=pod1 second=pod2
mpi kubectl --launcher-cmd 'kubectl exec -i %h -- %c' -host pod1:2,pod2:2
first=node1 second=node2
export LSB_JOBID=7 LSB_MCPU_HOSTS="node1 2 node2 2"
mpi LSF --timeout 50
unset LSB_JOBID LSB_MCPU_HOSTS

run --launcher-cmd 'docker exec -i %h' -host box1,none -n 2 true 2>err
holds "a container that is not there has a line" "$(cat err)" "No such container: none"
run --launcher-cmd 'docker exec %h' -host box1,box2 -n 2 true 2>err && fail "without -i nothing can be started"
holds "so has one without stdin" "$(cat err)" "as docker exec does with -i"
same "nothing is left" "$(pgrep -f "$scratch/inside")" ""
