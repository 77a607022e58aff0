// etcd's v3 messages, as far as a store needs them (etcdserverpb/rpc.proto, mvccpb/kv.proto). Numbers are field numbers.
import { type Fields, type ProtobufWriter, readFields, writeMessage } from './protobuf.ts';

export type KeyValue = {
  readonly key: string;
  readonly value: Uint8Array;
  readonly createRevision: number;
  readonly modRevision: number;
  /** Absent: the key stays. */
  readonly lease?: number;
};

export type RangeRequest = {
  readonly key: string;
  /** Absent: this key alone. */
  readonly rangeEnd?: Uint8Array;
  readonly limit?: number;
  readonly revision?: number;
  readonly isCountOnly?: boolean;
};

export type RangeAnswer = {
  readonly revision: number;
  readonly entries: readonly KeyValue[];
  readonly more: boolean;
};

export type Operation =
  | {
      readonly kind: 'put';
      readonly key: string;
      readonly value: Uint8Array;
      readonly lease: number;
    }
  | { readonly kind: 'delete'; readonly key: string }
  | { readonly kind: 'get'; readonly key: string };

export type TransactionRequest = {
  /** Keys that must be at exactly these revisions; 0 is absent. */
  readonly compare: readonly { readonly key: string; readonly revision: number }[];
  readonly success: readonly Operation[];
  readonly failure: readonly Operation[];
};

export type TransactionAnswer = {
  readonly revision: number;
  readonly hasSucceeded: boolean;
  /** What the gets of the branch found, in their order. */
  readonly found: readonly (KeyValue | undefined)[];
  /** How many keys its deletes found. */
  readonly deleted: number;
};

export type WatchEvent = {
  readonly type: 'put' | 'delete';
  readonly entry: KeyValue;
  readonly previous?: KeyValue;
};

export type WatchAnswer = {
  readonly revision: number;
  readonly isCreated: boolean;
  readonly isCancelled: boolean;
  /** The watch asked for what is compacted up to here; 0 otherwise. */
  readonly compactRevision: number;
  readonly cancelReason: string;
  readonly events: readonly WatchEvent[];
};

const byModRevision = 2;

export function encodeRange(request: RangeRequest): Uint8Array {
  return writeMessage((writer) => writeRange(writer, request));
}

function writeRange(
  writer: ProtobufWriter,
  { key, rangeEnd, limit = 0, revision = 0, isCountOnly = false }: RangeRequest,
): void {
  writer.bytes(1, Buffer.from(key));
  if (rangeEnd !== undefined) writer.bytes(2, rangeEnd);
  writer.int(3, limit);
  writer.int(4, revision);
  writer.bool(9, isCountOnly);
}

export function encodeTransaction({ compare, success, failure }: TransactionRequest): Uint8Array {
  return writeMessage((writer) => {
    for (const { key, revision } of compare) writer.bytes(1, encodeCompare(key, revision));
    for (const operation of success) writer.bytes(2, encodeOperation(operation));
    for (const operation of failure) writer.bytes(3, encodeOperation(operation));
  });
}

function encodeCompare(key: string, revision: number): Uint8Array {
  return writeMessage((writer) => {
    writer.int(2, byModRevision);
    writer.bytes(3, Buffer.from(key));
    writer.int(6, revision);
  });
}

function encodeOperation(operation: Operation): Uint8Array {
  const { key } = operation;
  return writeMessage((writer) => {
    switch (operation.kind) {
      case 'get':
        writer.bytes(1, encodeRange({ key }));
        return;
      case 'put':
        writer.bytes(
          2,
          writeMessage((put) => {
            put.bytes(1, Buffer.from(key));
            put.bytes(2, operation.value);
            put.int(3, operation.lease);
          }),
        );
        return;
      case 'delete':
        writer.bytes(
          3,
          writeMessage((remove) => remove.bytes(1, Buffer.from(key))),
        );
    }
  });
}

export function encodeCompaction(revision: number): Uint8Array {
  return writeMessage((writer) => writer.int(1, revision));
}

/** The id is ours to choose; etcd's own would not fit a number. */
export function encodeLeaseGrant(ttlSeconds: number, id: number): Uint8Array {
  return writeMessage((writer) => {
    writer.int(1, ttlSeconds);
    writer.int(2, id);
  });
}

export function encodeLeaseQuestion(id: number): Uint8Array {
  return writeMessage((writer) => writer.int(1, id));
}

/** Seconds that are left of a lease; 0 when it is over. */
export function decodeLeaseAnswer(message: Uint8Array): number {
  const fields = readFields(message);
  const left = fields.int(3);
  // Less than nothing is written as a number beyond all times to live.
  return left > fields.int(4) ? 0 : left;
}

export type WatchRequest = {
  readonly key: string;
  readonly rangeEnd: Uint8Array;
  readonly startRevision: number;
};

export function encodeWatch({ key, rangeEnd, startRevision }: WatchRequest): Uint8Array {
  const create = writeMessage((writer) => {
    writer.bytes(1, Buffer.from(key));
    writer.bytes(2, rangeEnd);
    writer.int(3, startRevision);
    // Empty answers now and then, so that the revision goes on while nothing of ours changes.
    writer.bool(4, true);
    writer.bool(6, true);
  });
  return writeMessage((writer) => writer.bytes(1, create));
}

/** Asks for an answer with the revision that the watch has come to. */
export function encodeProgressRequest(): Uint8Array {
  return writeMessage((writer) => writer.bytes(3, new Uint8Array(0)));
}

export function decodeRange(message: Uint8Array): RangeAnswer {
  const fields = readFields(message);
  return {
    revision: headerRevision(fields),
    entries: fields.all(2).map(decodeKeyValue),
    more: fields.int(3) === 1,
  };
}

export function decodeTransaction(message: Uint8Array): TransactionAnswer {
  const fields = readFields(message);
  const answers = fields.all(3).map(readFields);
  const ranges = answers.flatMap((answer) => answer.all(1));
  const deletes = answers.flatMap((answer) => answer.all(3));
  return {
    revision: headerRevision(fields),
    hasSucceeded: fields.int(2) === 1,
    found: ranges.map((range) => decodeRange(range).entries[0]),
    deleted: deletes.reduce((sum, each) => sum + readFields(each).int(2), 0),
  };
}

export function decodeWatch(message: Uint8Array): WatchAnswer {
  const fields = readFields(message);
  return {
    revision: headerRevision(fields),
    isCreated: fields.int(3) === 1,
    isCancelled: fields.int(4) === 1,
    compactRevision: fields.int(5),
    cancelReason: fields.one(6)?.toString() ?? '',
    events: fields.all(11).map(decodeEvent),
  };
}

/** Of an answer about the member's status. */
export function decodeVersion(message: Uint8Array): string {
  return readFields(message).one(2)?.toString() ?? '';
}

function decodeEvent(message: Uint8Array): WatchEvent {
  const fields = readFields(message);
  const entry = fields.one(2);
  if (entry === undefined) throw new RangeError('etcd sent an event without a key');
  const previous = fields.one(3);
  return {
    type: fields.int(1) === 1 ? 'delete' : 'put',
    entry: decodeKeyValue(entry),
    ...(previous === undefined ? {} : { previous: decodeKeyValue(previous) }),
  };
}

function decodeKeyValue(message: Uint8Array): KeyValue {
  const fields = readFields(message);
  const lease = fields.int(6);
  return {
    key: fields.one(1)?.toString() ?? '',
    value: fields.one(5) ?? new Uint8Array(0),
    createRevision: fields.int(2),
    modRevision: fields.int(3),
    ...(lease === 0 ? {} : { lease }),
  };
}

function headerRevision(fields: Fields): number {
  const header = fields.one(1);
  return header === undefined ? 0 : readFields(header).int(3);
}
