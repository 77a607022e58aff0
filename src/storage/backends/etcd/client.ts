// Calls to an etcd cluster: to one member, and to the next when that one does not answer.
import type { SecureClientSessionOptions } from 'node:http2';
import {
  type GrpcChannel,
  GrpcError,
  type GrpcStream,
  grpcStatus,
  openChannel,
} from '../../../host/grpc/channel.ts';
import { StoreError } from '../../store-error.ts';
import {
  decodeLeaseTimeToLive,
  decodeRange,
  decodeTransaction,
  decodeVersion,
  encodeCompaction,
  encodeLeaseGrant,
  encodeLeaseTimeToLive,
  encodeRange,
  encodeTransaction,
  type RangeRequest,
  type RangeResponse,
  type TransactionRequest,
  type TransactionResponse,
} from './messages.ts';
import { type Measure, rangeLabels, transactionLabels, unmeasured } from './metrics.ts';

export type EtcdClientOptions = {
  /** `http://host:port` or `https://host:port`, one for each member. */
  readonly endpoints: readonly string[];
  readonly tls?: Pick<SecureClientSessionOptions, 'ca' | 'cert' | 'key'>;
  /** Absent: calls are not measured. */
  readonly measure?: Measure;
};

/** All throw StoreError; after `unavailable` a write may or may not have happened. */
export type EtcdClient = {
  /** Linearizable: includes everything that was acknowledged to any client. */
  readonly range: (request: RangeRequest) => Promise<RangeResponse>;
  readonly transact: (request: TransactionRequest) => Promise<TransactionResponse>;
  readonly compact: (revision: number) => Promise<void>;
  readonly grantLease: (ttlSeconds: number, id: number) => Promise<void>;
  /** Its remaining seconds. */
  readonly leaseSeconds: (id: number) => Promise<number>;
  readonly openWatch: () => Promise<MemberStream>;
  readonly close: () => void;
};

export type MemberStream = GrpcStream & {
  /** Of the member, such as 3.5.16. */
  readonly version: () => Promise<string>;
  /** Calls go to the next member from now on. */
  readonly switchMember: () => void;
};

/** Longer than an election takes. */
const callTimeoutMs = 8000;

const channelOptions = {
  // A member that is cut off from the others must refuse the call instead of waiting for a leader.
  metadata: { hasleader: 'true' },
  // A page of a list; etcd's own client has no limit either.
  maxMessageBytes: 2 ** 31 - 1,
};

export function createEtcdClient(options: EtcdClientOptions): EtcdClient {
  const { endpoints, tls = {}, measure = unmeasured } = options;
  let channel: GrpcChannel | undefined;
  let member = Math.floor(Math.random() * endpoints.length);
  let isClosed = false;

  const switchMember = (used: GrpcChannel | undefined): void => {
    if (used !== channel) return;
    channel?.close();
    channel = undefined;
    member = (member + 1) % endpoints.length;
  };
  /** An open connection; every member is tried once. */
  const connect = async (): Promise<GrpcChannel> => {
    let failure: unknown;
    for (let tries = 0; tries < endpoints.length && !isClosed; tries += 1) {
      if (channel?.isUsable() !== true)
        channel = openChannel(endpoints[member] ?? '', { ...tls, ...channelOptions });
      const attempt = channel;
      try {
        await attempt.ready;
        return attempt;
      } catch (error) {
        failure = error;
        switchMember(attempt);
      }
    }
    throw unavailable(failure);
  };
  const call = async (path: string, message: Uint8Array): Promise<Uint8Array> => {
    const used = await connect();
    try {
      return await used.call(path, message, callTimeoutMs);
    } catch (error) {
      if (isOutage(error)) switchMember(used);
      throw toStoreError(error);
    }
  };
  /** For idempotent calls: every member is tried. */
  const callWithRetry = async (path: string, message: Uint8Array): Promise<Uint8Array> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await call(path, message);
      } catch (error) {
        const isLast = tries >= endpoints.length + 1 || isClosed;
        if (isLast || !(error instanceof StoreError) || error.reason !== 'unavailable') throw error;
      }
    }
  };
  return {
    range: (request) =>
      measure(rangeLabels(request), async () =>
        decodeRange(await callWithRetry('/etcdserverpb.KV/Range', encodeRange(request))),
      ),
    transact: (request) =>
      measure(transactionLabels(request), async () =>
        decodeTransaction(await call('/etcdserverpb.KV/Txn', encodeTransaction(request))),
      ),
    async compact(revision) {
      await callWithRetry('/etcdserverpb.KV/Compact', encodeCompaction(revision));
    },
    async grantLease(ttlSeconds, id) {
      await call('/etcdserverpb.Lease/LeaseGrant', encodeLeaseGrant(ttlSeconds, id));
    },
    leaseSeconds: async (id) =>
      decodeLeaseTimeToLive(
        await callWithRetry('/etcdserverpb.Lease/LeaseTimeToLive', encodeLeaseTimeToLive(id)),
      ),
    async openWatch() {
      const used = await connect();
      return {
        ...used.stream('/etcdserverpb.Watch/Watch'),
        version: async () =>
          decodeVersion(
            await used.call('/etcdserverpb.Maintenance/Status', new Uint8Array(0), callTimeoutMs),
          ),
        switchMember: () => switchMember(used),
      };
    },
    close() {
      isClosed = true;
      channel?.close();
    },
  };
}

function isOutage(error: unknown): boolean {
  return (
    error instanceof GrpcError &&
    (error.status === grpcStatus.unavailable || error.status === grpcStatus.deadlineExceeded)
  );
}

function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (!(error instanceof GrpcError)) return unavailable(error);
  const { status, message } = error;
  if (status === grpcStatus.outOfRange) {
    return message.includes('compacted')
      ? new StoreError('compacted', `Cannot read that revision: ${message}`, { cause: error })
      : new StoreError('future', `Cannot read that revision: ${message}`, { cause: error });
  }
  if (status === grpcStatus.resourceExhausted && message.includes('space exceeded')) {
    return new StoreError('full', `Cannot write: ${message}`, { cause: error });
  }
  if (tooLargeMessage.test(message)) {
    return new StoreError('large', `Cannot write: ${message}`, { cause: error });
  }
  return unavailable(error);
}

/** etcd's limits, its flags --max-request-bytes and --max-txn-ops. */
const tooLargeMessage = /request is too large|larger than max|too many operations/;

function unavailable(cause: unknown): StoreError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StoreError('unavailable', `Cannot reach etcd: ${reason}`, { cause });
}
