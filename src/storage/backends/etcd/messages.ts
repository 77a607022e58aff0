// etcd's v3 messages, as far as a store needs them (etcdserverpb/rpc.proto, mvccpb/kv.proto). Numbers are field numbers.
import {
  type DecodedFields,
  decodeMessage,
  encodeMessage,
  type FieldValue,
  type MessageFields,
} from '../../../schema/protobuf/message-fields.ts';
import { ProtobufError } from '../../../schema/protobuf/wire.ts';

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

export type RangeResponse = {
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

export type TransactionResponse = {
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

export type WatchResponse = {
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
  return encodeMessage(rangeFields(request));
}

function rangeFields({
  key,
  rangeEnd,
  limit = 0,
  revision = 0,
  isCountOnly = false,
}: RangeRequest): MessageFields {
  return [[1, key], ...optional(2, rangeEnd), [3, limit], [4, revision], [9, isCountOnly]];
}

const optional = (number: number, value: FieldValue | undefined): MessageFields =>
  value === undefined ? [] : [[number, value]];

export function encodeTransaction({ compare, success, failure }: TransactionRequest): Uint8Array {
  return encodeMessage([
    ...compare.map(({ key, revision }) => [1, compareFields(key, revision)] as const),
    ...success.map((operation) => [2, operationFields(operation)] as const),
    ...failure.map((operation) => [3, operationFields(operation)] as const),
  ]);
}

const compareFields = (key: string, revision: number): MessageFields => [
  [2, byModRevision],
  [3, key],
  [6, revision],
];

function operationFields(operation: Operation): MessageFields {
  const { key } = operation;
  switch (operation.kind) {
    case 'get':
      return [[1, rangeFields({ key })]];
    case 'put': {
      const { value, lease } = operation;
      const put: MessageFields = [
        [1, key],
        [2, value],
        [3, lease],
      ];
      return [[2, put]];
    }
    case 'delete':
      return [[3, [[1, key]]]];
  }
}

export function encodeCompaction(revision: number): Uint8Array {
  return encodeMessage([[1, revision]]);
}

/** Clients may choose the id; the ones that etcd makes do not fit a number. */
export function encodeLeaseGrant(ttlSeconds: number, id: number): Uint8Array {
  return encodeMessage([
    [1, ttlSeconds],
    [2, id],
  ]);
}

export function encodeLeaseTimeToLive(id: number): Uint8Array {
  return encodeMessage([[1, id]]);
}

/** Remaining seconds of a lease; 0 when it has expired. */
export function decodeLeaseTimeToLive(message: Uint8Array): number {
  return Math.max(0, decodeMessage(message).integer(3));
}

export type WatchRequest = {
  readonly key: string;
  readonly rangeEnd: Uint8Array;
  readonly startRevision: number;
};

export function encodeWatch({ key, rangeEnd, startRevision }: WatchRequest): Uint8Array {
  const create: MessageFields = [
    [1, key],
    [2, rangeEnd],
    [3, startRevision],
    // Progress notifications, so that the revision advances while no key of the range changes.
    [4, true],
    // Events carry the previous value.
    [6, true],
  ];
  return encodeMessage([[1, create]]);
}

/** Asks for a response with the revision that the watch has reached. */
export function encodeProgressRequest(): Uint8Array {
  return encodeMessage([[3, []]]);
}

export function decodeRange(message: Uint8Array): RangeResponse {
  const fields = decodeMessage(message);
  return {
    revision: headerRevision(fields),
    entries: fields.allBytes(2).map(decodeKeyValue),
    more: fields.integer(3) === 1,
  };
}

export function decodeTransaction(message: Uint8Array): TransactionResponse {
  const fields = decodeMessage(message);
  const answers = fields.allBytes(3).map(decodeMessage);
  const ranges = answers.flatMap((answer) => answer.allBytes(1));
  const deletes = answers.flatMap((answer) => answer.allBytes(3));
  return {
    revision: headerRevision(fields),
    hasSucceeded: fields.integer(2) === 1,
    found: ranges.map((range) => decodeRange(range).entries[0]),
    deleted: deletes.reduce((sum, each) => sum + decodeMessage(each).integer(2), 0),
  };
}

export function decodeWatch(message: Uint8Array): WatchResponse {
  const fields = decodeMessage(message);
  return {
    revision: headerRevision(fields),
    isCreated: fields.integer(3) === 1,
    isCancelled: fields.integer(4) === 1,
    compactRevision: fields.integer(5),
    cancelReason: fields.bytes(6)?.toString() ?? '',
    events: fields.allBytes(11).map(decodeEvent),
  };
}

/** Of a response about the member's status. */
export function decodeVersion(message: Uint8Array): string {
  return decodeMessage(message).bytes(2)?.toString() ?? '';
}

function decodeEvent(message: Uint8Array): WatchEvent {
  const fields = decodeMessage(message);
  const entry = fields.bytes(2);
  if (entry === undefined) throw new ProtobufError('etcd sent an event without a key');
  const previous = fields.bytes(3);
  return {
    type: fields.integer(1) === 1 ? 'delete' : 'put',
    entry: decodeKeyValue(entry),
    ...(previous === undefined ? {} : { previous: decodeKeyValue(previous) }),
  };
}

function decodeKeyValue(message: Uint8Array): KeyValue {
  const fields = decodeMessage(message);
  const lease = fields.integer(6);
  return {
    key: fields.bytes(1)?.toString() ?? '',
    value: fields.bytes(5) ?? new Uint8Array(0),
    createRevision: fields.integer(2),
    modRevision: fields.integer(3),
    ...(lease === 0 ? {} : { lease }),
  };
}

function headerRevision(fields: DecodedFields): number {
  const header = fields.bytes(1);
  return header === undefined ? 0 : decodeMessage(header).integer(3);
}
