/* The hook without a C library, on Linux and amd64: a static glibc asks the processor what it is some thirty
 * times before main, and each time leaves a virtual machine. That takes longer there than all of the spawn. */
static long call(long n, long a, long b, long c) {
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}

void _start(void) {
	static char buf[65536];
	while (call(0, 0, (long)buf, sizeof buf) > 0) {
	}
	call(60, call(1, 1, (long)"{}", 2) < 0, 0, 0);
}
