// Parses a PKCS#10 certificate request (RFC 2986): subject, alternative names and key. Malformed bytes give undefined,
// never an error: they are untrusted input.
import { type DerItem, readDer, readItems, readObjectIdentifier } from './read-der.ts';

export type CertificateRequest = {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Whether the subject has other attributes, or several common names. */
  readonly hasOtherSubject: boolean;
  readonly dnsNames: readonly string[];
  /** Four or sixteen bytes each. */
  readonly addresses: readonly Uint8Array[];
  /** Whether it requests mail addresses, URIs or other kinds of names. */
  readonly hasOtherNames: boolean;
  /** The SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array;
  /** The bytes that are signed. */
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
  /** Object identifier of the signature algorithm. */
  readonly signatureAlgorithm: string;
};

const identifiers = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  extensionRequest: '1.2.840.113549.1.9.14',
  subjectAlternativeName: '2.5.29.17',
} as const;

const tags = { bitString: 0x03, octetString: 0x04, sequence: 0x30, set: 0x31, attributes: 0xa0 };

/** Base64 of PEM: a request with many names and a long key has a few kilobytes. */
const maxFieldLength = 256 * 1024;
const pemBegin = '-----BEGIN CERTIFICATE REQUEST-----';
const pemEnd = '-----END CERTIFICATE REQUEST-----';

/** `base64` is the field of the object: base64 of PEM text. */
export function parseRequestField(base64: string): CertificateRequest | undefined {
  if (base64.length > maxFieldLength) return undefined;
  const text = Buffer.from(base64, 'base64').toString('latin1').trim();
  if (!text.startsWith(pemBegin) || !text.endsWith(pemEnd)) return undefined;
  const body = text.slice(pemBegin.length, -pemEnd.length);
  if (!/^\s[A-Za-z0-9+/=\s]*$/.test(body) || body.trim() === '') return undefined;
  return parseCertificateRequest(new Uint8Array(Buffer.from(body, 'base64')));
}

export function parseCertificateRequest(bytes: Uint8Array): CertificateRequest | undefined {
  const whole = readDer(bytes);
  const [body, algorithm, signature] = itemsOf(whole, tags.sequence) ?? [];
  if (body === undefined || algorithm === undefined || signature?.tag !== tags.bitString) {
    return undefined;
  }
  const [, subject, key, attributes] = itemsOf(body, tags.sequence) ?? [];
  const names = subject && readSubject(subject);
  const method = itemsOf(algorithm, tags.sequence)?.[0];
  const alternatives = readAlternatives(attributes);
  if (names === undefined || key?.tag !== tags.sequence || alternatives === undefined) {
    return undefined;
  }
  return {
    ...names,
    ...alternatives,
    publicKey: key.whole,
    signed: body.whole,
    signature: signature.content.subarray(1),
    signatureAlgorithm: (method && readObjectIdentifier(method)) ?? '',
  };
}

function itemsOf(item: DerItem | undefined, tag: number): readonly DerItem[] | undefined {
  return item?.tag === tag ? readItems(item.content) : undefined;
}

type Names = Pick<CertificateRequest, 'commonName' | 'organizations' | 'hasOtherSubject'>;

function readSubject(subject: DerItem): Names | undefined {
  const sets = itemsOf(subject, tags.sequence);
  if (sets === undefined) return undefined;
  const attributes = sets.flatMap((set) => itemsOf(set, tags.set) ?? []);
  const pairs = attributes.map((attribute) => {
    const [type, value] = itemsOf(attribute, tags.sequence) ?? [];
    const name = type && readObjectIdentifier(type);
    return { name, text: value === undefined ? '' : textOf(value.content) };
  });
  const commonNames = pairs.filter(({ name }) => name === identifiers.commonName);
  const known: readonly (string | undefined)[] = [identifiers.commonName, identifiers.organization];
  return {
    commonName: commonNames.at(-1)?.text ?? '',
    organizations: pairs.flatMap(({ name, text }) =>
      name === identifiers.organization ? [text] : [],
    ),
    hasOtherSubject: pairs.some(({ name }) => !known.includes(name)) || commonNames.length > 1,
  };
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

type Alternatives = Pick<CertificateRequest, 'dnsNames' | 'addresses' | 'hasOtherNames'>;

const noAlternatives: Alternatives = { dnsNames: [], addresses: [], hasOtherNames: false };

/** Of the requested extensions only the alternative names matter here; the rest is the signer's decision. */
function readAlternatives(attributes: DerItem | undefined): Alternatives | undefined {
  if (attributes === undefined) return noAlternatives;
  const extensions = itemsOf(attributes, tags.attributes)?.flatMap((attribute) => {
    const [type, values] = itemsOf(attribute, tags.sequence) ?? [];
    const isRequest =
      type !== undefined && readObjectIdentifier(type) === identifiers.extensionRequest;
    return isRequest ? (itemsOf(values, tags.set) ?? []) : [];
  });
  if (extensions === undefined) return undefined;
  const requested = extensions
    .flatMap((list) => itemsOf(list, tags.sequence) ?? [])
    .map((extension) => itemsOf(extension, tags.sequence) ?? [])
    .find(([type]) => type && readObjectIdentifier(type) === identifiers.subjectAlternativeName);
  if (requested === undefined) return noAlternatives;
  const value = requested.find(({ tag }) => tag === tags.octetString);
  const names = value && itemsOf(readDer(value.content), tags.sequence);
  return names === undefined ? undefined : sortNames(names);
}

/** GeneralName: [2] is a DNS name, [7] an address. */
function sortNames(names: readonly DerItem[]): Alternatives | undefined {
  const addresses = names.filter(({ tag }) => tag === 0x87).map(({ content }) => content);
  if (addresses.some(({ length }) => length !== 4 && length !== 16)) return undefined;
  return {
    dnsNames: names.filter(({ tag }) => tag === 0x82).map(({ content }) => textOf(content)),
    addresses,
    hasOtherNames: names.some(({ tag }) => tag !== 0x82 && tag !== 0x87),
  };
}
