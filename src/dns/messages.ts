// What the two threads say to each other: one watches the API server, the other answers.
import type { PodMode } from './cluster/find-rows.ts';
import type { ZoneChange } from './cluster/zone.ts';
import type { CounterMemory } from './counters.ts';
import type { ServerAddress, ServerGroup } from './forward/upstream-servers.ts';
import type { WireName } from './wire/names.ts';

/** Of one address. */
export type SocketDescriptors = { readonly udp: number; readonly tcp: number };

export type AnswerWorkerOptions = {
  readonly listen: readonly ServerAddress[];
  /** Sockets that listen there already, in the same order; absent: they are made. */
  readonly descriptors?: readonly SocketDescriptors[];
  readonly domain: WireName;
  readonly ttl: number;
  /** Seconds for which answers of others are kept at most; 0 keeps none. */
  readonly cacheSeconds: number;
  readonly pods: PodMode;
  readonly ignoreEmptyService: boolean;
  readonly ownAddresses: readonly string[];
  readonly groups: readonly ServerGroup[];
  /** CIDRs; absent: everyone may ask for everything. */
  readonly allow?: readonly string[];
  /** Present: search lists are walked for pods, with what the host adds to them. */
  readonly autopath?: { readonly hostSearch: readonly WireName[] };
  /** Whether to take packets in batches where that can be had. */
  readonly batches: boolean;
  readonly counters: CounterMemory;
};

export type ToAnswerer =
  | { readonly kind: 'changes'; readonly changes: readonly ZoneChange[]; readonly serial: number }
  | { readonly kind: 'synced' }
  | { readonly kind: 'servers'; readonly groups: readonly ServerGroup[] }
  | { readonly kind: 'log'; readonly isOn: boolean }
  | { readonly kind: 'metrics'; readonly id: number }
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
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string }
  | { readonly kind: 'stopped' };
