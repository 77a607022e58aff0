// A client outside, a node that forwards, and pods behind it, each in a namespace of its own: the shortest way through a Service.
import { writeFileSync } from 'node:fs';
import {
  createNamespace,
  type HeldNamespace,
  insideNamespace,
} from '../../../src/host/namespaces.ts';
import { openNetlink } from '../../../src/host/netlink/netlink.ts';
import { addAddress } from '../../../src/host/netlink/route-addresses.ts';
import { addLink, changeLink } from '../../../src/host/netlink/route-links.ts';
import { addRoute } from '../../../src/host/netlink/route-routes.ts';

export const nodeIP = '10.20.0.11';
const podGateway = '10.244.1.1';

export type ServiceLab = {
  readonly client: HeldNamespace;
  readonly node: HeldNamespace;
  /** One namespace that has the addresses of all pods. */
  readonly pods: HeldNamespace;
  readonly release: () => void;
};

export async function createServiceLab(
  clientIPs: readonly string[],
  podIPs: readonly string[],
): Promise<ServiceLab> {
  const [client, node, pods] = [createNamespace(), createNamespace(), createNamespace()];
  await connectToNode(node, { from: client, ips: clientIPs, gateway: nodeIP, link: 'eth0' });
  await connectToNode(node, { from: pods, ips: podIPs, gateway: podGateway, link: 'pods' });
  insideNamespace(node.path, () => writeFileSync('/proc/sys/net/ipv4/ip_forward', '1'));
  return {
    client,
    node,
    pods,
    release: () => {
      for (const namespace of [client, node, pods]) namespace.release();
    },
  };
}

type Wire = {
  readonly from: HeldNamespace;
  readonly ips: readonly string[];
  readonly gateway: string;
  /** Its name on the node. */
  readonly link: string;
};

/** A wire from a namespace to the node, which is its way to everywhere. */
async function connectToNode(
  node: HeldNamespace,
  { from, ips, gateway, link }: Wire,
): Promise<void> {
  const inside = await openNetlink({ protocol: 'route', namespacePath: from.path });
  const onNode = await openNetlink({ protocol: 'route', namespacePath: node.path });
  const peer = { name: 'eth0', namespacePath: from.path };
  await addLink(onNode, { name: link, kind: 'veth', peer });
  for (const name of ['lo', link]) await changeLink(onNode, name, { isUp: true });
  for (const name of ['lo', 'eth0']) await changeLink(inside, name, { isUp: true });
  await addAddress(onNode, { interface: link, address: `${gateway}/24` });
  for (const ip of ips) await addAddress(inside, { interface: 'eth0', address: `${ip}/24` });
  await addRoute(inside, { destination: '0.0.0.0/0', gateway });
  await Promise.all([inside.close(), onNode.close()]);
}
