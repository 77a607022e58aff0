// The two kernel settings that these rules depend on.
import { readFileSync, writeFileSync } from 'node:fs';
import { insideNamespace } from '../../../host/namespaces.ts';

const routeLocalnet = '/proc/sys/net/ipv4/conf/all/route_localnet';
const conntrackLiberal = '/proc/sys/net/netfilter/nf_conntrack_tcp_be_liberal';

/** Lets packets from 127.0.0.1 leave the node, so that node ports can answer there (IPT-09). */
export function allowLoopbackRoutes(namespacePath?: string): void {
  within(namespacePath, () => {
    if (readFileSync(routeLocalnet, 'utf8').trim() !== '1') writeFileSync(routeLocalnet, '1\n');
  });
}

/** Whether conntrack calls no packet of a known connection invalid (IPT-07). */
export function isConntrackLiberal(namespacePath?: string): boolean {
  return within(namespacePath, () => {
    try {
      return readFileSync(conntrackLiberal, 'utf8').trim() === '1';
    } catch (error) {
      // Not there before conntrack is in use.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  });
}

/** /proc/sys/net shows the namespace of the thread that looks. */
function within<Result>(namespacePath: string | undefined, work: () => Result): Result {
  return namespacePath === undefined ? work() : insideNamespace(namespacePath, work);
}
