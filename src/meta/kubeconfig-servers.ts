// A kubeconfig names one server. More of the same cluster stand in an extension of its cluster, the place that the format has for what
// only some programs understand: kubectl keeps it and uses the one server.

import { isJsonObject } from '../schema/json-object.ts';
import { trimEnd } from './trim-end.ts';

const name = 'fairlead.dev/other-servers';

/** Lines of block YAML among the fields of a cluster, indented to stand there. */
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

/** From the `extensions` of a cluster; what is not understood is nobody's. */
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
