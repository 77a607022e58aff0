// "Answer as soon as nothing that you forward leads to these addresses any more." What SIGTERM waits for: decision 15.
import type { QuestionKind } from './question.ts';
import { countIn, fieldsOf } from './read-fields.ts';

export type Unrouted = {
  /** EndpointSlices up to this revision must be in effect. */
  readonly slices: number;
  readonly addresses: readonly string[];
  /** And for so long nothing must have led to them: requests in flight are completed meanwhile. */
  readonly forMs: number;
};

/** A pod has one of each family. */
const maxAddresses = 16;
const maxAddressLength = 64;

function readUnrouted(value: unknown): Unrouted | undefined {
  const fields = fieldsOf(value);
  const slices = fields && countIn(fields, 'slices');
  const forMs = fields && countIn(fields, 'forMs');
  const addresses = fields?.addresses;
  if (
    slices === undefined ||
    forMs === undefined ||
    !Array.isArray(addresses) ||
    addresses.length > maxAddresses
  )
    return undefined;
  const texts = addresses.filter((one): one is string => typeof one === 'string');
  const areFine = texts.length === addresses.length;
  return areFine && texts.every(({ length }) => length <= maxAddressLength)
    ? { slices, addresses: texts, forMs }
    : undefined;
}

/** The answer is that there is one. */
export type Confirmation = Readonly<Record<string, never>>;

export const unroutedQuestion: QuestionKind<Unrouted, Confirmation> = {
  name: 'Unrouted',
  parts: ['proxy'],
  readSpec: readUnrouted,
  readAnswer: (value) => (fieldsOf(value) === undefined ? undefined : {}),
};
