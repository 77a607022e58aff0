// System calls for which C libraries have no function. From 424 on all processors share the numbers.
export const callNumbers = { openat2: 437 } as const;
