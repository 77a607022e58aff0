// The value of a field of a pod, as variables and files of the downward API show it.
import type { Pod } from '../../kinds/pod/types.ts';

/** Addresses that are not yet in the pod's status. */
export type PodAddresses = {
  readonly podIPs: readonly string[];
  readonly hostIPs: readonly string[];
};

/** Undefined for an unsupported path. */
export function podField(path: string, pod: Pod, addresses: PodAddresses): string | undefined {
  const { metadata, spec } = pod;
  const keyed = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path);
  if (keyed !== null) {
    const [, map, key = ''] = keyed;
    return (map === 'labels' ? metadata.labels : metadata.annotations)?.[key] ?? '';
  }
  const { podIPs, hostIPs } = addresses;
  const values: Readonly<Record<string, () => string>> = {
    'metadata.name': () => metadata.name ?? '',
    'metadata.namespace': () => metadata.namespace ?? '',
    'metadata.uid': () => metadata.uid ?? '',
    'metadata.labels': () => mapText(metadata.labels),
    'metadata.annotations': () => mapText(metadata.annotations),
    'spec.nodeName': () => spec.nodeName ?? '',
    'spec.serviceAccountName': () => spec.serviceAccountName ?? '',
    'status.hostIP': () => hostIPs[0] ?? '',
    'status.hostIPs': () => hostIPs.join(','),
    'status.podIP': () => podIPs[0] ?? '',
    'status.podIPs': () => podIPs.join(','),
  };
  return Object.hasOwn(values, path) ? values[path]?.() : undefined;
}

/** Lines of `key="value"`, sorted by key. */
function mapText(map: Readonly<Record<string, string>> = {}): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}=${JSON.stringify(map[key])}`)
    .join('\n');
}
