// Warnings about TLS Secrets whose certificate or key cannot be used.
import { type Secret, tlsSecretType } from './types.ts';

export function secretWarnings({ type, data = {} }: Secret): readonly string[] {
  if (type !== tlsSecretType) return [];
  const certificates = pemBlocks(data['tls.crt']);
  if (!certificates.includes('CERTIFICATE')) return [certificateWarning(certificates)];
  const keys = pemBlocks(data['tls.key']);
  return keys.some(isPrivateKey) ? [] : [keyWarning(keys)];
}

function certificateWarning(blocks: readonly string[]): string {
  if (blocks.length === 0) return 'tls: failed to find any PEM data in certificate input';
  const [only] = blocks;
  if (blocks.length === 1 && only !== undefined && only.endsWith('PRIVATE KEY')) {
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  }
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${blocks.join(' ')}]`;
}

function keyWarning(blocks: readonly string[]): string {
  if (blocks.length === 0) return 'tls: failed to find any PEM data in key input';
  if (blocks.length === 1 && blocks[0] === 'CERTIFICATE') {
    return 'tls: found a certificate rather than a key in the PEM for the private key';
  }
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${blocks.join(' ')}]`;
}

function isPrivateKey(type: string): boolean {
  return type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY');
}

/** Types of the PEM blocks, in order. */
function pemBlocks(encoded = ''): readonly string[] {
  const text = Buffer.from(encoded, 'base64').toString('latin1');
  const types: string[] = [];
  for (let at = text.indexOf(pemBegin); at >= 0; at = text.indexOf(pemBegin, at + 1)) {
    const type = blockType(text, at);
    if (type !== undefined) types.push(type);
  }
  return types;
}

const pemBegin = '-----BEGIN ';
/** Longer than any type in use. */
const maxTypeLength = 256;
const typeForm = /^([^\n-]+)-----\r?\n/;

/** The type of the block that begins here, if it is complete; its body contains no hyphen. */
function blockType(text: string, at: number): string | undefined {
  const before = text.charAt(at - 1);
  if (before !== '' && before !== '\n' && before !== '\r') return undefined;
  const from = at + pemBegin.length;
  const [opening, type] = typeForm.exec(text.slice(from, from + maxTypeLength)) ?? [];
  if (opening === undefined || type === undefined) return undefined;
  const end = text.indexOf('-', from + opening.length);
  return end >= 0 && text.startsWith(`-----END ${type}-----`, end) ? type : undefined;
}
