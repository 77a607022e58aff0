// Which certificate requests are approved without a person: a node's first client certificate when a bootstrap token asks,
// and what a node asks for itself. Upstream: pkg/apis/certificates/helpers.go and controller/certificates/approver.
import { formatAddress } from '../../../ip/address.ts';
import type { CertificateRequest } from '../../../kinds/certificate-signing-request/parse-request.ts';
import {
  type CertificateSigningRequest,
  nodeClientSigner,
  nodeServingSigner,
} from '../../../kinds/certificate-signing-request/types.ts';
import { nodeOf, nodesGroup } from '../../access/known-users.ts';

/** What may be asked of who sent the request. */
export type ApprovalFacts = {
  /** Whether who asks may create this subresource of certificate requests. */
  readonly may: (subresource: string) => boolean;
  /** Addresses and names of a node, as its object has them; undefined when there is no such node. */
  readonly addressesOf: (node: string) => readonly string[] | undefined;
  /** Whether an address or a name is another's: of the API servers, or of another node. */
  readonly isTaken: (address: string, node: string) => boolean;
};

export type Judgement =
  | { readonly approved: true; readonly message: string }
  /** Left to a person, and why. */
  | { readonly approved: false; readonly why: string };

export function judgeRequest(
  { spec }: CertificateSigningRequest,
  asked: CertificateRequest,
  facts: ApprovalFacts,
): Judgement {
  const node = nodeOf(asked.commonName);
  if (node === undefined || asked.organizations.join() !== nodesGroup || asked.hasOtherSubject) {
    return wait('it is not for a node');
  }
  const isOwn = spec.username === asked.commonName && (spec.groups ?? []).includes(nodesGroup);
  switch (spec.signerName) {
    case nodeClientSigner:
      return judgeClient(spec.usages ?? [], asked, isOwn, facts);
    case nodeServingSigner:
      return isOwn
        ? judgeServing(spec.usages ?? [], asked, node, facts)
        : wait('a node can ask for its own serving certificate only');
    default:
      return wait('its signer is approved by people only');
  }
}

const wait = (why: string): Judgement => ({ approved: false, why });

function judgeClient(
  usages: readonly string[],
  asked: CertificateRequest,
  isOwn: boolean,
  { may }: ApprovalFacts,
): Judgement {
  if (namesOf(asked).length > 0 || asked.hasOtherNames) {
    return wait('a client certificate has no alternative names');
  }
  if (!areUsages(usages, 'client auth')) return wait('its usages are not those of a client');
  if (isOwn && may('selfnodeclient')) {
    return { approved: true, message: 'Auto approving self kubelet client certificate.' };
  }
  return may('nodeclient')
    ? { approved: true, message: 'Auto approving kubelet client certificate.' }
    : wait('who asks may not ask for certificates of nodes');
}

function judgeServing(
  usages: readonly string[],
  asked: CertificateRequest,
  node: string,
  { may, addressesOf, isTaken }: ApprovalFacts,
): Judgement {
  const names = namesOf(asked);
  if (names.length === 0 || asked.hasOtherNames)
    return wait('it needs DNS names or addresses, and only those');
  if (!areUsages(usages, 'server auth')) return wait('its usages are not those of a server');
  if (!may('selfnodeserver')) return wait('who asks may not ask for serving certificates');
  const own = addressesOf(node);
  if (own === undefined) return wait('there is no such node');
  const stranger = names.find((name) => name !== node && !own.includes(name));
  if (stranger !== undefined) return wait(`"${stranger}" is no address of the node`);
  const taken = names.find((name) => isTaken(name, node));
  if (taken !== undefined) return wait(`"${taken}" also belongs to another node or an API server`);
  return { approved: true, message: 'Auto approving self kubelet serving certificate.' };
}

/** DNS names and addresses, as text. */
export function namesOf({ dnsNames, addresses }: CertificateRequest): readonly string[] {
  return [...dnsNames, ...addresses.map(addressText)];
}

function addressText(bytes: Uint8Array): string {
  const value = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  return formatAddress({ family: bytes.length === 4 ? 'IPv4' : 'IPv6', value });
}

/** Exactly those: the key signs, may encrypt keys, and is for this end of a connection. */
function areUsages(usages: readonly string[], end: 'client auth' | 'server auth'): boolean {
  const allowed = new Set(['digital signature', 'key encipherment', end]);
  return (
    usages.every((usage) => allowed.has(usage)) &&
    usages.includes('digital signature') &&
    usages.includes(end)
  );
}
