// Bootstrap tokens: Secrets with which machines join. Upstream: k8s.io/cluster-bootstrap/token.
import { parseTime } from '../../schema/time.ts';
import type { Secret } from './types.ts';

export const bootstrapTokenType = 'bootstrap.kubernetes.io/token';
export const bootstrapTokenNamespace = 'kube-system';
const namePrefix = 'bootstrap-token-';

export const bootstrappersGroup = 'system:bootstrappers';
/** Tokens with this group may request node certificates. */
export const nodeBootstrappersGroup = `${bootstrappersGroup}:fairlead:default-node-token`;

export type BootstrapUsage = 'signing' | 'authentication';
export const bootstrapUsages: readonly BootstrapUsage[] = ['signing', 'authentication'];

export type BootstrapToken = {
  readonly id: string;
  readonly secret: string;
  /** Milliseconds; absent: never. */
  readonly expires?: number;
  readonly usages: readonly BootstrapUsage[];
  /** In addition to system:bootstrappers. */
  readonly groups: readonly string[];
  readonly description?: string;
};

export const bootstrapTokenName = (id: string): string => `${namePrefix}${id}`;

const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

/** The two halves of `abcdef.0123456789abcdef`. */
export function splitToken(
  text: string,
): { readonly id: string; readonly secret: string } | undefined {
  const [, id, secret] = tokenForm.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
export const isBootstrapGroup = (name: string): boolean => groupForm.test(name);

/** Undefined when the Secret is no token or is malformed. */
export function readBootstrapToken({
  metadata,
  type,
  data = {},
}: Secret): BootstrapToken | undefined {
  if (type !== bootstrapTokenType || metadata.namespace !== bootstrapTokenNamespace)
    return undefined;
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  const id = text('token-id');
  const secret = text('token-secret');
  if (splitToken(`${id}.${secret}`) === undefined || metadata.name !== bootstrapTokenName(id)) {
    return undefined;
  }
  const expiration = text('expiration');
  const expires = expiration === '' ? undefined : parseTime(expiration);
  // An unreadable expiration must not make a token valid forever.
  if (expiration !== '' && expires === undefined) return undefined;
  const groups = text('auth-extra-groups')
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);
  if (!groups.every(isBootstrapGroup)) return undefined;
  const description = text('description');
  return {
    id,
    secret,
    ...(expires === undefined ? {} : { expires }),
    usages: bootstrapUsages.filter((usage) => text(`usage-bootstrap-${usage}`) === 'true'),
    groups,
    ...(description === '' ? {} : { description }),
  };
}

export function hasExpired({ expires }: BootstrapToken, now: number): boolean {
  return expires !== undefined && expires <= now;
}

/** `expiration` as RFC 3339. */
export function bootstrapTokenSecret(
  token: Omit<BootstrapToken, 'expires'> & { readonly expiration?: string },
): Secret {
  const { id, secret, expiration, usages, groups, description } = token;
  return {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: { name: bootstrapTokenName(id), namespace: bootstrapTokenNamespace },
    type: bootstrapTokenType,
    stringData: {
      'token-id': id,
      'token-secret': secret,
      ...(expiration === undefined ? {} : { expiration }),
      ...Object.fromEntries(usages.map((usage) => [`usage-bootstrap-${usage}`, 'true'])),
      ...(groups.length === 0 ? {} : { 'auth-extra-groups': groups.join(',') }),
      ...(description === undefined ? {} : { description }),
    },
  };
}
