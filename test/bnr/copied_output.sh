# SPDX-License-Identifier: BSD-3-Clause
# Output that goes to files and to mpiexec's own, output as XML, how C's streams are buffered, and a
# job in the background. Run as: sh copied_output.sh MPIEXEC WORK VIREO
. "$(dirname "$0")/lib.sh"
work=$2
vireo=$3

say='echo "out $OMPI_COMM_WORLD_RANK"; echo "err $OMPI_COMM_WORLD_RANK" >&2'
run -n 2 --output file=f:copy sh -c "$say" >out 2>err
same "mpiexec's stdout has all" "$(sort out)" "out 0
out 1"
same "its stderr too" "$(sort err)" "err 0
err 1"
same "and each file its rank's" "$(cat f.0.out f.1.out f.0.err f.1.err)" "out 0
out 1
err 0
err 1"
head -c 5000000 /dev/urandom >big
run --output dir=d:copy cat <big >copy
same "5 MB are the same in both" "$(cat copy | sha1sum; cat d/rank.0/stdout | sha1sum)" \
    "$(cat big | sha1sum; cat big | sha1sum)"
run --output file=g:copy,merge sh -c 'echo a; echo b >&2' >out 2>err
same "merged, both go to the file of stdout" "$(cat g.0.out; cat out; wc -c <err)" "a
b
a
b
0"
run --output json,file=h:copy sh -c 'echo a' >out
holds "a copy has the bytes, the output is JSON" "$(cat h.0.out) $(cat out)" 'a {"rank":0'
run --output file=nowhere:copy ls "$scratch" >/dev/full 2>err
same "a file is written though the output is lost" "$(grep -c big nowhere.0.out)" 1

printf 'a<b>&c\303\251\001\nlast' >bytes
same "XML is as Open MPI has it" "$(run --xml cat <bytes)" '<mpirun>
<stdout rank="0">a&lt;b&gt;&amp;c&#195;&#169;&#001;&#010;</stdout>
<stdout rank="0">last</stdout>
</mpirun>'
run -n 2 --xml-file x sh -c "$say" >out 2>err
same "a file gets both streams" "$(sort x)" '</mpirun>
<mpirun>
<stderr rank="0">err 0&#010;</stderr>
<stderr rank="1">err 1&#010;</stderr>
<stdout rank="0">out 0&#010;</stdout>
<stdout rank="1">out 1&#010;</stdout>'
same "and nothing goes elsewhere" "$(cat out err)" ""
run --xml-file x sh -c "exit 3" >out 2>err
holds "mpiexec's own lines are no XML" "$(cat err)" "exited with code 3"
same "the element is closed" "$(tail -1 x)" "</mpirun>"
run --xml-file no/x true 2>err
same "a file that cannot be written is an error" "$?" 1
holds "which names it" "$(cat err)" "'no/x' for --xml-file: No such file"

# bytes MODE: those of a line and a part that leave a rank which ends without flushing
bytes() {
    run --stream-buffering "$1" "$work" init part=3 2>/dev/null
}
same "unbuffered, all is written at once" "$(bytes 0)" "line
part"
same "by lines, a line is" "$(bytes 1)" "line"
same "in full, nothing is" "$(bytes 2)" ""
same "and C has it so in a pipe" "$(run "$work" init part=3 2>/dev/null)" ""
holds "settings in force are shown" \
    "$(run --stream-buffering 2 --mca mpi_show_mca_params all true 2>&1)" \
    "mpiexec: setting stream_buffering=2
"

mkfifo go
run --daemonize --report-uri uri sh -c 'read line <go; echo "$line" >said' >out 2>&1
same "mpiexec in the background ends well" "$?" 0
soon test -s uri
listed() { "$vireo" ps 2>&1 | grep -q "$(cat uri)"; }
soon listed
echo word >go
soon test -s said
same "the job has gone on" "$(cat said)" word
# Its process has ended, though perhaps nobody has reaped it.
gone() { ! grep -q '^State:.[^Z]' "/proc/$(cat uri)/status" 2>/dev/null; }
soon gone
run --daemonize no-such-program 2>err
same "a program that is not there is told first" "$?" 127
