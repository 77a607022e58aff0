// Publishes the ConfigMap cluster-info, from which joining machines read the CA to trust. The bootstrap signer signs it.
import { clusterInfo, clusterInfoKey } from '../../kinds/config-map/cluster-info.ts';
import type { ConfigMap } from '../../kinds/config-map/types.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { ApiContext } from '../context.ts';
import { serverWrite } from '../objects/server-write.ts';
import { updateObject } from '../objects/update-object.ts';
import type { Advertised } from './objects.ts';

export async function ensureClusterInfo(
  context: ApiContext,
  { address, port }: Advertised,
  authority: string,
): Promise<void> {
  const host = address.includes(':') ? `[${address}]` : address;
  const encoded = Buffer.from(authority).toString('base64');
  const resource = context.resources.of('configmaps');
  await updateObject(context, {
    resource,
    ...clusterInfo,
    subresource: '',
    rules: resource.definition.update,
    desired: (live) => desired(live as ConfigMap | undefined, `https://${host}:${port}`, encoded),
    create: { authorize: 'as the server' },
    needsVersion: false,
    checksUid: false,
    write: serverWrite(context),
  });
}

/** Unchanged when it contains the CA: the address may be another server's, or one that an administrator has set. */
function desired(live: ConfigMap | undefined, server: string, authority: string): KubeObject {
  if (live?.data?.[clusterInfoKey]?.includes(authority)) return live;
  const text = [
    'apiVersion: v1',
    'clusters:',
    '- cluster:',
    `    certificate-authority-data: ${authority}`,
    `    server: ${server}`,
    '  name: ""',
    'contexts: null',
    'current-context: ""',
    'kind: Config',
    'preferences: {}',
    'users: null',
    '',
  ].join('\n');
  const made: ConfigMap = live ?? { kind: 'ConfigMap', apiVersion: 'v1', metadata: clusterInfo };
  return { ...made, data: { ...made.data, [clusterInfoKey]: text } } as KubeObject;
}
