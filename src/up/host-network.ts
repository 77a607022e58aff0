// `--network host`: this machine is the node; the bridge for pods and the proxy's rules are in its network.
import { hostname } from 'node:os';
import { UsageError } from '../flags/command.ts';
import { listenHere } from '../host/namespace-sockets.ts';
import { familyOf, isLoopback, isUnspecified, parseAddress } from '../ip/address.ts';
import { readNodeIPs } from '../node/status/read-machine.ts';
import { balancerPools } from './balancer-pools.ts';
import type { ClusterRun } from './run-cluster.ts';
import { podRangesOf, type UpFlags } from './up-flags.ts';

export function hostRun(flags: UpFlags): ClusterRun {
  if (process.getuid?.() !== 0) {
    throw new UsageError(
      'Cannot make this machine a node: --network host needs root. --network isolated needs no rights.',
    );
  }
  const name = hostname().toLowerCase();
  const addresses = readNodeIPs().filter((ip) => !isLocal(ip));
  const [address = ''] = addresses;
  if (address === '') {
    throw new UsageError(
      'Cannot make this machine a node: it has no address except loopback. --network isolated needs none.',
    );
  }
  const pools = balancerPools(flags);
  return {
    layout: {
      server: {
        advertiseAddress: flags.advertiseAddress ?? address,
        serverNames: addresses,
        // Pods reach the server at the node's address, unless it listens on all addresses anyway.
        listenAlso: (port) =>
          isLocal(flags.bindAddress) ? [listenHere({ host: address, port })] : [],
      },
      nodes: [{ name, addresses }],
      // Port 53 is often in use; the Service of DNS maps it to any port.
      dns: { listen: addresses.map((host) => ({ host, port: 0 })) },
      podRanges: podRangesOf(
        flags,
        addresses.flatMap((ip) => familyOf(ip) ?? []),
      ),
      ...(pools === undefined ? {} : { balancerPools: pools }),
    },
    networkText: `host: this machine is the node ${name}, and its proxy writes rules here`,
    fromHere: `node ports on ${addresses.join(', ')}; cluster IPs as they are`,
    extras: () => () => Promise.resolve(),
    release: () => Promise.resolve(),
  };
}

function isLocal(ip: string): boolean {
  const address = parseAddress(ip);
  return address === undefined || (isLoopback(address) && !isUnspecified(address));
}
