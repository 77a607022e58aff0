// Per-packet counters in memory shared by both threads: counting costs an addition, and a scrape costs the answering thread nothing.
import { rcodes, types } from './wire/record-types.ts';

/** The values of the label `plugin`: '' for queries that were rejected before the chain, then every handler of the chain. */
export const answeredBy = [
  '',
  'refuse',
  'autopath',
  'kubernetes',
  'loop',
  'cache',
  'forward',
] as const;
export type AnsweredBy = (typeof answeredBy)[number];
/** A handler needs a name from this list: its responses are counted under it. */
export type HandlerName = Exclude<AnsweredBy, ''>;

/** CoreDNS' buckets: 0.25 ms, doubled fifteen times. */
export const durationBuckets: readonly number[] = Array.from(
  { length: 16 },
  (_, power) => 0.00025 * 2 ** power,
);
const sizeBuckets = [
  0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16_000, 32_000, 48_000, 64_000,
] as const;
export const protocols = ['udp', 'tcp'] as const;
export const families = ['1', '2'] as const;

/** As CoreDNS: these types have their own label value; all others count as `other`. */
export const countedTypes: readonly string[] = [
  ...['A', 'AAAA', 'CNAME', 'DNSKEY', 'DS', 'HTTPS', 'IXFR', 'AXFR', 'MX', 'NAPTR', 'NS', 'PTR'],
  ...['SOA', 'SRV', 'TXT', 'ANY', 'other'],
];
export const countedRcodes: readonly string[] = [...Object.keys(rcodes), 'other'];
/** Counters and gauges without further labels. */
const scalars = [
  'dnssecOk',
  'cacheHitSuccess',
  'cacheHitDenial',
  'cacheMiss',
  'cacheStale',
  'cachePrefetch',
  'cacheEntriesSuccess',
  'cacheEntriesDenial',
  'autopathSuccess',
  'maxConcurrentRejects',
  'healthcheckBroken',
  'dropped',
  'panics',
  'tcpConnections',
  'tcpRefused',
  'keptAnswers',
  'services',
  'endpoints',
] as const;
export type Scalar = (typeof scalars)[number];

const histogramSize = (buckets: readonly number[]): number => buckets.length + 2;

const lengths = {
  requests: protocols.length * families.length * countedTypes.length,
  responses: countedRcodes.length * answeredBy.length,
  duration: histogramSize(durationBuckets),
  requestSize: protocols.length * histogramSize(sizeBuckets),
  responseSize: protocols.length * histogramSize(sizeBuckets),
  scalars: scalars.length,
};
const starts = startsOf(lengths);
const total = Object.values(lengths).reduce((sum, length) => sum + length, 0);

export type CounterMemory = SharedArrayBuffer;

export function makeCounterMemory(): CounterMemory {
  return new SharedArrayBuffer(total * Float64Array.BYTES_PER_ELEMENT);
}

export type Transfer = { readonly isTcp: boolean; readonly isIPv6: boolean };

export type Counters = {
  readonly request: (type: number, bytes: number, transfer: Transfer) => void;
  readonly response: (rcode: number, by: AnsweredBy, bytes: number, transfer: Transfer) => void;
  readonly duration: (seconds: number, count: number) => void;
  readonly add: (scalar: Scalar, by?: number) => void;
  readonly set: (scalar: Scalar, value: number) => void;
};

/** For the answering thread, the only writer. */
export function createCounters(memory: CounterMemory): Counters {
  const values = new Float64Array(memory);
  const bump = (at: number, by = 1): void => {
    values[at] = (values[at] ?? 0) + by;
  };
  const observe = (start: number, buckets: readonly number[], value: number, count = 1): void => {
    let bucket = 0;
    while (bucket < buckets.length && value > (buckets[bucket] ?? 0)) bucket += 1;
    bump(start + bucket, count);
    bump(start + buckets.length + 1, value * count);
  };
  const sizes = histogramSize(sizeBuckets);
  return {
    request(type, bytes, { isTcp, isIPv6 }) {
      const transfer = (isTcp ? 2 : 0) + (isIPv6 ? 1 : 0);
      bump(starts.requests + transfer * countedTypes.length + (typeIndex[type] ?? otherType));
      observe(starts.requestSize + (isTcp ? sizes : 0), sizeBuckets, bytes);
    },
    response(rcode, by, bytes, { isTcp }) {
      const index = answeredBy.indexOf(by);
      bump(starts.responses + index * countedRcodes.length + (rcodeIndex[rcode] ?? otherRcode));
      observe(starts.responseSize + (isTcp ? sizes : 0), sizeBuckets, bytes);
    },
    duration: (seconds, count) => observe(starts.duration, durationBuckets, seconds, count),
    add: (scalar, by) => bump(starts.scalars + scalars.indexOf(scalar), by),
    set(scalar, value) {
      values[starts.scalars + scalars.indexOf(scalar)] = value;
    },
  };
}

export type HistogramValues = {
  readonly buckets: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
};

/** For the thread that serves the metrics. */
export function readCounters(memory: CounterMemory) {
  const values = new Float64Array(memory);
  const at = (index: number): number => values[index] ?? 0;
  const histogram = (start: number, buckets: readonly number[]): HistogramValues => ({
    buckets,
    counts: [...values.subarray(start, start + buckets.length + 1)],
    sum: at(start + buckets.length + 1),
  });
  const sizes = histogramSize(sizeBuckets);
  return {
    requests: (protocol: number, family: number, type: number): number =>
      at(starts.requests + (protocol * 2 + family) * countedTypes.length + type),
    responses: (by: number, rcode: number): number =>
      at(starts.responses + by * countedRcodes.length + rcode),
    duration: () => histogram(starts.duration, durationBuckets),
    requestSize: (protocol: number) =>
      histogram(starts.requestSize + protocol * sizes, sizeBuckets),
    responseSize: (protocol: number) =>
      histogram(starts.responseSize + protocol * sizes, sizeBuckets),
    scalar: (scalar: Scalar): number => at(starts.scalars + scalars.indexOf(scalar)),
  };
}

const otherType = countedTypes.length - 1;
const otherRcode = countedRcodes.length - 1;
/** Arrays with holes are slow: every number up to the largest has an entry. */
const typeIndex = indexOfNumbers(types, countedTypes);
const rcodeIndex = indexOfNumbers(rcodes, countedRcodes);

function indexOfNumbers(numbers: Readonly<Record<string, number>>, names: readonly string[]) {
  const list = Array.from(
    { length: Math.max(...Object.values(numbers)) + 1 },
    () => names.length - 1,
  );
  for (const [name, number] of Object.entries(numbers)) {
    const index = names.indexOf(name);
    if (index >= 0) list[number] = index;
  }
  return list;
}

function startsOf<K extends string>(
  sizes: Readonly<Record<K, number>>,
): Readonly<Record<K, number>> {
  let start = 0;
  const entries = Object.entries<number>(sizes).map(([name, size]) => {
    const entry = [name, start] as const;
    start += size;
    return entry;
  });
  return Object.fromEntries(entries) as Record<K, number>;
}
