// A certificate by request: a new key, a CertificateSigningRequest, and waiting until somebody has approved and signed it.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type KeyPair, makeCertificateRequest } from '../apiserver/certificates/x509.ts';
import type { ApiCaller } from '../client/api-call.ts';
import { resourceClient } from '../client/rest.ts';
import { watchResource } from '../client/watch.ts';
import { certificateSigningRequestDefinition as definition } from '../kinds/certificate-signing-request/definition.ts';
import type { CertificateSigningRequest } from '../kinds/certificate-signing-request/types.ts';

export type CertificateSpec = {
  readonly caller: ApiCaller;
  readonly nodeName: string;
  readonly signer: string;
  readonly use: 'client auth' | 'server auth';
  readonly names?: readonly string[];
  /** Told when the request has to wait for a person. */
  readonly onWait?: (request: string) => void;
};

/** The request was turned down; asking again will not help. */
export class CertificateRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CertificateRefused';
  }
}

/** Auto-approval takes a moment; after this a person is needed. */
const quickMs = 5_000;

export async function requestCertificate(
  wish: CertificateSpec,
  signal: AbortSignal,
): Promise<KeyPair> {
  const { caller, nodeName, signer: signerName, use, names = [] } = wish;
  const { request, privateKey } = makeCertificateRequest({
    subject: { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] },
    names,
  });
  const created = await resourceClient(caller, definition).create(
    {
      kind: 'CertificateSigningRequest',
      apiVersion: 'certificates.k8s.io/v1',
      metadata: { generateName: 'node-csr-' },
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName,
        usages: ['digital signature', use],
      },
      status: {},
    },
    { signal },
  );
  const name = created.metadata.name ?? '';
  const timer = setTimeout(() => wish.onWait?.(name), quickMs);
  try {
    const certificate = await waitForCertificate(caller, name, signal);
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey))) {
      throw new CertificateRefused(`The certificate of ${name} is for another key.`);
    }
    return { certificate, privateKey };
  } finally {
    clearTimeout(timer);
  }
}

async function waitForCertificate(
  caller: ApiCaller,
  name: string,
  signal: AbortSignal,
): Promise<string> {
  while (!signal.aborted) {
    const watched = watchResource(caller, definition, {
      fieldSelector: `metadata.name=${name}`,
      signal,
    });
    for await (const { type, object } of watched) {
      if (type === 'BOOKMARK') continue;
      if (type === 'DELETED') throw new CertificateRefused(`The request ${name} was removed.`);
      const issued = outcomeOf(object);
      if (issued !== undefined) return issued;
    }
  }
  throw signal.reason;
}

function outcomeOf({ metadata, status }: CertificateSigningRequest): string | undefined {
  const refused = (status.conditions ?? []).find(
    ({ type }) => type === 'Denied' || type === 'Failed',
  );
  if (refused !== undefined) {
    const { type, message = refused.reason ?? '' } = refused;
    throw new CertificateRefused(`The request ${metadata.name} was refused (${type}): ${message}.`);
  }
  return status.certificate
    ? Buffer.from(status.certificate, 'base64').toString('utf8')
    : undefined;
}
