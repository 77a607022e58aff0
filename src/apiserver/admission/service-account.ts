// Pods run under a service account that exists, and get its token and its secrets for fetching images. Kubernetes:
// plugin/pkg/admission/serviceaccount.
import type { Container } from '../../kinds/pod/container.ts';
import { isMirrorPod } from '../../kinds/pod/mirror.ts';
import { referencedObjects } from '../../kinds/pod/referenced-objects.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { ServiceAccount } from '../../kinds/service-account/types.ts';
import type { KubeObject } from '../../meta/object.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource, refused } from './admission.ts';

const defaultAccount = 'default';
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const volumePrefix = 'kube-api-access-';
/** Slightly more than an hour: distinguishes these tokens from those requested for an hour. */
const tokenSeconds = 3607;
/** How long to wait for the controller to create the default account of a new namespace; about upstream's. */
const accountWaitMs = 1500;

export const serviceAccountPlugin: AdmissionPlugin = {
  name: 'ServiceAccount',
  onByDefault: true,
  ready(request, { reader, waitFor }) {
    const { namespace } = request;
    const pod = createdPod(request);
    if (pod === undefined || isMirrorPod(pod)) return undefined;
    const name = pod.spec.serviceAccountName || defaultAccount;
    const isComing = name === defaultAccount && isLive(reader.get('namespaces', '', namespace));
    if (!isComing || reader.get('serviceaccounts', namespace, name) !== undefined) return undefined;
    return waitFor({ resource: 'serviceaccounts', namespace, name, timeoutMs: accountWaitMs });
  },
  mutate(request, { reader, randomSuffix }) {
    const { namespace } = request;
    const pod = createdPod(request);
    if (pod === undefined) return undefined;
    if (isMirrorPod(pod)) {
      const problem = mirrorProblem(pod);
      if (problem !== undefined) throw refused(request, problem);
      return undefined;
    }
    const name = pod.spec.serviceAccountName || defaultAccount;
    const account = reader.get('serviceaccounts', namespace, name) as ServiceAccount | undefined;
    if (account === undefined) {
      throw refused(
        request,
        `error looking up service account ${namespace}/${name}: serviceaccount ${goQuote(name)} not found`,
      );
    }
    return withPullSecrets(withToken(withAccount(pod, name), account, randomSuffix), account);
  },
};

function createdPod(request: AdmissionRequest): Pod | undefined {
  const { operation, subresource, after } = request;
  const isPod = isResource(request, '', 'pods') && operation === 'create' && subresource === '';
  return isPod ? (after as Pod) : undefined;
}

const isLive = (namespace: KubeObject | undefined): boolean =>
  namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;

function mirrorProblem(pod: Pod): string | undefined {
  if (pod.spec.serviceAccountName) return 'a mirror pod may not reference service accounts';
  if (referencedObjects(pod).secrets.size > 0) return 'a mirror pod may not reference secrets';
  const projections = (pod.spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  return projections.some(({ serviceAccountToken }) => serviceAccountToken !== undefined)
    ? 'a mirror pod may not use ServiceAccountToken volume projections'
    : undefined;
}

function withAccount(pod: Pod, name: string): Pod {
  return { ...pod, spec: { ...pod.spec, serviceAccountName: name, serviceAccount: name } };
}

function withToken(pod: Pod, account: ServiceAccount, randomSuffix: () => string): Pod {
  const wanted =
    pod.spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
  const { containers = [], initContainers, volumes = [] } = pod.spec;
  const lacks = (container: Container): boolean =>
    !(container.volumeMounts ?? []).some((mount) => mount.mountPath === mountPath);
  if (!wanted || ![...(containers ?? []), ...(initContainers ?? [])].some(lacks)) return pod;
  const existing = volumes.find((volume) => volume.name.startsWith(volumePrefix));
  const name = existing?.name ?? `${volumePrefix}${randomSuffix()}`;
  const mount = (container: Container): Container =>
    lacks(container)
      ? {
          ...container,
          volumeMounts: [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }],
        }
      : container;
  return {
    ...pod,
    spec: {
      ...pod.spec,
      volumes: existing === undefined ? [...volumes, tokenVolume(name)] : volumes,
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(mount) }),
      containers: (containers ?? []).map(mount),
    },
  };
}

/** The token, the certificate of the server, and the namespace: what clients inside a cluster look for. */
function tokenVolume(name: string) {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [
              {
                path: 'namespace',
                fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' },
              },
            ],
          },
        },
      ],
      defaultMode: 0o644,
    },
  };
}

function withPullSecrets(pod: Pod, { imagePullSecrets = [] }: ServiceAccount): Pod {
  if ((pod.spec.imagePullSecrets ?? []).length > 0 || imagePullSecrets.length === 0) return pod;
  return { ...pod, spec: { ...pod.spec, imagePullSecrets } };
}
