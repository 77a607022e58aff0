// "Up to which revision is everything in effect, and since when?"

import type { QuestionKind } from './question.ts';
import { countIn, fieldsOf, textIn } from './read-fields.ts';

/** Revisions of the newest change: of Services, and of EndpointSlices. */
export type Revisions = { readonly services: number; readonly slices: number };

export type Position = {
  /** Everything up to them is in effect. */
  readonly applied: Revisions;
  /** How long the requested revisions have been in effect; absent: they are not. */
  readonly ageMs?: number;
  /** It is longer than that; the part no longer knows how long. */
  readonly isOlder?: boolean;
  /** How long the oldest change that it has received has been waiting to be in effect; absent: none is. */
  readonly waitingMs?: number;
  /** Of a proxy, its mode. */
  readonly mode?: string;
};

export type PositionQuestion = QuestionKind<Revisions, Position>;

const maxModeLength = 64;

function readRevisions(value: unknown): Revisions | undefined {
  const fields = fieldsOf(value);
  if (fields === undefined) return undefined;
  const services = countIn(fields, 'services');
  const slices = countIn(fields, 'slices');
  return services === undefined || slices === undefined ? undefined : { services, slices };
}

function readPosition(value: unknown): Position | undefined {
  const fields = fieldsOf(value);
  const applied = readRevisions(fields?.applied);
  if (fields === undefined || applied === undefined) return undefined;
  const ageMs = countIn(fields, 'ageMs');
  const waitingMs = countIn(fields, 'waitingMs');
  const mode = textIn(fields, 'mode', maxModeLength);
  return {
    applied,
    ...(ageMs === undefined ? {} : { ageMs }),
    ...(fields.isOlder === true ? { isOlder: true } : {}),
    ...(waitingMs === undefined ? {} : { waitingMs }),
    ...(mode === undefined ? {} : { mode }),
  };
}

export const positionQuestion: PositionQuestion = {
  name: 'Position',
  parts: ['proxy', 'dns'],
  readSpec: readRevisions,
  readAnswer: readPosition,
};
