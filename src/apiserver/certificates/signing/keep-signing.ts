// Approves certificate requests of nodes and signs approved ones. Every API server of a store does this; the second one
// finds the work done.
import { parseAddress } from '../../../ip/address.ts';
import { containsAddress, parseCidrSloppy } from '../../../ip/cidr.ts';
import {
  hasFailed,
  isApproved,
  isDenied,
} from '../../../kinds/certificate-signing-request/conditions.ts';
import { certificateSigningRequestDefinition as definition } from '../../../kinds/certificate-signing-request/definition.ts';
import { parseRequestField } from '../../../kinds/certificate-signing-request/parse-request.ts';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '../../../kinds/certificate-signing-request/types.ts';
import type { Node } from '../../../kinds/node/types.ts';
import { isNotFound } from '../../../meta/api-error.ts';
import { canonicalHost } from '../../../meta/canonical-host.ts';
import type { KubeObject } from '../../../meta/object.ts';
import type { Log } from '../../../observe/log.ts';
import { sourceAddressOf } from '../../access/source-address.ts';
import type { ApiContext } from '../../context.ts';
import { serverWrite } from '../../objects/server-write.ts';
import { updateObject } from '../../objects/update-object.ts';
import { isReachable } from '../../proxy/find-target.ts';
import type { Credentials } from '../ensure-certificates.ts';
import { type ApprovalFacts, judgeRequest } from './judge-request.ts';
import { isOurSigner, signRequest } from './sign-request.ts';

export type SigningOptions = {
  readonly context: ApiContext;
  readonly credentials: () => Credentials;
  readonly log: Log;
  /** The longest life of a certificate. */
  readonly maxMs: number;
};

const resourceName = 'certificatesigningrequests.certificates.k8s.io';
/** Returns how to stop, which waits for the work in progress. */
export function keepSigning(options: SigningOptions): () => Promise<void> {
  const { context, log } = options;
  const { cache } = context.resources.of(resourceName);
  const inProgress = new Set<Promise<void>>();
  let isStopped = false;
  const processRequest = (found: KubeObject): void => {
    const request = found as CertificateSigningRequest;
    if (isStopped || !isOurSigner(request.spec.signerName)) return;
    const name = request.metadata.name ?? '';
    const work = advance(options, name)
      .catch((error: unknown) => {
        if (!isNotFound(error))
          log.warn('Failed to process certificate request', { name, error: String(error) });
      })
      .finally(() => inProgress.delete(work));
    inProgress.add(work);
  };
  const stop = cache.subscribe(({ type, current }) => {
    // Listeners are called inside the commit: writes must wait until it is over.
    if (type !== 'DELETED') setImmediate(processRequest, current.object);
  });
  for (const { object } of cache.listReadable('')) processRequest(object);
  return async () => {
    isStopped = true;
    stop();
    await Promise.all(inProgress);
  };
}

/** One step: approval, or the certificate. The write of a step triggers the next one. */
async function advance(options: SigningOptions, name: string): Promise<void> {
  const { context, log } = options;
  const request = context.resources.reader.get(resourceName, '', name) as
    | CertificateSigningRequest
    | undefined;
  if (request === undefined || request.status.certificate || hasFailed(request)) return;
  if (isDenied(request)) return;
  if (isApproved(request)) return sign(options, name);
  const csr = parseRequestField(request.spec.request ?? '');
  if (csr === undefined) return;
  const judged = judgeRequest(request, csr, factsFor(options, request));
  if (!judged.approved) {
    return log.info('Certificate request needs manual approval', { name, why: judged.why });
  }
  await write(context, name, 'approval', (live) =>
    isApproved(live) || isDenied(live)
      ? live
      : withCondition(live, 'Approved', 'AutoApproved', judged.message),
  );
  log.info('Approved certificate request', { name, user: request.spec.username });
}

async function sign(
  { context, credentials, log, maxMs }: SigningOptions,
  name: string,
): Promise<void> {
  await write(context, name, 'status', (live) => {
    if (live.status.certificate || hasFailed(live) || !isApproved(live)) return live;
    const { authority } = credentials();
    const result = signRequest(live, { authority, now: context.now(), maxMs });
    if ('problem' in result) {
      log.warn('Signer rejected certificate request', { name, problem: result.problem });
      return withCondition(live, 'Failed', 'SignerValidationFailure', result.problem);
    }
    const certificate = Buffer.from(result.certificate).toString('base64');
    return { ...live, status: { ...live.status, certificate } };
  });
}

function withCondition(
  live: CertificateSigningRequest,
  type: string,
  reason: string,
  message: string,
): CertificateSigningRequest {
  const condition: CertificateSigningRequestCondition = {
    ...{ type, status: 'True', reason, message },
    ...{ lastUpdateTime: null, lastTransitionTime: null },
  };
  const conditions = [...(live.status.conditions ?? []), condition];
  return { ...live, status: { ...live.status, conditions } };
}

async function write(
  context: ApiContext,
  name: string,
  subresource: 'approval' | 'status',
  desired: (live: CertificateSigningRequest) => CertificateSigningRequest,
): Promise<void> {
  const resource = context.resources.of(resourceName);
  const rules = resource.definition.subresources?.find((one) => one.name === subresource)?.rules;
  if (rules === undefined) throw new Error(`Certificate requests have no "${subresource}"`);
  await updateObject(context, {
    resource,
    namespace: '',
    name,
    subresource,
    rules,
    desired: (live) => desired(live as CertificateSigningRequest),
    needsVersion: false,
    checksUid: false,
    write: serverWrite(context),
  });
}

function factsFor({ context }: SigningOptions, { spec }: CertificateSigningRequest): ApprovalFacts {
  const { username: name = '', groups = [], uid, extra } = spec;
  const user = {
    ...{ name, groups },
    ...(uid === undefined ? {} : { uid }),
    ...(extra === undefined ? {} : { extra }),
  };
  const nodes = (): readonly Node[] => context.resources.reader.list('nodes') as readonly Node[];
  const source = sourceAddressOf(user);
  return {
    may: (subresource) =>
      context.authorizer.authorize(user, {
        kind: 'resource',
        verb: 'create',
        group: definition.group,
        version: '*',
        resource: definition.plural,
        subresource,
        namespace: '',
        name: '',
      }).allowed,
    ...(source === undefined ? {} : { source }),
    addressesOf: (node) => {
      const found = nodes().find(({ metadata }) => metadata.name === node);
      return found && hostsOf(found);
    },
    isTaken: (host, node) =>
      isOfCluster(context.addresses, host) ||
      nodes().some((one) => {
        const other = one.metadata.name ?? '';
        return other !== node && (canonicalHost(other) === host || hasHost(one, host));
      }),
  };
}

const hostsOf = ({ status }: Node): readonly string[] =>
  (status.addresses ?? []).map(({ address }) => canonicalHost(address));

/** A node has its own addresses, and those of its pods. */
function hasHost(node: Node, host: string): boolean {
  const address = parseAddress(host);
  const ranges = (node.spec.podCIDRs ?? []).flatMap((text) => parseCidrSloppy(text) ?? []);
  return (
    hostsOf(node).includes(host) ||
    (address !== undefined && ranges.some((range) => containsAddress(range, address)))
  );
}

function isOfCluster(addresses: ApiContext['addresses'], host: string): boolean {
  const address = parseAddress(host);
  if (addresses.isServerHost(host)) return true;
  return address !== undefined && (!isReachable(host) || addresses.isServiceAddress(address));
}
