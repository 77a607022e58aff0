// Parses the user of a kubeconfig: how its requests are authenticated, and whom it impersonates. Pure.
import { isJsonObject, type JsonObject } from '../schema/json-object.ts';
import { KubeconfigError } from './kubeconfig-error.ts';

/** PEM text or a token, or the file that contains it. */
export type PemSource = { readonly text: string } | { readonly file: string };

export type BasicAuth = { readonly username: string; readonly password: string };

export type Impersonation = {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
};

const execVersions = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
] as const;

/** A program that prints credentials (`users[].user.exec`). */
export type ExecPlugin = {
  readonly apiVersion: (typeof execVersions)[number];
  /** With a slash a path, else searched in $PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  readonly provideClusterInfo: boolean;
  /** Printed when the program is missing. */
  readonly installHint?: string;
  /** What the cluster has for plugins; absent: nothing. */
  readonly clusterConfig?: unknown;
};

export type UserCredentials = {
  readonly clientCertificate?: PemSource;
  readonly clientKey?: PemSource;
  readonly token?: PemSource;
  readonly basicAuth?: BasicAuth;
  readonly exec?: ExecPlugin;
  readonly impersonation?: Impersonation;
};

/** `name` is that of the user, for messages. */
export function parseUser(user: JsonObject, name: string): UserCredentials {
  refuseAuthProvider(user, name);
  const credentials = {
    clientCertificate: pemOf(user, 'client-certificate'),
    clientKey: pemOf(user, 'client-key'),
    token: tokenOf(user),
    basicAuth: basicAuthOf(user, name),
    exec: execOf(user, name),
    impersonation: impersonationOf(user, name),
  };
  if (credentials.token !== undefined && credentials.basicAuth !== undefined) {
    throw new KubeconfigError(
      `Cannot use the user "${name}" of the kubeconfig: it has a token and a user name with a password, want one of them`,
    );
  }
  return withoutAbsent(credentials);
}

type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

function withoutAbsent<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Present<T>;
}

/** Inline data takes precedence over a file, as with kubectl. */
export function pemOf(fields: JsonObject, name: string): PemSource | undefined {
  const encoded = textOf(fields, `${name}-data`);
  if (encoded !== undefined) return { text: Buffer.from(encoded, 'base64').toString('utf8') };
  const file = textOf(fields, name);
  return file === undefined ? undefined : { file };
}

export function textOf(fields: JsonObject, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function tokenOf(user: JsonObject): PemSource | undefined {
  const token = textOf(user, 'token');
  if (token !== undefined) return { text: token };
  const file = textOf(user, 'tokenFile');
  return file === undefined ? undefined : { file };
}

/** kubectl has none of them since 1.26. */
function refuseAuthProvider(user: JsonObject, name: string): void {
  const provider = user['auth-provider'];
  if (provider === undefined || provider === null) return;
  const which = isJsonObject(provider) ? textOf(provider, 'name') : undefined;
  const found = which === undefined ? 'an auth-provider' : `the auth-provider "${which}"`;
  throw new KubeconfigError(
    `Cannot use the user "${name}" of the kubeconfig: it has ${found}, which Kubernetes removed in 1.26; want an exec plugin`,
  );
}

function basicAuthOf(user: JsonObject, name: string): BasicAuth | undefined {
  const username = textOf(user, 'username');
  const password = textOf(user, 'password');
  if (username === undefined && password === undefined) return undefined;
  // The first colon ends the user name.
  if (username?.includes(':')) {
    throw new KubeconfigError(
      `Cannot use the user "${name}" of the kubeconfig: its username has a colon`,
    );
  }
  return { username: username ?? '', password: password ?? '' };
}

function execOf(user: JsonObject, name: string): ExecPlugin | undefined {
  const { exec } = user;
  if (exec === undefined || exec === null) return undefined;
  const refuse = (why: string): never => {
    throw new KubeconfigError(
      `Cannot use the exec plugin of the user "${name}" of the kubeconfig: ${why}`,
    );
  };
  if (!isJsonObject(exec)) return refuse('it must be a map');
  const command = textOf(exec, 'command') ?? refuse('it has no command');
  const version = textOf(exec, 'apiVersion');
  const apiVersion =
    execVersions.find((known) => known === version) ??
    refuse(`its apiVersion is "${version ?? ''}", want one of ${execVersions.join(', ')}`);
  const installHint = textOf(exec, 'installHint');
  return {
    apiVersion,
    command,
    args: stringsOf(exec.args) ?? refuse('its args must be a list of strings'),
    env: environmentOf(exec.env) ?? refuse('its env must be a list of names and values'),
    interactiveMode: interactiveModeOf(exec, apiVersion) ?? refuse(interactiveModeText),
    provideClusterInfo: exec.provideClusterInfo === true,
    ...(installHint === undefined ? {} : { installHint }),
  };
}

const interactiveModeText = 'its interactiveMode must be Never, IfAvailable or Always';

/** Required in v1; v1beta1 has a default. */
function interactiveModeOf(
  exec: JsonObject,
  apiVersion: ExecPlugin['apiVersion'],
): ExecPlugin['interactiveMode'] | undefined {
  const mode = exec.interactiveMode ?? '';
  if (mode === '' && apiVersion.endsWith('/v1beta1')) return 'IfAvailable';
  return mode === 'Never' || mode === 'IfAvailable' || mode === 'Always' ? mode : undefined;
}

function stringsOf(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return undefined;
  return value.every((one) => typeof one === 'string') ? value : undefined;
}

function environmentOf(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) return {};
  if (!Array.isArray(value)) return undefined;
  const entries = value.map((one) =>
    isJsonObject(one) && textOf(one, 'name') !== undefined
      ? ([textOf(one, 'name') ?? '', textOf(one, 'value') ?? ''] as const)
      : undefined,
  );
  const valid = entries.filter((entry) => entry !== undefined);
  return valid.length === entries.length ? Object.fromEntries(valid) : undefined;
}

function impersonationOf(user: JsonObject, name: string): Impersonation | undefined {
  const refuse = (why: string): never => {
    throw new KubeconfigError(`Cannot use the user "${name}" of the kubeconfig: ${why}`);
  };
  const uid = textOf(user, 'as-uid');
  const groups = stringsOf(user['as-groups']) ?? refuse('its as-groups must be a list of strings');
  const extra =
    extraOf(user['as-user-extra']) ??
    refuse('its as-user-extra must map names to lists of strings');
  const impersonated = textOf(user, 'as');
  if (impersonated !== undefined)
    return { user: impersonated, groups, extra, ...(uid === undefined ? {} : { uid }) };
  if (uid === undefined && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
  return refuse('it impersonates a uid, groups or extra values (as-…) without a user (as)');
}

function extraOf(value: unknown): Impersonation['extra'] | undefined {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) return undefined;
  const entries = Object.entries(value).map(([key, list]) => [key, stringsOf(list)] as const);
  return entries.every(([, list]) => list !== undefined)
    ? (Object.fromEntries(entries) as Impersonation['extra'])
    : undefined;
}
