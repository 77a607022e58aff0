// The errors about a store file, in words for the one who has to do something about it.
import { StoreError } from '../../store-error.ts';
import { guessKey } from './format.ts';

export function damaged(file: string, what: string): StoreError {
  return new StoreError(
    'damaged',
    `Cannot use "${file}": ${what}. Restore it from a copy, or move it away to start empty`,
  );
}

/** A record is named by where it should be, and by the key it seems to be of. */
export function damagedRecord(file: string, place: string, bytes: Buffer | undefined): StoreError {
  return damaged(
    file,
    bytes === undefined
      ? `record ${place} is missing`
      : `record ${place} of key ${JSON.stringify(guessKey(bytes))} does not fit its checksum`,
  );
}

export function foreign(file: string, what: string): StoreError {
  return new StoreError(
    'foreign',
    `Cannot use "${file}": ${what}. Move it away, or choose another directory`,
  );
}
