// Requests with too many values: 413, before anything is done with them.
import { tooLarge } from '../../meta/api-error.ts';
import {
  type Excess,
  findExcess,
  findExcessIn,
  maxMembers,
  maxValues,
  type ValueLimits,
} from '../../schema/value-count.ts';

/** Checks JSON that is not parsed yet. */
export function checkTextValues(text: string, limits?: ValueLimits): void {
  refuse(findExcess(text, limits), 'it');
}

/** Checks a body that was not JSON, or the result of a patch. */
export function checkValues(value: unknown, what: 'it' | 'the object' = 'it'): void {
  refuse(findExcessIn(value), what);
}

function refuse(excess: Excess | undefined, what: string): void {
  if (excess !== undefined) throw tooManyValues(excess, what);
}

export function tooManyValues(excess: Excess, what = 'it'): Error {
  return tooLarge(
    excess === 'values'
      ? `Request entity too large: ${what} holds more than ${maxValues} values`
      : `Request entity too large: a list or map of ${what} has more than ${maxMembers} members`,
  );
}

/** A request that takes more work than any object needs. */
export function tooMuchWork(steps: number): Error {
  return tooLarge(
    `Request entity too large: handling it takes more than ${steps} steps, send less in one request`,
  );
}
