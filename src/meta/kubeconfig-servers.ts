// A kubeconfig cluster has one server. Further API servers are listed in an extension of the cluster, which kubectl
// keeps and ignores.

import { isJsonObject } from '../schema/json-object.ts';
import { trimEnd } from './trim-end.ts';

const name = 'fairlead.dev/other-servers';

/** Lines of block YAML, indented for a cluster entry. */
export function renderOtherServers(servers: readonly string[]): readonly string[] {
  if (servers.length === 0) return [];
  return [
    '    extensions:',
    '    - extension:',
    '        servers:',
    ...servers.map((server) => `        - ${server}`),
    `      name: ${name}`,
  ];
}

/** From the `extensions` of a cluster; malformed entries are ignored. */
export function readOtherServers(extensions: unknown): readonly string[] {
  if (!Array.isArray(extensions)) return [];
  const own = extensions.find((one) => isJsonObject(one) && one.name === name);
  const servers =
    isJsonObject(own) && isJsonObject(own.extension) ? own.extension.servers : undefined;
  if (!Array.isArray(servers)) return [];
  return servers
    .filter((server) => typeof server === 'string' && URL.canParse(server))
    .map((server) => trimEnd(String(server), '/'));
}
