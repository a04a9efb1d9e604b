/* Lets a user-mode kernel run on a processor whose extended register state is larger than the kernel
 * was built for (AMX: 11,008 bytes instead of 2,696).
 *
 * Such a kernel hands the host an image of the size it knows with PTRACE_SETREGSET; the host demands
 * the whole size and refuses with EFAULT. Preloaded, this file wraps ptrace(2) and pads the image
 * with zeros, the initial state of the components that the image lacks. It knows nothing else.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PEEKTEXT = 1, PEEKDATA = 2, PEEKUSER = 3, SETREGSET = 0x4205, XSTATE = 0x202 };
enum { LARGEST = 65536 };

/* CPUID leaf 0xD, EBX: bytes that the enabled components of XCR0 take. */
static size_t full_size(void)
{
    unsigned a, b = 0, c, d;
    __get_cpuid_count(0xd, 0, &a, &b, &c, &d);
    return b;
}

long ptrace(int request, ...)
{
    static char image[LARGEST];
    va_list arguments;
    va_start(arguments, request);
    long pid = va_arg(arguments, int);
    void *address = va_arg(arguments, void *);
    void *data = va_arg(arguments, void *);
    va_end(arguments);

    if (request >= PEEKTEXT && request <= PEEKUSER) {
        /* The system call stores the word; the C library's function returns it. */
        long word;
        long failed = syscall(SYS_ptrace, request, pid, address, &word);
        if (failed < 0)
            return failed;
        errno = 0;
        return word;
    }
    if (request == SETREGSET && (long)address == XSTATE) {
        struct iovec given = *(struct iovec *)data;
        size_t full = full_size();
        if (given.iov_len < full && full <= LARGEST) {
            memcpy(image, given.iov_base, given.iov_len);
            memset(image + given.iov_len, 0, full - given.iov_len);
            struct iovec padded = { image, full };
            return syscall(SYS_ptrace, request, pid, address, &padded);
        }
    }
    return syscall(SYS_ptrace, request, pid, address, data);
}
