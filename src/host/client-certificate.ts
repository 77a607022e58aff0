// The user and the validity period of a client certificate: read once per certificate, compared with the clock on every request.
// The API server and the node agent share it, so that both see the same user.
import type { X509Certificate } from 'node:crypto';

export type ClientCertificate = {
  /** The user name. */
  readonly commonName: string;
  /** The user's groups. */
  readonly organizations: readonly string[];
  /** SHA-256 of the certificate, in hexadecimal digits. */
  readonly fingerprint: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
};

/** `none`: it has no common name. `several`: it has more than one, which is ambiguous. */
export type ReadCertificate = ClientCertificate | 'none' | 'several';

/** Does not verify the signature: the caller must have done that on the same connection. */
export function readClientCertificate(certificate: X509Certificate): ReadCertificate {
  const { CN = '', O = [] } = subjectOf(certificate);
  if (typeof CN !== 'string') return 'several';
  if (CN === '') return 'none';
  return {
    commonName: CN,
    organizations: [O].flat(),
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    notBeforeMs: Date.parse(certificate.validFrom),
    notAfterMs: Date.parse(certificate.validTo),
  };
}

type SubjectNames = { readonly CN?: string | string[]; readonly O?: string | string[] };

/** An attribute that occurs more than once is a list. A certificate without a subject has none. */
const subjectOf = (certificate: X509Certificate): SubjectNames =>
  (certificate.toLegacyObject().subject as SubjectNames | undefined) ?? {};

/**
 * A connection outlives the certificate that opened it, and a resumed TLS session is not verified again. Both bounds are
 * inclusive (RFC 5280, 4.1.2.5). A bound that could not be parsed is never met.
 */
export function isValidAt(
  { notBeforeMs, notAfterMs }: Pick<ClientCertificate, 'notBeforeMs' | 'notAfterMs'>,
  nowMs: number,
): boolean {
  // The bounds are whole seconds: the last one is valid to its end.
  return nowMs >= notBeforeMs && nowMs < notAfterMs + 1000;
}
