// Requests a certificate: creates a key and a CertificateSigningRequest, and waits until it is approved and signed.
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
  /** Called with the request's name when it is not approved automatically. */
  readonly onWait?: (request: string) => void;
};

/** The request was denied or deleted. */
export class CertificateRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CertificateRefused';
  }
}

/** Automatic approval takes a moment; after this it needs a person. */
const approvalNoticeMs = 5_000;

export async function requestCertificate(
  spec: CertificateSpec,
  signal: AbortSignal,
): Promise<KeyPair> {
  const { caller, nodeName, signer: signerName, use, names = [] } = spec;
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
  const timer = setTimeout(() => spec.onWait?.(name), approvalNoticeMs);
  try {
    const certificate = await waitForCertificate(caller, name, signal);
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey))) {
      throw new CertificateRefusedError(`The certificate of ${name} is for another key.`);
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
      if (type === 'DELETED') throw new CertificateRefusedError(`The request ${name} was deleted.`);
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
    throw new CertificateRefusedError(
      `The request ${metadata.name} was refused (${type}): ${message}.`,
    );
  }
  return status.certificate
    ? Buffer.from(status.certificate, 'base64').toString('utf8')
    : undefined;
}
