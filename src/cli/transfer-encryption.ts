// Encrypted values in exports: they are exported as stored, unless plain text is requested.

import { resourceOfKey } from '../apiserver/cache/stored-object.ts';
import { isEncrypted, Unreadable } from '../apiserver/encryption/unreadable.ts';
import { UsageError } from '../flags/command.ts';
import type { Encryption } from '../flags/encryption-flags.ts';
import type { Store } from '../storage/store.ts';
import type { ExportEntry } from '../storage/transfer/export-format.ts';

/** A view of the store with decrypted values, for an export in plain text. Throws UsageError for a value that cannot be decrypted. */
export function plainStore(store: Store, encryption: Encryption, keyPrefix: string): Store {
  const opened = encryption.encrypt(store, keyPrefix);
  return {
    ...opened,
    async list(prefix, options) {
      const listing = await opened.list(prefix, options);
      for (const { key, unreadable } of listing.entries)
        if (unreadable !== undefined) throw cannotRead(key, unreadable);
      return listing;
    },
  };
}

export type Move = {
  /** Absent: values are imported as they are. */
  readonly encryption: Encryption | undefined;
  /** The key prefix of the exporting and of the importing store. */
  readonly from: string;
  readonly to: string;
};

/** The entries as they will be stored. Throws UsageError for a value that the importing store could not decrypt. */
export async function* storedForm(
  entries: AsyncIterable<ExportEntry>,
  { encryption, from, to }: Move,
): AsyncGenerator<ExportEntry> {
  for await (const entry of entries) {
    if (encryption !== undefined) yield encryptedAgain(entry, encryption, { from, to });
    else if (from !== to && isBoundToPath(entry.value)) throw bound(entry.key);
    else yield entry;
  }
}

function encryptedAgain(
  entry: ExportEntry,
  { transformers }: Encryption,
  { from, to }: Pick<Move, 'from' | 'to'>,
): ExportEntry {
  const { key, value } = entry;
  const { open, seal } = transformers()(resourceOfKey(key));
  try {
    const plain = isEncrypted(value) ? open(value, from + key).value : value;
    return { ...entry, value: seal === undefined ? plain : seal(plain, to + key) };
  } catch (error) {
    if (error instanceof Unreadable) throw cannotRead(key, error.message);
    throw error;
  }
}

const gcmMark = Buffer.from('k8s:enc:aesgcm:');

const isBoundToPath = (value: Uint8Array): boolean =>
  gcmMark.equals(value.subarray(0, gcmMark.length));

const cannotRead = (key: string, reason: string): UsageError =>
  new UsageError(
    `Cannot read the value of "${key}": ${reason}. --encryption-provider-config must hold the key that it was written with.`,
  );

const bound = (key: string): UsageError =>
  new UsageError(
    `Cannot import "${key}" as it is: its value is encrypted for another path. Name the keys with --encryption-provider-config. Nothing was changed.`,
  );
