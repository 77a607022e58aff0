// What an exec plugin gets and what it answers: ExecCredential of client.authentication.k8s.io. Pure.
import { isJsonObject, type JsonObject } from '../schema/json-object.ts';
import { parseTime } from '../schema/time.ts';
import { type ExecPlugin, textOf } from './kubeconfig-user.ts';
import type { Connection } from './read-kubeconfig.ts';

export type ExecCredential = {
  readonly token?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  /** Milliseconds since 1970; absent: until the server refuses it. */
  readonly expiresAt?: number;
};

/** The value of KUBERNETES_EXEC_INFO. */
export function execInfo(
  { apiVersion, provideClusterInfo, clusterConfig }: ExecPlugin,
  connection: Connection,
  isInteractive: boolean,
): string {
  const cluster = provideClusterInfo ? { cluster: clusterInfo(connection, clusterConfig) } : {};
  return JSON.stringify({
    kind: 'ExecCredential',
    apiVersion,
    spec: { ...cluster, interactive: isInteractive },
  });
}

function clusterInfo(connection: Connection, config: unknown): JsonObject {
  const { server, tlsServerName, skipTlsVerification, certificateAuthority, proxyUrl } = connection;
  return {
    server,
    ...(tlsServerName === undefined ? {} : { 'tls-server-name': tlsServerName }),
    ...(skipTlsVerification ? { 'insecure-skip-tls-verify': true } : {}),
    ...(certificateAuthority === undefined
      ? {}
      : { 'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64') }),
    ...(proxyUrl === undefined ? {} : { 'proxy-url': proxyUrl }),
    ...(config === undefined ? {} : { config }),
  };
}

/** Throws with the reason. Messages do not repeat what was printed, which may be a secret. */
export function parseExecCredential(text: string, apiVersion: string): ExecCredential {
  const value = parseJson(text);
  if (value.kind !== 'ExecCredential') throw new Error('it printed no ExecCredential');
  if (value.apiVersion !== apiVersion) {
    throw new Error(
      `it printed an ExecCredential of version ${JSON.stringify(value.apiVersion)}, want ${apiVersion}`,
    );
  }
  const { status } = value;
  if (!isJsonObject(status)) throw new Error('it printed an ExecCredential without a status');
  const token = textOf(status, 'token');
  const clientCertificate = textOf(status, 'clientCertificateData');
  const clientKey = textOf(status, 'clientKeyData');
  if ((clientCertificate === undefined) !== (clientKey === undefined)) {
    throw new Error('it printed a client certificate without its key, or a key alone');
  }
  if (token === undefined && clientCertificate === undefined)
    throw new Error('it printed neither a token nor a client certificate');
  return {
    ...(token === undefined ? {} : { token: checkedToken(token) }),
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    ...(clientKey === undefined ? {} : { clientKey }),
    ...expiryOf(status),
  };
}

function parseJson(text: string): JsonObject {
  if (text.trim() === '') throw new Error('it printed nothing');
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Error('it printed no JSON object');
}

function checkedToken(token: string): string {
  const trimmed = token.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed))
    throw new Error('it printed a token with characters that a header cannot have');
  return trimmed;
}

function expiryOf(status: JsonObject): Pick<ExecCredential, 'expiresAt'> {
  const time = status.expirationTimestamp;
  if (time === undefined || time === null) return {};
  const expiresAt = typeof time === 'string' ? parseTime(time) : undefined;
  if (expiresAt === undefined) throw new Error('it printed an expirationTimestamp that is no time');
  return { expiresAt };
}
