/* A hook as small as one can be: reads all of stdin, prints a decision. */
#include <unistd.h>
int main(void) {
	char buf[65536];
	while (read(0, buf, sizeof buf) > 0) {}
	static const char out[] = "{}";
	return write(1, out, sizeof out - 1) < 0;
}
