/* A worker as small as one can be: answers each line with an empty object, after pawl's greeting. */
#include <string.h>
#include <unistd.h>
int main(void) {
	char buf[65536];
	long n;
	while ((n = read(0, buf, sizeof buf)) > 0) {
		for (long i = 0; i < n; i++) {
			if (buf[i] == '\n' && write(1, "{}\n", 3) < 0) return 1;
		}
	}
	return 0;
}
