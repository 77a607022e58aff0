// The config map from which other servers of the cluster (kube-scheduler, kube-controller-manager, servers of extensions) learn whose client
// certificates this server trusts. Upstream: pkg/controlplane/controller/clusterauthenticationtrust.
import type { ConfigMap } from '../../kinds/config-map/types.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { ApiContext } from '../context.ts';
import { serverWrite } from '../objects/server-write.ts';
import { updateObject } from '../objects/update-object.ts';

const place = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
const clientAuthorityKey = 'client-ca-file';
const pemEnd = '-----END CERTIFICATE-----\n';

export async function ensureAuthenticationConfig(
  context: ApiContext,
  authority: string,
): Promise<void> {
  const resource = context.resources.of('configmaps');
  await updateObject(context, {
    resource,
    ...place,
    subresource: '',
    rules: resource.definition.update,
    desired: (live) => withAuthority(live as ConfigMap | undefined, authority),
    create: { authorize: 'as the server' },
    needsVersion: false,
    checksUid: false,
    write: serverWrite(context),
  });
}

/** Added to what is there: certificates of another authority may still be in use. */
function withAuthority(live: ConfigMap | undefined, authority: string): KubeObject {
  const known = live?.data?.[clientAuthorityKey] ?? '';
  const bundle = authority.endsWith('\n') ? authority : `${authority}\n`;
  const made: ConfigMap = live ?? { kind: 'ConfigMap', apiVersion: 'v1', metadata: place };
  if (known.includes(bundle.trim())) return made as KubeObject;
  const kept = known.endsWith(pemEnd) ? known : '';
  return {
    ...made,
    data: { ...made.data, [clientAuthorityKey]: `${kept}${bundle}` },
  } as KubeObject;
}
