# Collectives written on point-to-point calls, proved by `wormcube prove`, and mutants of each, which it finds.
# SPDX-License-Identifier: Apache-2.0
set(proved_folder ${CMAKE_CURRENT_SOURCE_DIR}/proved)
find_program(WORMCUBE_CC_OF_PROOFS NAMES cc gcc clang REQUIRED)

# prove(NAME ARGUMENTS EXPECTED [MUTANT N]): the end of both outputs, each blank or line end one blank, then the exit code, as a
# regular expression.
function(prove name arguments expected)
  cmake_parse_arguments(PARSE_ARGV 3 prove "" "MUTANT" "")
  add_test(NAME "prove: ${name}"
           COMMAND sh -c "cd '${proved_folder}'; { '${program}' prove ${arguments}; echo code $?; } 2>&1 | tr -s '\\n# ' ' '")
  set_tests_properties("prove: ${name}" PROPERTIES PASS_REGULAR_EXPRESSION "${expected}[ \n]" LABELS unit TIMEOUT 900)
  if(prove_MUTANT)
    set_tests_properties("prove: ${name}" PROPERTIES ENVIRONMENT "WORMCUBE_CC=${WORMCUBE_CC_OF_PROOFS} -D MUTANT=${prove_MUTANT}")
  endif()
endfunction()

# mutant(FILE NUMBER RANKS CALL FINDING [ARGUMENTS]): the first wrong call, and what is wrong.
function(mutant file number ranks call finding)
  prove("${file}, mutant ${number}" "${file}.c --as allreduce --ranks 1..16 --quiet ${ARGN}"
        "NO FAILED ${ranks}, ${call} ${finding} code 1" MUTANT ${number})
endfunction()
function(mutant_hangs file number ranks finding)
  prove("${file}, mutant ${number}" "${file}.c --as allreduce --ranks 1..16 --quiet ${ARGN}"
        "FAILED ${ranks}, .*wormcube: deadlock: all .* wait and no message is under way .*${finding}.* code 3|wormcube: deadlock: all .*${finding}.* FAILED ${ranks}.* code 3"
        MUTANT ${number})
endfunction()

# Three all-reduces of MPICH, for 1 to 64 ranks.
if(NOT WORMCUBE_SANITIZE)  # minutes there; the proofs below run the same code on fewer ranks
  prove("recursive doubling" "recursive_doubling.c --as allreduce" "64 65 6 6 6 384 384 kept alike yes .*proved 4136 calls on 1..64 ranks code 0")
  prove("reduce-scatter and all-gather" "reduce_scatter_allgather.c --as allreduce" "64 65 12 1.969 0.9844 768 126 kept alike yes .*proved 4136 calls on 1..64 ranks code 0")
  prove("recursive multiplying, with operators that commute" "recursive_multiplying.c --as allreduce --commutative" "proved 2100 calls on 1..64 ranks code 0")
endif()
prove("recursive multiplying, in order with powers of its radix" "recursive_multiplying.c --as allreduce --ranks 1,3,9,27" "27 65 .*kept alike yes .*proved 244 calls on 1,3,9,27 ranks code 0")
prove("recursive multiplying does not keep the order otherwise" "recursive_multiplying.c --as allreduce --quiet"
      "FAILED 2 ranks, 1 element, an operator that does not commute wrong rank 0 ends with {1 0}, not {0..1}, in element 0 cause rank 0 combines 1 with 0: no result in the order of ranks has this part; the last of it was brought by MPI_Recv at recursive_multiplying.c:[0-9]+ on rank 0, source 1, tag 1, step 0 code 1")

set(in_order "an operator that does not commute")
mutant(recursive_doubling 1 "1 rank" "1 element, gaps in the datatype, ${in_order}" "wrong rank 0 ends with nothing .never written., not 0, in element 0 cause no call wrote it")
mutant(recursive_doubling 2 "1 rank" "1 element, in place, ${in_order}" "wrong rank 0 ends with .*, not 0, in element 0 cause .*")
mutant(recursive_doubling 3 "3 ranks" "1 element, ${in_order}" "wrong rank 0 ends with {1..2}, not {0..2}, in element 0 cause brought by MPI_Recv at recursive_doubling.c:[0-9]+ on rank 0, source 1, tag 4, step 2")
mutant_hangs(recursive_doubling 4 "2 ranks" "0 MPI_Recv source 1, tag 2 .*advice: every rank of this cycle receives before it sends")
mutant_hangs(recursive_doubling 5 "2 ranks" "0 MPI_Send receive by dest 1, tag 2 .*advice: the sends of this cycle wait for each other: the program relies on buffering")
mutant_hangs(recursive_doubling 6 "8 ranks" "near miss: rank 0 waits for tag 2 from 4; it holds a message from 4 with tag 3")
mutant(recursive_doubling 7 "2 ranks" "1 element, ${in_order}" "wrong rank 0 ends with 1, not {0..1}, in element 0 cause brought by MPI_Sendrecv at recursive_doubling.c:[0-9]+ on rank 0, source 1, tag 2, step 0")
mutant(recursive_doubling 8 "2 ranks" "1 element, ${in_order}" "wrong rank 0 ends with {1 0}, not {0..1}, in element 0 cause rank 0 combines 1 with 0: no result in the order of ranks has this part; the last of it was brought by MPI_Sendrecv at recursive_doubling.c:[0-9]+ on rank 0, source 1, tag 2, step 0")
mutant(recursive_doubling 9 "3 ranks" "1 element, ${in_order}" "wrong rank 0 ends with 0, not {0..2}, in element 0 cause no message brought it")
prove("a function that relies on buffers, with buffers" "recursive_doubling.c --as allreduce --ranks 1..9 --eager 64K" "proved 561 calls on 1..9 ranks code 0" MUTANT 5)

mutant(recursive_multiplying 1 "2 ranks" "1 element, an operator that commutes" "wrong rank 0 ends with 0, not {0..1}, in element 0 cause no message brought it" --commutative)
mutant_hangs(recursive_multiplying 2 "7 ranks" "6 MPI_Send receive by dest 0, tag 1 .*ranks that have returned from the call, and wait in MPI_Barrier for the others: 1 2 3 4 5" --commutative)
mutant(recursive_multiplying 3 "3 ranks" "1 element, an operator that commutes" "wrong rank 0 ends with .*, not {0..2}, in element 0 cause .* is not an element.*" --commutative)
prove("recursive_multiplying, mutant 4 in the wrong order" "recursive_multiplying.c --as allreduce --ranks 3 --quiet"
      "wrong rank 1 ends with {1 0 2}, not {0..2}, in element 0 cause rank 1 combines 1 with 0: no result in the order of ranks has this part; .*source 0, tag 2, step 0 code 1" MUTANT 4)
mutant(recursive_multiplying 5 "3 ranks" "2 elements, an operator that commutes" "wrong rank 0 ends with {0 0..2}, not {0..2}, in element 0 cause rank 0 combines 0 with {0..2}: rank 0's element is in both; the last of it was brought by MPI_Irecv at recursive_multiplying.c:[0-9]+ on rank 0, source 2, tag 2, step 0" --commutative)

mutant(reduce_scatter_allgather 1 "2 ranks" "1 element, ${in_order}" "wrong rank 0 ends with 0, not {0..1}, in element 0 cause no message brought it")
mutant(reduce_scatter_allgather 2 "2 ranks" "1 element, ${in_order}" "wrong rank 1: MPI_Sendrecv: the message from rank 0, tag 2 has 8 bytes, but the buffer has room for 0 .MPI_ERR_TRUNCATE. at reduce_scatter_allgather.c:[0-9]+")
mutant(reduce_scatter_allgather 3 "2 ranks" "2 elements, ${in_order}" "wrong rank 0 ends with {1 0}, not {0..1}, in element 0 cause rank 0 combines 1 with 0: .*")
mutant(reduce_scatter_allgather 4 "2 ranks" "2 elements, ${in_order}" "wrong rank 0 ends with {0..1} of element 1, not {0..1}, in element 0 cause brought by MPI_Sendrecv at reduce_scatter_allgather.c:[0-9]+ on rank 0, source 1, tag 3, step 1")
mutant(reduce_scatter_allgather 5 "2 ranks" "5 elements, ${in_order}" "wrong rank 0 writes into its send buffer, in element 0")
mutant_hangs(reduce_scatter_allgather 6 "6 ranks" "2 MPI_Recv source 5, tag 4 .*wait in MPI_Barrier for the others: 0 1 4 5")

# The other operations, with all roots, and a mutant of each.
function(prove_other operation name calls finding)
  prove("${operation}" "others.c --as ${operation} --function ${name} --ranks 1..9" "proved ${calls} calls on 1..9 ranks code 0")
  prove("${operation}, its mutant" "others.c --as ${operation} --function ${name} --ranks 1..9 --quiet" "${finding} code 1" MUTANT 1)
endfunction()
prove_other(broadcast tree_broadcast 547 "FAILED 2 ranks, 1 element, root 1 wrong rank 0 ends with nothing .never written., not 1, in element 0 cause no call wrote it")
prove_other(reduce tree_reduce 1289 "FAILED 2 ranks, 1 element, root 0, ${in_order} wrong rank 1 writes into its receive buffer, which is meaningful only at the root, in element 0")
prove_other(gather linear_gather 845 "FAILED 3 ranks, 1 element, root 0.* wrong rank 0 ends with 2, not 1, in element 0 of block 1 cause brought by MPI_Recv at others.c:[0-9]+ on rank 0, source 2, tag 1, step 0")
prove_other(scatter linear_scatter 845 "FAILED 2 ranks, 1 element, root 0 wrong rank 1 ends with 0.0, not 0.1, in element 0 cause brought by MPI_Recv at others.c:[0-9]+ on rank 1, source 0, tag 1, step 0")
prove_other(allgather ring_allgather 279 "FAILED 3 ranks, 1 element wrong rank 0 ends with nothing .never written., not 1, in element 0 of block 1 cause no call wrote it")
prove_other(alltoall shift_alltoall 279 "FAILED 3 ranks, 1 element wrong rank 0 ends with 1.2, not 1.0, in element 0 of block 1 cause brought by MPI_Sendrecv at others.c:[0-9]+ on rank 0, source 1, tag 2, step 1")
prove_other(scan linear_scan 561 "FAILED 2 ranks, 5 elements, ${in_order} wrong rank 1 ends with 1, not {0..1}, in element 4 cause no message brought it")
prove_other(exscan linear_exscan 561 "FAILED 2 ranks, 1 element, ${in_order} wrong rank 1 ends with {0..1}, not 0, in element 0 cause brought by MPI_Recv at others.c:[0-9]+ on rank 1, source 0, tag 1, step 0")
prove_other(reduce_scatter direct_reduce_scatter 441 "FAILED 2 ranks, 1 element, ${in_order} wrong rank 0 ends with 0.0, not {0..1}.0, in element 0 cause no message brought it")
prove_other(barrier dissemination_barrier 27 "FAILED 3 ranks, no data wrong node 0 leaves before node 1 has come")

set(of_others "others.c --ranks 2 --quiet --function")
prove("a part of an element" "${of_others} half_elements --as broadcast" "FAILED 2 ranks, 1 element, root 0 wrong rank 1 ends with a value that is not an element .bytes 0x[0-9a-f]+., not 0, in element 0 cause no element has these bytes: an element was used in arithmetic, or copied only in part code 1")
prove("elements that are computed with" "${of_others} sum_of_bits --as allreduce" "wrong rank 0 ends with a value that is not an element .bytes 0x[0-9a-f]+., not {0..1}, in element 0 cause no element has these bytes: an element was used in arithmetic, or copied only in part code 1")
if(NOT WORMCUBE_SANITIZE)  # which report a crash themselves
  prove("a crash" "${of_others} crash --as broadcast" "FAILED 2 ranks, 0 elements, root 0 wrong the process ends with code [0-9]+: .*rank 1: segmentation fault at others.c:[0-9]+ .address 0x0., after MPI_Comm_size code 1")
endif()
prove("a rank that polls for ever" "${of_others} poll_for_ever --as broadcast --stall 0.5" "wormcube: hangs: all ranks have only polled or waited for 0.5 s rank call .*MPI_Iprobe.*code 3.*")
prove("a message that nobody receives" "${of_others} leaves_a_message --as broadcast" "FAILED 2 ranks, 0 elements, root 0 wrong rank 1 sends 0 bytes to rank 0 with tag 8 .MPI_Isend at others.c:[0-9]+., and no receive takes them code 1")
prove("calls that are passed on" "others.c --ranks 3 --function passes_on --as broadcast" "3 .* no schedule and no counts: the call is passed on to PMPI_Bcast proved 57 calls on 3 ranks code 0")
set(any_source "a receive or probe is from MPI_ANY_SOURCE: two orders of arrival are tried; such receives take the first message to arrive, or the last\\.")
prove("receives from any source, in two orders of arrival" "others.c --ranks 1..5 --function chained_gather --as gather"
      "${any_source}.* proved 565 calls on 1..5 ranks code 0")
prove("what is right in one order of arrival only" "others.c --ranks 1..5 --function chained_gather --as gather"
      "${any_source}.*FAILED 3 ranks, 1 element, root 0; receives from MPI_ANY_SOURCE take the last message to arrive wrong rank 0 ends with 2, not 1, in element 0 of block 1 cause brought by MPI_Recv at others.c:[0-9]+ on rank 0, source 2, tag 1, step [0-9]+ code 1" MUTANT 1)
# What only some calls show: an open request, MPI_COMM_WORLD, the other side's datatype.
prove("a request that is open at the end" "others.c --ranks 3 --quiet --function leaves_open --as broadcast"
      "FAILED 3 ranks, 0 elements, root 0 wrong rank 0 returns before MPI_Isend at others.c:[0-9]+ is complete cause no MPI_Wait or MPI_Test completes its request code 1")
prove("a request that is freed too early" "others.c --ranks 3 --quiet --function frees_early --as broadcast"
      "FAILED 3 ranks, 1 element, root 0.* wrong rank 0 returns before MPI_Isend at others.c:[0-9]+ is complete cause its request is freed, and nothing shows that its transfer is done code 1")
prove("a request that is freed when its transfer is done" "others.c --ranks 1..6 --function frees_when_done --as broadcast" "proved [0-9]+ calls on 1..6 ranks code 0")
prove("receives that are cancelled, collectives that are not waited for" "others.c --ranks 1..4 --function cancels_receives --as broadcast" "proved [0-9]+ calls on 1..4 ranks code 0")
prove("a collective that is not waited for" "others.c --ranks 3 --quiet --function leaves_collective --as broadcast"
      "wrong rank 0 returns before MPI_Ibarrier at others.c:[0-9]+ is complete cause .* code 1")
prove("the world in place of the communicator" "others.c --ranks 3 --quiet --function on_world --as broadcast"
      "FAILED 3 ranks, 1 element, root 0, on ranks 3, 2, 1 of MPI_COMM_WORLD .*cause .*MPI_Recv at others.c:[0-9]+ uses MPI_COMM_WORLD, not the communicator that the function is given code [13]")
prove("a message on the world, to the right rank" "others.c --ranks 3 --quiet --function through_world --as broadcast"
      "FAILED 3 ranks, [17] elements?, root 0, .*on ranks [0-9, ]+ of MPI_COMM_WORLD .*MPI_(Send|Recv) at others.c:[0-9]+ uses MPI_COMM_WORLD, not the communicator that the function is given code [13]")
prove("ranks of an earlier communicator" "others.c --ranks 3 --quiet --function keeps_ranks --as broadcast"
      "FAILED 3 ranks, .*on ranks 1, 0, 2 of MPI_COMM_WORLD .*cause .*the same call is right on a communicator with all ranks of MPI_COMM_WORLD in their order code [13]")
prove("the other side's datatype" "others.c --ranks 3 --quiet --function one_type --as allgather"
      "FAILED 3 ranks, 1 element, send block: one element with gaps wrong rank 0 ends with a value that is not an element .* code 1")
prove("the root's datatype for all ranks" "others.c --ranks 3 --quiet --function as_bytes --as broadcast"
      "FAILED 3 ranks, 1 element, root 0, gaps in .* code 1")
# The same on functions whose messages are drawn at random: right ones are proved, and ones that are wrong in one place are not.
set(random_seeds 1 2 3)
foreach(operation broadcast gather scatter allgather alltoall allreduce)
  set(kinds none open world)
  if(operation MATCHES "gather|scatter|all.*all")
    list(APPEND kinds types)
  endif()
  string(REPLACE ";" " " seeds "${random_seeds}")
  string(REPLACE ";" " " kinds "${kinds}")
  add_test(NAME "prove: random functions, ${operation}" COMMAND sh -c "cd '${proved_folder}'; at=$(mktemp -d) && trap 'rm -r $at' EXIT
    echo 'int main(void) { return 0; }' > $at/main.c && '${program}' mpicc -g -O1 -Wall -Wextra -Werror random_functions.c $at/main.c -o $at/random || exit 1
    for seed in ${seeds}; do for WRONG in ${kinds}; do
      export WRONG SEED=$seed
      '${program}' prove $at/random --as ${operation} --function random_${operation} --ranks 1..4 --counts 1,3 --quiet > $at/out 2>&1
      code=$?
      case $WRONG.$code in
        none.0) grep -q '^# proved ' $at/out ;;
        open.1) grep -q 'returns before MPI_.* is complete' $at/out ;;
        world.[13]) tr -s '\n# ' ' ' < $at/out | grep -q 'of MPI_COMM_WORLD.*cause .*\\(uses MPI_COMM_WORLD\\|is right on a communicator with all\\)' ;;
        types.1) grep -q 'block: one element with gaps' $at/out ;;
        *) false ;;
      esac || { echo \"seed $seed, $WRONG, code $code\"; cat $at/out; exit 1; }
    done; done")
  set_tests_properties("prove: random functions, ${operation}" PROPERTIES LABELS unit TIMEOUT 300)
endforeach()
# A file of an earlier run is no schedule.
file(WRITE ${mpi_folder}/earlier.txt "earlier")
prove("a schedule that does not exist" "others.c --ranks 3 --function passes_on --as broadcast --quiet --write-schedule '${mpi_folder}/earlier.txt'"
      "wormcube: --write-schedule: there is no schedule; the notes say why code 2")

prove("its own schedule is proved again, and drawn" "reduce_scatter_allgather.c --as allreduce --ranks 6 --quiet --write-schedule '${mpi_folder}/proved.txt' &&
  '${program}' check --schedule '${mpi_folder}/proved.txt' | grep -E 'start-ups   |delivered|order' && '${program}' draw --schedule '${mpi_folder}/proved.txt' --html '${mpi_folder}/proved.html' --quiet &&
  '${program}' show --schedule '${mpi_folder}/proved.txt' --write-schedule - --quiet | diff - '${mpi_folder}/proved.txt'"
      "6 65 6 3.667 1.833 20 10 kept alike yes .*start-ups 6 .* delivered yes .*order kept .*code 0")
prove("a program instead of a source file" "'${mpi_folder}/hello' --as broadcast" "wormcube: .*hello defines no function MPI_Bcast; define it .not static, in C.. extern \"C\"., or name another one by --function code 2")
prove("a file without the function" "recursive_doubling.c --as broadcast" "wormcube: recursive_doubling.c defines no function MPI_Bcast; .* code 2")
prove("a program that does not start" "endless_start.c --as barrier --ranks 2 --time-limit 1"
      "time limit of 1 s: the program has not begun its first call .*code 4")
# A compiler that never ends, as of a file that includes a device.
file(WRITE ${mpi_folder}/endless_compiler "#!/bin/sh\nwhile :; do :; done\n")
file(CHMOD ${mpi_folder}/endless_compiler PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
prove("a file that does not compile in time" "others.c --as barrier --ranks 2 --time-limit 1"
      "wormcube: prove: others.c is not compiled after 1 s, the time limit code 4")
set_tests_properties("prove: a file that does not compile in time" PROPERTIES ENVIRONMENT "WORMCUBE_CC=${mpi_folder}/endless_compiler")
prove("a file that is not there" "none.c --as broadcast" "wormcube: prove: there is no file none.c code 2")
prove("an operation without a function" "others.c --as shift" "wormcube: --as: unknown value 'shift'.*; available: broadcast reduce .* code 2")
prove("no numbers of ranks" "others.c --as barrier --ranks 3..2" "wormcube: --ranks 3..2: '3..2' contains no number of ranks; write numbers from 1 on, the smaller first code 2")
prove("a schedule of several numbers of ranks" "others.c --as barrier --write-schedule x" "wormcube: --write-schedule writes one schedule, but --ranks 1..64 names 64 numbers of ranks; name one, as in --ranks 8 code 2")
set_tests_properties("prove: a program instead of a source file" PROPERTIES FIXTURES_REQUIRED mpi_programs)
