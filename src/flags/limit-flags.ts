// The flags that limit what clients may use of the server.
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
    text: 'Maximum number of concurrent read requests, shared fairly between users. 0 disables the limit',
    read: count,
    value: defaultLimits.maxRequestsInFlight,
  },
  {
    flag: '--max-mutating-requests-inflight <number>',
    text: 'Maximum number of concurrent mutating requests, shared fairly between users. 0 disables the limit',
    read: count,
    value: defaultLimits.maxMutatingRequestsInFlight,
  },
  {
    flag: '--max-queued-requests-per-user <number>',
    text: 'Maximum number of queued requests per user. Further requests are answered with 429',
    read: count,
    value: defaultLimits.maxQueuedRequestsPerUser,
  },
  {
    flag: '--request-queue-wait <time>',
    text: 'Maximum time that a request is queued before it is answered with 429',
    read: seconds,
    value: inSeconds(defaultLimits.queueWaitMs),
  },
  {
    flag: '--max-watches-per-user <number>',
    text: 'Maximum number of open watches per user. Further watches are answered with 429. 0 disables the limit',
    read: count,
    value: defaultLimits.maxWatchesPerUser,
  },
  {
    flag: '--max-tunnels-per-user <number>',
    text: 'Maximum number of open exec, attach and port-forward connections per user. Further ones are answered with 429. 0 disables the limit',
    read: count,
    value: defaultLimits.maxTunnelsPerUser,
  },
  {
    flag: '--request-timeout <time>',
    text: 'Maximum duration of a request, except for streams, before it is answered with 504',
    read: seconds,
    value: inSeconds(defaultLimits.requestTimeoutMs),
  },
  {
    flag: '--max-request-body-bytes <number>',
    text: 'Maximum size of a request body. Larger ones are answered with 413',
    read: positive,
    value: defaultLimits.maxBodyBytes,
  },
  {
    flag: '--max-request-body-bytes-total <number>',
    text: 'Maximum size of all request bodies that are being read. Further requests are answered with 429',
    read: positive,
    value: defaultLimits.maxBodyBytesTotal,
  },
  {
    flag: '--max-header-bytes <number>',
    text: 'Maximum size of the request header. Larger ones are answered with 431. HTTP/2 allows at most 64 KiB',
    read: positive,
    value: defaultLimits.maxHeaderBytes,
  },
  {
    flag: '--header-timeout <time>',
    text: 'Maximum time to receive a request header',
    read: seconds,
    value: inSeconds(defaultLimits.headerTimeoutMs),
  },
  {
    flag: '--idle-timeout <time>',
    text: 'Time after which an idle connection is closed',
    read: seconds,
    value: inSeconds(defaultLimits.idleTimeoutMs),
  },
  {
    flag: '--max-connections <number>',
    text: 'Maximum number of connections, of which unauthenticated clients get a quarter. Beyond it the client with the most connections loses one. 0 disables the limit',
    read: count,
    value: defaultLimits.maxConnections,
  },
  {
    flag: '--max-connections-per-user <number>',
    text: 'Maximum number of connections per user. Beyond it the oldest idle connection is closed. 0 disables the limit',
    read: count,
    value: defaultLimits.maxConnectionsPerUser,
  },
  {
    flag: '--max-unread-bytes-per-connection <number>',
    text: 'Maximum number of bytes that a client may leave unread before its largest responses are aborted',
    read: positive,
    value: defaultLimits.maxUnreadBytesPerConnection,
  },
  {
    flag: '--max-unread-bytes <number>',
    text: 'Maximum number of bytes that all clients together may leave unread before the largest responses are aborted',
    read: positive,
    value: defaultLimits.maxUnreadBytes,
  },
  {
    flag: '--slow-reader-timeout <time>',
    text: 'Time after which a response is aborted when its client reads nothing',
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
