// What registries do wrong. Becomes an ImageError where the name of the image is known.

export type RegistryReason =
  | 'unreachable' // not resolved, not connected, or the connection ended
  | 'stalled' // no answer, or hardly any
  | 'failing' // 5xx
  | 'busy' // 429
  | 'denied' // 401 or 403
  | 'missing' // 404
  | 'invalid'; // an answer that makes no sense

export class RegistryError extends Error {
  readonly reason: RegistryReason;
  /** Of a failed connection, as of Node.js. */
  readonly code: string;

  constructor(
    reason: RegistryReason,
    message: string,
    { code = '', ...options }: ErrorOptions & { readonly code?: string } = {},
  ) {
    super(message, options);
    this.name = 'RegistryError';
    this.reason = reason;
    this.code = code;
  }
}

export const isRegistryError = (
  error: unknown,
  ...reasons: readonly RegistryReason[]
): error is RegistryError => error instanceof RegistryError && reasons.includes(error.reason);

type Failure = Error & {
  readonly code?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
};

/** In the words of Go's net package, which people search for. */
export function describeFailure(error: Failure, title: string): RegistryError {
  if (error instanceof RegistryError) return error;
  const { code = '', address, port, hostname } = error;
  const dial = address === undefined ? 'dial tcp' : `dial tcp ${address}:${port}`;
  const words: Readonly<Record<string, string>> = {
    ECONNREFUSED: `${dial}: connect: connection refused`,
    EHOSTUNREACH: `${dial}: connect: no route to host`,
    ENETUNREACH: `${dial}: connect: network is unreachable`,
    ETIMEDOUT: `${dial}: i/o timeout`,
    ENOTFOUND: `dial tcp: lookup ${hostname}: no such host`,
    EAI_AGAIN: `dial tcp: lookup ${hostname}: server misbehaving`,
    ECONNRESET: 'connection reset by peer',
    HPE_HEADER_OVERFLOW: 'the answer has more than 16 KiB of headers',
    DEPTH_ZERO_SELF_SIGNED_CERT:
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    SELF_SIGNED_CERT_IN_CHAIN:
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    CERT_HAS_EXPIRED:
      'tls: failed to verify certificate: x509: certificate has expired or is not yet valid',
  };
  const isProtocol = code.startsWith('HPE_');
  const text =
    words[code] ?? (isProtocol ? `malformed HTTP response: ${error.message}` : error.message);
  return new RegistryError(isProtocol ? 'invalid' : 'unreachable', `${asOfGo(title)}: ${text}`, {
    ...{ code, cause: error },
  });
}

/** `GET request to URL` becomes `Get "URL"`. */
function asOfGo(title: string): string {
  const [method = '', url = ''] = title.split(' request to ', 2);
  return `${method.slice(0, 1)}${method.slice(1).toLowerCase()} "${url}"`;
}

/** Whether the other side does not speak TLS. */
export const speaksNoTls = (error: unknown): boolean =>
  error instanceof RegistryError &&
  /^(?:EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ECONNREFUSED|ECONNRESET)$/.test(
    error.code,
  );
