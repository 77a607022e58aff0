import { isJsonObject } from '../../schema/json-object.ts';

// What a token of a service account says: whose it is, for whom, until when, and to which object it is bound.
export type Reference = { readonly name: string; readonly uid: string };

export type TokenClaims = {
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** Seconds since the epoch. */
  readonly expires: number;
  readonly issuedAt: number;
  readonly notBefore: number;
  readonly id: string;
  readonly subject: string;
  readonly namespace: string;
  readonly serviceAccount: Reference;
  readonly pod?: Reference;
  readonly secret?: Reference;
  /** Of a pod's token: the node of the pod, perhaps without uid. Alone: the object the token is bound to. */
  readonly node?: { readonly name: string; readonly uid?: string };
};

/** As Kubernetes writes them. */
export function writeClaims(claims: TokenClaims): object {
  const { namespace, serviceAccount, pod, secret, node } = claims;
  return {
    aud: claims.audiences,
    exp: claims.expires,
    iat: claims.issuedAt,
    iss: claims.issuer,
    jti: claims.id,
    'kubernetes.io': {
      namespace,
      ...(node === undefined ? {} : { node }),
      ...(pod === undefined ? {} : { pod }),
      ...(secret === undefined ? {} : { secret }),
      serviceaccount: serviceAccount,
    },
    nbf: claims.notBefore,
    sub: claims.subject,
  };
}

/** Undefined when something is missing or of the wrong type: then we did not write it. */
export function readClaims(raw: Readonly<Record<string, unknown>>): TokenClaims | undefined {
  const bound = raw['kubernetes.io'];
  const { iss, aud, exp, iat, nbf, jti, sub } = raw;
  if (!isJsonObject(bound)) return undefined;
  const serviceAccount = readReference(bound.serviceaccount);
  if (serviceAccount === undefined || !areStrings(iss, jti, sub, bound.namespace)) return undefined;
  if (!areNumbers(exp, iat, nbf) || !isListOfStrings(aud)) return undefined;
  const references = readBinding(bound);
  if (references === undefined) return undefined;
  return {
    issuer: String(iss),
    audiences: aud,
    expires: Number(exp),
    issuedAt: Number(iat),
    notBefore: Number(nbf),
    id: String(jti),
    subject: String(sub),
    namespace: String(bound.namespace),
    serviceAccount,
    ...references,
  };
}

type Binding = Pick<TokenClaims, 'pod' | 'secret' | 'node'>;

function readBinding(bound: Readonly<Record<string, unknown>>): Binding | undefined {
  const pod = readReference(bound.pod);
  const secret = readReference(bound.secret);
  const node = readNode(bound.node);
  const isBroken =
    (bound.pod !== undefined && pod === undefined) ||
    (bound.secret !== undefined && secret === undefined) ||
    (bound.node !== undefined && node === undefined);
  if (isBroken) return undefined;
  return {
    ...(pod === undefined ? {} : { pod }),
    ...(secret === undefined ? {} : { secret }),
    ...(node === undefined ? {} : { node }),
  };
}

function readReference(value: unknown): Reference | undefined {
  if (!isJsonObject(value) || !areStrings(value.name, value.uid)) return undefined;
  return { name: String(value.name), uid: String(value.uid) };
}

function readNode(value: unknown): TokenClaims['node'] {
  if (!isJsonObject(value) || typeof value.name !== 'string') return undefined;
  return { name: value.name, ...(typeof value.uid === 'string' ? { uid: value.uid } : {}) };
}

const areStrings = (...values: readonly unknown[]): boolean =>
  values.every((value) => typeof value === 'string');
const areNumbers = (...values: readonly unknown[]): boolean =>
  values.every((value) => typeof value === 'number' && Number.isFinite(value));

function isListOfStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && areStrings(...value);
}
