// The hosts file of a source: a name that it has is resolved by it, and no query is sent.
import type { Pod } from '../kinds/pod/types.ts';
import { extendHosts, renderHosts } from '../node/environment/hosts-file.ts';
import { podHostname } from '../node/environment/pod-hostname.ts';

/** What every machine has in its file; more is not known of one. */
export const machineHosts = '127.0.0.1\tlocalhost\n::1\tlocalhost\n';

/** Of a pod that stands for any. */
export const anyPodHosts = renderHosts({ podIPs: [], hostname: '' });

export function podHosts(pod: Pod, podIPs: readonly string[], domain: string): string {
  const { hostAliases = [], hostNetwork } = pod.spec;
  if (hostNetwork === true) return extendHosts(machineHosts, hostAliases);
  // Whether the kernel gets the FQDN makes no difference to the file.
  const named = { ...pod, spec: { ...pod.spec, setHostnameAsFQDN: false } };
  return renderHosts({ podIPs, ...podHostname(named, domain), hostAliases });
}

/** The addresses of a name, in the order of the file. A name with a dot at its end is never in it. */
export function hostsAddresses(file: string, name: string): readonly string[] {
  const wanted = name.toLowerCase();
  const addresses = file.split('\n').flatMap((line) => {
    const [address = '', ...names] = (line.split('#', 1)[0] ?? '').split(/\s/);
    return names.some((one) => one !== '' && one.toLowerCase() === wanted) ? [address] : [];
  });
  return [...new Set(addresses)];
}
