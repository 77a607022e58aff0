// Client certificates as only an attacker or a careless authority makes them: any attributes in the subject.
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
} from 'node:crypto';
import { authoritySubject } from './authority.ts';
import * as der from './der.ts';
import { exportKey, type KeyPair } from './x509.ts';

/** `[type, value]`, in order: several sets of one attribute each. */
export type Attributes = readonly (readonly ['CN' | 'O', string])[];

const identifiers = {
  CN: '2.5.4.3',
  O: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  extendedKeyUsage: '2.5.29.37',
  clientAuthentication: '1.3.6.1.5.5.7.3.2',
} as const;

export function certificateWithSubject(authority: KeyPair, attributes: Attributes): KeyPair {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const hourMs = 60 * 60 * 1000;
  const algorithm = der.sequence(der.objectIdentifier(identifiers.ecdsaWithSha256));
  const usage = der.sequence(der.objectIdentifier(identifiers.clientAuthentication));
  const body = der.sequence(
    der.explicit(0, der.unsignedInteger(Buffer.from([2]))), // version 3
    der.unsignedInteger(randomBytes(8)),
    algorithm,
    nameOf([['CN', authoritySubject.commonName]]),
    der.sequence(der.time(new Date(Date.now() - hourMs)), der.time(new Date(Date.now() + hourMs))),
    nameOf(attributes),
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    der.explicit(
      3,
      der.sequence(
        der.sequence(der.objectIdentifier(identifiers.extendedKeyUsage), der.octetString(usage)),
      ),
    ),
  );
  const signer = createPrivateKey(authority.privateKey);
  const signature = sign('sha256', body, { key: signer, dsaEncoding: 'der' });
  const whole = der.sequence(body, algorithm, der.bitString(signature));
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n');
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    privateKey: exportKey(privateKey),
  };
}

const nameOf = (attributes: Attributes): Buffer =>
  der.sequence(
    ...attributes.map(([type, value]) =>
      der.setOf(der.sequence(der.objectIdentifier(identifiers[type]), der.utf8String(value))),
    ),
  );
