// Numbers of system calls that the C library has no function for. From 424 on they are the same on all architectures.
export const callNumbers = { openat2: 437 } as const;
