// The provider that encrypts the values of a resource, and those that can decrypt them. Upstream: storage/value/transformer.go.
import { belongsAt } from './belongs-at.ts';
import { aescbc, aesgcm, type Cipher, secretbox } from './ciphers.ts';
import type { EncryptionConfig, KeyedProvider, Provider } from './config.ts';
import { identityReason, isEncrypted, startsWith, Unreadable } from './unreadable.ts';

export type Opened = {
  readonly value: Uint8Array;
  /** Not what the first provider would write with its first key: the next update writes it, changed or not. */
  readonly isStale: boolean;
};

export type Transformer = {
  /** Absent where values are stored as they are. */
  readonly seal?: (plain: Uint8Array, path: string) => Uint8Array;
  /** Throws Unreadable. */
  readonly open: (stored: Uint8Array, path: string) => Opened;
};

/** By resource, as in `secrets` or `deployments.apps`. */
export type Transformers = (resource: string) => Transformer;

export function createTransformers(config: EncryptionConfig): Transformers {
  const named = new Map<string, Provider[]>();
  for (const { resources, providers } of config.resources) {
    for (const resource of resources) {
      named.set(resource, [...(named.get(resource) ?? []), ...providers]);
    }
  }
  const made = new Map<string, Transformer>();
  return (resource) => {
    let transformer = made.get(resource);
    if (transformer === undefined) {
      const dot = resource.indexOf('.');
      const group = dot < 0 ? '' : resource.slice(dot + 1);
      const providers = named.get(resource) ?? named.get(`*.${group}`) ?? named.get('*.*');
      transformer = createTransformer(providers ?? [{ type: 'identity' }]);
      made.set(resource, transformer);
    }
    return transformer;
  };
}

/** A prefix and what follows it; `prefix` is empty for values that are not encrypted. */
type Choice = {
  readonly prefix: Buffer;
  readonly open: (rest: Uint8Array, path: string) => Opened;
  readonly seal?: (plain: Uint8Array, path: string) => Uint8Array;
};

export function createTransformer(providers: readonly Provider[]): Transformer {
  const choices = providers.map(choiceOf);
  const [first] = choices;
  const open = (stored: Uint8Array, path: string): Opened =>
    openFirst(choices, stored, { path, nothing: 'no matching prefix found' });
  return first?.seal === undefined ? { open } : { open, seal: sealWith(first.prefix, first.seal) };
}

function choiceOf(provider: Provider): Choice {
  if (provider.type === 'identity') return identity;
  const prefix = Buffer.from(`k8s:enc:${provider.type}:v1:`);
  const keys = provider.keys.map((key): Choice => {
    const cipher = ciphers[provider.type](key.secret);
    return { prefix: Buffer.from(`${key.name}:`), open: openWith(cipher), seal: cipher.seal };
  });
  const nothing = `no matching key was found for the provided ${families[provider.type]} transformer`;
  const [first] = keys;
  const seal = first?.seal && sealWith(first.prefix, first.seal);
  return {
    prefix,
    open: (rest, path) => openFirst(keys, rest, { path, nothing }),
    ...(seal === undefined ? {} : { seal }),
  };
}

const ciphers: Readonly<Record<KeyedProvider['type'], (key: Uint8Array) => Cipher>> = {
  aescbc,
  aesgcm,
  secretbox,
};
const families = { aescbc: 'AES', aesgcm: 'AES', secretbox: 'Secretbox' } as const;

const identity: Choice = {
  prefix: Buffer.alloc(0),
  open(stored) {
    if (isEncrypted(stored)) throw new Unreadable(identityReason);
    return { value: stored, isStale: false };
  },
};

const sealWith =
  (prefix: Buffer, seal: Cipher['seal']): Cipher['seal'] =>
  (plain, path) =>
    Buffer.concat([prefix, seal(plain, path)]);

function openWith(cipher: Cipher): Choice['open'] {
  return (rest, path) => {
    const value = cipher.open(rest, path);
    if (cipher.isBoundToPath) return { value, isStale: false };
    const parsed = parse(value);
    // Without a tag a changed ciphertext, or the wrong key, now and then decrypts to something.
    if (!cipher.isAuthenticated && parsed === undefined)
      throw new Unreadable('the stored data was decrypted to something that is not JSON');
    if (!belongsAt(parsed, path))
      throw new Unreadable('the stored data is an object that was written to another key');
    return { value, isStale: false };
  };
}

/** Undefined where it is not JSON, whatever is wrong with it: the text of the error would hold a part of the value. */
function parse(value: Uint8Array): unknown {
  try {
    return JSON.parse(strictUtf8.decode(value));
  } catch {
    return undefined;
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

type Reading = { readonly path: string; readonly nothing: string };

/** Every match is tried: the same provider and the same name of a key may be there twice with different secrets. */
function openFirst(
  choices: readonly Choice[],
  stored: Uint8Array,
  { path, nothing }: Reading,
): Opened {
  let failure: Unreadable | undefined;
  for (const [at, { prefix, open }] of choices.entries()) {
    if (!startsWith(stored, prefix)) continue;
    const opened = tryOpen(() => open(stored.subarray(prefix.length), path));
    if (!(opened instanceof Unreadable))
      return { value: opened.value, isStale: opened.isStale || at !== 0 };
    // That a value is encrypted is no failure of identity: another provider may read it.
    if (prefix.length > 0 || choices.length === 1) failure ??= opened;
  }
  throw failure ?? new Unreadable(nothing);
}

function tryOpen(open: () => Opened): Opened | Unreadable {
  try {
    return open();
  } catch (error) {
    if (error instanceof Unreadable) return error;
    throw error;
  }
}
