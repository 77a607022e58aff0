// One line of the result.

export type Figure = {
  readonly row: string;
  readonly what: string;
  readonly unit: '/s' | 'ms' | 's' | 'us' | 'MiB' | 'writes' | 'connections';
  readonly value: number;
  /** At least this much where more is better, at most where less is. */
  readonly goal?: number;
  /** What Kubernetes reached on a machine of this kind on another day. */
  readonly upstream?: string;
  /** Of the server, for each request or event. */
  readonly cpuMicros?: number;
  readonly p50?: number;
  readonly p99?: number;
  /** The bare server in the same run. */
  readonly ceiling?: { readonly value: number; readonly cpuMicros?: number };
};

export function reachesGoal({ unit, value, goal }: Figure): boolean | undefined {
  if (goal === undefined) return undefined;
  return unit === '/s' ? value >= goal : value <= goal;
}
