// Messages between the watching thread and the answering thread.
import type { PodMode } from './cluster/find-rows.ts';
import type { ZoneChange } from './cluster/zone.ts';
import type { CounterMemory } from './counters.ts';
import type { ServerAddress, ServerGroup } from './forward/upstream-servers.ts';
import type { WireName } from './wire/names.ts';

/** The sockets of one listen address. */
export type SocketDescriptors = { readonly udp: number; readonly tcp: number };

export type AnswerWorkerOptions = {
  readonly listen: readonly ServerAddress[];
  /** Sockets that are already bound, in the same order; absent: the thread opens them. */
  readonly descriptors?: readonly SocketDescriptors[];
  readonly domain: WireName;
  readonly ttl: number;
  /** The maximum TTL of the upstream cache in seconds; 0 disables it. */
  readonly cacheSeconds: number;
  readonly pods: PodMode;
  readonly ignoreEmptyService: boolean;
  readonly ownAddresses: readonly string[];
  readonly groups: readonly ServerGroup[];
  /** CIDRs of clients that may resolve names outside of the cluster; absent: all. */
  readonly allow?: readonly string[];
  /** Present: autopath is on; with the search domains of the host. */
  readonly autopath?: { readonly hostSearch: readonly WireName[] };
  /** Whether to use recvmmsg and sendmmsg where available. */
  readonly batches: boolean;
  readonly counters: CounterMemory;
};

export type ToAnswerer =
  | { readonly kind: 'changes'; readonly changes: readonly ZoneChange[]; readonly serial: number }
  | { readonly kind: 'synced' }
  | { readonly kind: 'servers'; readonly groups: readonly ServerGroup[] }
  | { readonly kind: 'log'; readonly isOn: boolean }
  | { readonly kind: 'metrics'; readonly id: number }
  /** Answered with `applied`, when all messages before it have been processed. */
  | { readonly kind: 'apply'; readonly id: number }
  | { readonly kind: 'stop' };

export type LogLine = {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  readonly message: string;
  readonly fields: Readonly<Record<string, string | number | boolean>>;
};

export type FromAnswerer =
  | {
      readonly kind: 'listening';
      readonly addresses: readonly ServerAddress[];
      readonly inBatches: boolean;
    }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'log'; readonly line: LogLine }
  | { readonly kind: 'answered'; readonly lines: readonly string[] }
  | { readonly kind: 'metrics' | 'applied'; readonly id: number; readonly text: string }
  | { readonly kind: 'stopped' };
