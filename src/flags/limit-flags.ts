// The flags that bound what clients can take of the server.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultLimits, type Limits } from '../apiserver/limits/limits.ts';
import { seconds } from './parse-flags.ts';

export type LimitFlags = {
  readonly maxRequestsInflight: number;
  readonly maxMutatingRequestsInflight: number;
  readonly maxQueuedRequestsPerUser: number;
  readonly requestQueueWait: number;
  readonly maxWatchesPerUser: number;
  readonly maxTunnelsPerUser: number;
  readonly requestTimeout: number;
  readonly maxRequestBodyBytes: number;
  readonly maxRequestBodyBytesTotal: number;
  readonly maxHeaderBytes: number;
  readonly headerTimeout: number;
  readonly idleTimeout: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerUser: number;
  readonly maxUnreadBytesPerConnection: number;
  readonly maxUnreadBytes: number;
  readonly slowReaderTimeout: number;
};

const inSeconds = (ms: number): number => ms / 1000;

type Flag = {
  readonly flag: string;
  readonly text: string;
  readonly read: (text: string) => number;
  readonly value: number;
};

const flags: readonly Flag[] = [
  {
    flag: '--max-requests-inflight <number>',
    text: 'reads at work at a time, shared fairly between users, 0 for no limit',
    read: count,
    value: defaultLimits.maxRequestsInFlight,
  },
  {
    flag: '--max-mutating-requests-inflight <number>',
    text: 'writes at work at a time, shared fairly between users, 0 for no limit',
    read: count,
    value: defaultLimits.maxMutatingRequestsInFlight,
  },
  {
    flag: '--max-queued-requests-per-user <number>',
    text: 'requests of one user that may wait; more are answered 429',
    read: count,
    value: defaultLimits.maxQueuedRequestsPerUser,
  },
  {
    flag: '--request-queue-wait <time>',
    text: 'how long a request may wait before it is answered 429',
    read: seconds,
    value: inSeconds(defaultLimits.queueWaitMs),
  },
  {
    flag: '--max-watches-per-user <number>',
    text: 'watches that one user may have open; more are answered 429; 0 for no limit',
    read: count,
    value: defaultLimits.maxWatchesPerUser,
  },
  {
    flag: '--max-tunnels-per-user <number>',
    text: 'connections of exec, attach and port-forward that one user may have open; more are answered 429; 0 for no limit',
    read: count,
    value: defaultLimits.maxTunnelsPerUser,
  },
  {
    flag: '--request-timeout <time>',
    text: 'how long a request may take before it is answered 504; streams go on',
    read: seconds,
    value: inSeconds(defaultLimits.requestTimeoutMs),
  },
  {
    flag: '--max-request-body-bytes <number>',
    text: 'size of a request body; larger ones are answered 413',
    read: positive,
    value: defaultLimits.maxBodyBytes,
  },
  {
    flag: '--max-request-body-bytes-total <number>',
    text: 'size of all request bodies being read; more are answered 429',
    read: positive,
    value: defaultLimits.maxBodyBytesTotal,
  },
  {
    flag: '--max-header-bytes <number>',
    text: 'size of the head of a request; larger ones are answered 431 (HTTP/2: 64 KiB at most)',
    read: positive,
    value: defaultLimits.maxHeaderBytes,
  },
  {
    flag: '--header-timeout <time>',
    text: 'how long a client may take to send the head of a request',
    read: seconds,
    value: inSeconds(defaultLimits.headerTimeoutMs),
  },
  {
    flag: '--idle-timeout <time>',
    text: 'how long a connection without a request stays open',
    read: seconds,
    value: inSeconds(defaultLimits.idleTimeoutMs),
  },
  {
    flag: '--max-connections <number>',
    text: 'connections at a time, a quarter of them for clients whose user is not known yet; beyond, whoever has most loses one; 0 for no limit',
    read: count,
    value: defaultLimits.maxConnections,
  },
  {
    flag: '--max-connections-per-user <number>',
    text: 'connections of one user at a time; beyond, the oldest idle one is closed; 0 for no limit',
    read: count,
    value: defaultLimits.maxConnectionsPerUser,
  },
  {
    flag: '--max-unread-bytes-per-connection <number>',
    text: 'what a client may leave unread before its largest answers are broken off',
    read: positive,
    value: defaultLimits.maxUnreadBytesPerConnection,
  },
  {
    flag: '--max-unread-bytes <number>',
    text: 'what all clients may leave unread before the largest answers are broken off',
    read: positive,
    value: defaultLimits.maxUnreadBytes,
  },
  {
    flag: '--slow-reader-timeout <time>',
    text: 'how long a client may take nothing of what waits for it',
    read: seconds,
    value: inSeconds(defaultLimits.slowReaderTimeoutMs),
  },
];

export function addLimitFlags(command: Command): Command {
  for (const { flag, text, read, value } of flags) {
    const usual = read === seconds ? `${value}s` : `${value}`;
    command.addOption(new Option(flag, text).argParser(read).default(value, usual));
  }
  return command;
}

export function limitsOf(given: LimitFlags): Limits {
  return {
    maxRequestsInFlight: given.maxRequestsInflight,
    maxMutatingRequestsInFlight: given.maxMutatingRequestsInflight,
    maxQueuedRequestsPerUser: given.maxQueuedRequestsPerUser,
    queueWaitMs: given.requestQueueWait * 1000,
    maxWatchesPerUser: given.maxWatchesPerUser,
    maxTunnelsPerUser: given.maxTunnelsPerUser,
    requestTimeoutMs: given.requestTimeout * 1000,
    maxBodyBytes: given.maxRequestBodyBytes,
    maxBodyBytesTotal: given.maxRequestBodyBytesTotal,
    maxHeaderBytes: given.maxHeaderBytes,
    headerTimeoutMs: given.headerTimeout * 1000,
    idleTimeoutMs: given.idleTimeout * 1000,
    maxConnections: given.maxConnections,
    maxConnectionsPerUser: given.maxConnectionsPerUser,
    maxUnreadBytesPerConnection: given.maxUnreadBytesPerConnection,
    maxUnreadBytes: given.maxUnreadBytes,
    slowReaderTimeoutMs: given.slowReaderTimeout * 1000,
  };
}

function count(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError(`"${text}" is not a number; it must be a whole one, 0 or more.`);
}

function positive(text: string): number {
  const value = count(text);
  if (value > 0) return value;
  throw new InvalidArgumentError('it must be at least 1.');
}
