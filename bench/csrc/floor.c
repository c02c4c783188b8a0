/* The floor of a spawn: vfork, exec, three pipes and one poll loop. Runs argv[2] argv[1] times with what
 * stands on stdin, and prints the nanoseconds of each run, a line each. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char input[1 << 16], scratch[1 << 16];

static long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void one(char *prog, long n) {
	int in[2], out[2], err[2];
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) exit(1);
	pid_t pid = vfork();
	if (pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		char *args[] = {prog, NULL};
		execv(prog, args);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	struct pollfd p[3] = {{in[1], POLLOUT, 0}, {out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
	long sent = 0;
	for (int open = 2; open > 0;) {
		poll(p, 3, -1);
		if (p[0].fd >= 0 && p[0].revents) {
			long w = write(p[0].fd, input + sent, n - sent);
			if (w > 0) sent += w;
			if (w <= 0 || sent == n) {
				close(p[0].fd);
				p[0].fd = -1;
			}
		}
		for (int i = 1; i < 3; i++) {
			if (p[i].fd >= 0 && p[i].revents && read(p[i].fd, scratch, sizeof scratch) <= 0) {
				close(p[i].fd);
				p[i].fd = -1;
				open--;
			}
		}
	}
	if (p[0].fd >= 0) close(p[0].fd);
	int status;
	waitpid(pid, &status, 0);
}

int main(int argc, char **argv) {
	if (argc < 3) return 2;
	long n = 0, r;
	while ((r = read(0, input + n, sizeof input - n)) > 0) n += r;
	for (int i = atoi(argv[1]); i > 0; i--) {
		long began = now();
		one(argv[2], n);
		printf("%ld\n", now() - began);
	}
	return 0;
}
