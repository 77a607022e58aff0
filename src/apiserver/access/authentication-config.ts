// Publishes the client CA in the ConfigMap extension-apiserver-authentication, from which other servers of the cluster
// (kube-scheduler, kube-controller-manager, extension API servers) read it. Upstream:
// pkg/controlplane/controller/clusterauthenticationtrust.
import type { ConfigMap } from '../../kinds/config-map/types.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { ApiContext } from '../context.ts';
import { serverWrite } from '../objects/server-write.ts';
import { updateObject } from '../objects/update-object.ts';

const configMapName = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
const clientAuthorityKey = 'client-ca-file';
const pemEnd = '-----END CERTIFICATE-----\n';

export async function ensureAuthenticationConfig(
  context: ApiContext,
  authority: string,
): Promise<void> {
  const resource = context.resources.of('configmaps');
  await updateObject(context, {
    resource,
    ...configMapName,
    subresource: '',
    rules: resource.definition.update,
    desired: (live) => withAuthority(live as ConfigMap | undefined, authority),
    create: { authorize: 'as the server' },
    needsVersion: false,
    checksUid: false,
    write: serverWrite(context),
  });
}

/** Appends to the bundle: certificates of another authority may still be in use. */
function withAuthority(live: ConfigMap | undefined, authority: string): KubeObject {
  const bundles = live?.data?.[clientAuthorityKey] ?? '';
  const bundle = authority.endsWith('\n') ? authority : `${authority}\n`;
  const base: ConfigMap = live ?? { kind: 'ConfigMap', apiVersion: 'v1', metadata: configMapName };
  if (bundles.includes(bundle.trim())) return base as KubeObject;
  const existing = bundles.endsWith(pemEnd) ? bundles : '';
  return {
    ...base,
    data: { ...base.data, [clientAuthorityKey]: `${existing}${bundle}` },
  } as KubeObject;
}
