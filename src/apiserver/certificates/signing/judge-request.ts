// Which certificate requests are approved automatically: the first client certificate of a node, by a bootstrap token,
// and certificates that a node requests for itself. Upstream: pkg/apis/certificates/helpers.go and controller/certificates/approver.

import { formatAddress } from '../../../ip/address.ts';
import type { CertificateRequest } from '../../../kinds/certificate-signing-request/parse-request.ts';
import {
  type CertificateSigningRequest,
  nodeClientSigner,
  nodeServingSigner,
} from '../../../kinds/certificate-signing-request/types.ts';
import { canonicalHost } from '../../../meta/canonical-host.ts';
import { goQuote } from '../../../schema/go-quote.ts';
import { nodeOf, nodesGroup } from '../../access/known-users.ts';

/** What is known of the requester and of the cluster. */
export type ApprovalFacts = {
  /** Whether the requester may create this subresource of certificate requests. */
  readonly may: (subresource: string) => boolean;
  /** Addresses of a node, as its object has them, in canonical form; undefined when there is no such node. */
  readonly addressesOf: (node: string) => readonly string[] | undefined;
  /** The source address of the request, in canonical form, which a node is known to have. Absent: unknown. */
  readonly source?: string;
  /** Whether an address or a name, in canonical form, is another's: of the API servers, of Services or of another node. */
  readonly isTaken: (host: string, node: string) => boolean;
};

export type Judgement =
  | { readonly approved: true; readonly message: string }
  /** Needs manual approval, and why. */
  | { readonly approved: false; readonly why: string };

export function judgeRequest(
  { spec }: CertificateSigningRequest,
  csr: CertificateRequest,
  facts: ApprovalFacts,
): Judgement {
  const node = nodeOf(csr.commonName);
  if (node === undefined || csr.organizations.join() !== nodesGroup || csr.hasOtherSubject) {
    return wait('it is not for a node');
  }
  const isOwn = spec.username === csr.commonName && (spec.groups ?? []).includes(nodesGroup);
  switch (spec.signerName) {
    case nodeClientSigner:
      return judgeClient(spec.usages ?? [], csr, isOwn, facts);
    case nodeServingSigner:
      return isOwn
        ? judgeServing(spec.usages ?? [], csr, node, facts)
        : wait('only the node itself may request its serving certificate');
    default:
      return wait('requests for this signer need manual approval');
  }
}

const wait = (why: string): Judgement => ({ approved: false, why });

function judgeClient(
  usages: readonly string[],
  csr: CertificateRequest,
  isOwn: boolean,
  { may }: ApprovalFacts,
): Judgement {
  if (namesOf(csr).length > 0 || csr.hasOtherNames) {
    return wait('a client certificate has no alternative names');
  }
  if (!areUsages(usages, 'client auth')) return wait('its usages are not those of a client');
  if (isOwn && may('selfnodeclient')) {
    return { approved: true, message: 'Auto approving self kubelet client certificate.' };
  }
  return may('nodeclient')
    ? { approved: true, message: 'Auto approving kubelet client certificate.' }
    : wait('the requester is not allowed to request node certificates');
}

function judgeServing(
  usages: readonly string[],
  csr: CertificateRequest,
  node: string,
  facts: ApprovalFacts,
): Judgement {
  const { may, addressesOf } = facts;
  if (namesOf(csr).length === 0 || csr.hasOtherNames)
    return wait('it needs DNS names or addresses, and only those');
  if (!areUsages(usages, 'server auth')) return wait('its usages are not those of a server');
  if (!may('selfnodeserver'))
    return wait('the requester is not allowed to request serving certificates');
  const own = addressesOf(node);
  if (own === undefined) return wait('there is no such node');
  const why =
    firstProblem(csr.dnsNames, (name) => nameProblem(canonicalHost(name), node, facts)) ??
    firstProblem(csr.addresses.map(addressText), (address) =>
      addressProblem(canonicalHost(address), node, { ...facts, own }),
    );
  if (why !== undefined) return wait(why);
  return { approved: true, message: 'Auto approving self kubelet serving certificate.' };
}

function firstProblem(
  hosts: readonly string[],
  problemOf: (host: string) => string | undefined,
): string | undefined {
  for (const host of hosts) {
    const why = problemOf(host);
    if (why !== undefined) return `${goQuote(host)} ${why}`;
  }
  return undefined;
}

/** Its own name, for which it has a client certificate; and not where that would pass for a Service. */
function nameProblem(name: string, node: string, { isTaken }: ApprovalFacts): string | undefined {
  if (name !== node) return 'is not the name of the node';
  if (name.split('.').includes('svc')) return 'could be the name of a Service';
  return isTaken(name, node) ? 'also belongs to another node or an API server' : undefined;
}

/** What a node says of its addresses is not enough: it could say anything. */
function addressProblem(
  address: string,
  node: string,
  { own, source, isTaken }: ApprovalFacts & { readonly own: readonly string[] },
): string | undefined {
  if (!own.includes(address)) return 'is no address of the node';
  if (address !== source) return 'is not the address that the request came from';
  return isTaken(address, node)
    ? 'also belongs to a Service, another node or an API server'
    : undefined;
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
