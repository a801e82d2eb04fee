// The clocks of C and C++ compared with MPI's: in microseconds, or that they show
// this computer's time.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>

#include <mpi.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  using namespace std::chrono;
  const double wtime = MPI_Wtime();
  timespec now;
  timeval day;
  clock_gettime(CLOCK_MONOTONIC, &now);
  gettimeofday(&day, nullptr);
  const auto steady = steady_clock::now().time_since_epoch();
  const auto date = system_clock::now().time_since_epoch();
  const clock_t used = clock();
  usleep(2000);
  const auto rested = steady_clock::now().time_since_epoch() - steady;
  timespec utc;
  const int known = timespec_get(&utc, TIME_UTC);
  const time_t seconds = time(nullptr);
  if (rank == 0 && seconds > 1000000000) {
    const auto off = static_cast<long long>(seconds) - day.tv_sec,
               other = static_cast<long long>(utc.tv_sec) - day.tv_sec;
    // time() returns the second of the last tick, which may still be the previous one.
    const bool right = off >= -1 && off < 60 && other >= 0 && other < 60 &&
                       duration_cast<std::chrono::seconds>(date).count() - day.tv_sec < 60;
    // The library's passes one timespec for the time to sleep and for what is left of it.
    const auto before = steady_clock::now();
    std::this_thread::sleep_for(milliseconds(20));
    const bool slept = steady_clock::now() - before >= milliseconds(20);
    printf("this computer's: %d, rested %d\n", right && used >= 0 && known == TIME_UTC,
           rested >= milliseconds(2) && slept);
  } else if (rank == 0) {
    const auto us = [](auto time) {
      return static_cast<long long>(duration_cast<microseconds>(time).count());
    };
    printf("%.0f %lld %lld %lld %lld %lld, rested %lld, then %lld, %lld s\n", wtime * 1e6,
           now.tv_sec * 1000000LL + now.tv_nsec / 1000, day.tv_sec * 1000000LL + day.tv_usec,
           us(steady), us(date), static_cast<long long>(used), us(rested),
           utc.tv_sec * 1000000LL + utc.tv_nsec / 1000, static_cast<long long>(seconds));
  }
  MPI_Finalize();
}
