// Creates X.509 certificates: ECDSA on P-256, version 3, the extensions that Kubernetes clients check.
// By hand because the library for it (@peculiar/x509) takes about 200 ms to load, half of what a whole start
// may take; this takes 3 ms a certificate. Keys, signatures and all reading of certificates are Node's own.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { isIP } from 'node:net';
import { parseAddress } from '../../ip/address.ts';
import * as der from './der.ts';

/** A certificate and the private key it belongs to, both PEM. */
export type KeyPair = { readonly certificate: string; readonly privateKey: string };

export type Subject = {
  readonly commonName: string;
  /** What Kubernetes reads as groups. */
  readonly organizations?: readonly string[];
};

export type CertificateUse = 'authority' | 'server' | 'client';

export type CertificateSpec = {
  readonly subject: Subject;
  readonly use: CertificateUse;
  /** DNS names and IP addresses by which a server is reached. */
  readonly names?: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The key to certify; absent: a new one is made. */
  readonly privateKey?: string;
  /** The issuer; absent: self-signed. */
  readonly issuer?: { readonly subject: Subject; readonly privateKey: string };
};

export function makeCertificate(spec: CertificateSpec): KeyPair {
  const key = spec.privateKey === undefined ? newKey() : createPrivateKey(spec.privateKey);
  const signer = spec.issuer === undefined ? key : createPrivateKey(spec.issuer.privateKey);
  return {
    certificate: signCertificate(spec, createPublicKey(key), signer),
    privateKey: spec.privateKey ?? exportKey(key),
  };
}

/** A certificate for the public key of another program. */
export function certifyKey(
  spec: CertificateSpec & { readonly issuer: NonNullable<CertificateSpec['issuer']> },
  publicKey: KeyObject,
): string {
  return signCertificate(spec, publicKey, createPrivateKey(spec.issuer.privateKey));
}

export const exportKey = (key: KeyObject): string =>
  String(key.export({ type: 'pkcs8', format: 'pem' }));

function signCertificate(spec: CertificateSpec, key: KeyObject, signer: KeyObject): string {
  const body = der.sequence(
    der.explicit(0, der.unsignedInteger(Buffer.from([2]))), // version 3
    der.unsignedInteger(serialNumber()),
    signatureAlgorithm,
    distinguishedName(spec.issuer?.subject ?? spec.subject),
    der.sequence(der.time(spec.notBefore), der.time(spec.notAfter)),
    distinguishedName(spec.subject),
    publicKeyInfo(key),
    der.explicit(3, der.sequence(...extensions(spec, key, createPublicKey(signer)))),
  );
  return toPem('CERTIFICATE', signedSequence(body, signer));
}

/** What is signed, how, and the signature: the form of certificates and of requests for them. */
function signedSequence(body: Uint8Array, signer: KeyObject): Buffer {
  const signature = sign('sha256', body, { key: signer, dsaEncoding: 'der' });
  return der.sequence(body, signatureAlgorithm, der.bitString(signature));
}

export type CertificateRequestSpec = Pick<CertificateSpec, 'subject' | 'names'>;

/** A PKCS#10 request for a new key, and that key; both PEM. */
export function makeCertificateRequest({ subject, names = [] }: CertificateRequestSpec): {
  readonly request: string;
  readonly privateKey: string;
} {
  const key = newKey();
  const requestAttributes =
    names.length === 0 ? [] : [requestedExtensions(alternativeNames(names))];
  const body = der.sequence(
    der.unsignedInteger(Buffer.from([0])), // version 1
    distinguishedName(subject),
    publicKeyInfo(createPublicKey(key)),
    der.explicit(0, Buffer.concat(requestAttributes)),
  );
  return {
    request: toPem('CERTIFICATE REQUEST', signedSequence(body, key)),
    privateKey: exportKey(key),
  };
}

function requestedExtensions(...extensions: readonly Buffer[]): Buffer {
  return der.sequence(
    der.objectIdentifier(identifiers.extensionRequest),
    der.setOf(der.sequence(...extensions)),
  );
}

const identifiers = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  extensionRequest: '1.2.840.113549.1.9.14',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuthentication: '1.3.6.1.5.5.7.3.1',
  clientAuthentication: '1.3.6.1.5.5.7.3.2',
} as const;

const signatureAlgorithm = der.sequence(der.objectIdentifier(identifiers.ecdsaWithSha256));

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
}

/** 127 random bits: positive, never zero in practice, within the 20 bytes that RFC 5280 allows. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return bytes;
}

function distinguishedName({ commonName, organizations = [] }: Subject): Buffer {
  const attribute = (type: string, value: string): Buffer =>
    der.setOf(der.sequence(der.objectIdentifier(type), der.utf8String(value)));
  return der.sequence(
    ...organizations.map((name) => attribute(identifiers.organization, name)),
    attribute(identifiers.commonName, commonName),
  );
}

function publicKeyInfo(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

/** An uncompressed point on P-256 is the last 65 bytes of the key's DER form; its hash names the key. Of others, as good a name. */
function keyIdentifier(key: KeyObject): Buffer {
  return createHash('sha1').update(publicKeyInfo(key).subarray(-65)).digest();
}

function extensions(spec: CertificateSpec, key: KeyObject, signer: KeyObject): readonly Buffer[] {
  const isAuthority = spec.use === 'authority';
  return [
    extension(identifiers.keyUsage, keyUsage(isAuthority), true),
    ...(isAuthority ? [] : [extension(identifiers.extendedKeyUsage, extendedKeyUsage(spec.use))]),
    extension(
      identifiers.basicConstraints,
      der.sequence(...(isAuthority ? [der.boolean(true)] : [])),
      true,
    ),
    extension(identifiers.subjectKeyIdentifier, der.octetString(keyIdentifier(key))),
    extension(
      identifiers.authorityKeyIdentifier,
      der.sequence(der.implicit(0, keyIdentifier(signer))),
    ),
    ...(spec.names === undefined || spec.names.length === 0 ? [] : [alternativeNames(spec.names)]),
  ];
}

function alternativeNames(names: readonly string[]): Buffer {
  return extension(identifiers.subjectAlternativeName, der.sequence(...names.map(alternativeName)));
}

function extension(identifier: string, value: Uint8Array, critical = false): Buffer {
  return der.sequence(
    der.objectIdentifier(identifier),
    ...(critical ? [der.boolean(true)] : []),
    der.octetString(value),
  );
}

/** Bit 0 is digitalSignature, 5 keyCertSign, 6 cRLSign, counted from the left. */
function keyUsage(isAuthority: boolean): Buffer {
  return isAuthority
    ? der.bitString(Buffer.from([0b1000_0110]), 1)
    : der.bitString(Buffer.from([0b1000_0000]), 7);
}

function extendedKeyUsage(use: CertificateUse): Buffer {
  const identifier =
    use === 'server' ? identifiers.serverAuthentication : identifiers.clientAuthentication;
  return der.sequence(der.objectIdentifier(identifier));
}

/** A GeneralName: [2] for DNS names, [7] for addresses. */
function alternativeName(name: string): Buffer {
  return isIP(name) === 0
    ? der.implicit(2, Buffer.from(name))
    : der.implicit(7, addressBytes(name));
}

function addressBytes(text: string): Buffer {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`Cannot certify "${text}": not a plain IP address`);
  const digits = address.value.toString(16).padStart(address.family === 'IPv4' ? 8 : 32, '0');
  return Buffer.from(digits, 'hex');
}

function toPem(type: string, content: Uint8Array): string {
  const lines =
    Buffer.from(content)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${type}-----\n${lines.join('\n')}\n-----END ${type}-----\n`;
}
