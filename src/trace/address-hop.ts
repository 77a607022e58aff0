// Whose address a connection goes to, and by which way.
import { parseAddress } from '../ip/address.ts';
import { isInRange } from '../ip/cidr.ts';
import { addressOfFamily } from '../ip/family-address.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Service } from '../kinds/service/types.ts';
import { objectKey } from '../meta/object.ts';
import { serviceProxyNameLabel } from '../meta/well-known-labels.ts';
import { explainProxying, isCaptured, type NotProxied } from '../proxy/model/service-ports.ts';
import type { Family } from '../proxy/model/state.ts';
import type { Entrance } from '../proxy/packets/reference-model.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import type { JudgedConnection } from './judge-connection.ts';
import { nodeAt } from './node-rules.ts';
import type { AddressHop } from './trace.ts';

const ways: Readonly<Record<Entrance, string>> = {
  'cluster-ip': 'cluster IP',
  'external-ip': 'external IP',
  'load-balancer-ip': 'load balancer address',
  'node-port': 'node port',
};

export function addressHop(index: SnapshotIndex, judged: JudgedConnection): AddressHop {
  const { judgement, packet } = judged;
  const { target, why } = judgement;
  if (target === undefined) return { ...ownerOf(index, judged), why };
  const { port, entrance } = target;
  const service = `${port.namespace}/${port.name}`;
  const spec = index
    .service(port.namespace, port.name)
    ?.spec.ports?.find((one) => (one.name ?? '') === port.portName && one.port === port.port);
  const named = port.portName === '' ? '' : ` (${port.portName})`;
  return {
    ...{ kind: entrance, service, servicePort: port.port, why },
    ...(port.portName === '' ? {} : { portName: port.portName }),
    ...(spec?.targetPort === undefined ? {} : { targetPort: spec.targetPort }),
    sentence: `${packet.destination} port ${packet.destinationPort} is the ${ways[entrance]} of Service ${service}, port ${port.port}${named}`,
  };
}

type Owner = Omit<AddressHop, 'why'>;

/** Of an address and port that no service port has. */
function ownerOf(index: SnapshotIndex, judged: JudgedConnection): Owner {
  const { packet, rules } = judged;
  const { destination: ip, destinationPort: port, protocol, family } = packet;
  if (packet.isToNode) return ownerOnNode(index, judged);
  const [service] = index.servicesAt(ip);
  if (service !== undefined) return unusedAddress(service, { ip, family, judged });
  const pods = index.podsAt(ip);
  const [pod] = pods;
  if (pod !== undefined) {
    return { kind: 'pod', sentence: `${ip} is the address of pod ${objectKey(pod.metadata)}` };
  }
  if (rules.state.node.serviceCIDRs.some((range) => isInRange(ip, range))) {
    return {
      kind: 'service-range',
      sentence: `${ip} lies in a range of cluster IPs, and no Service has it`,
    };
  }
  const node = nodeAt(index, ip);
  return {
    kind: node === undefined ? 'outside' : 'node',
    sentence:
      node === undefined
        ? `${ip} is no address of a Service, a pod or a node`
        : `${ip} is an address of node ${node}, and no Service has node port ${port}/${protocol}`,
  };
}

function ownerOnNode(index: SnapshotIndex, { packet, rules, node }: JudgedConnection): Owner {
  const { destination: ip, destinationPort: port, protocol } = packet;
  const check = [...rules.healthChecks].find(([, one]) => one.port === port);
  if (check !== undefined && protocol === 'TCP') {
    const [service, { localEndpoints }] = check;
    return {
      ...{ kind: 'health-check', service },
      sentence: `port ${port} is the health check of Service ${service}: the proxy of node ${node} answers ${localEndpoints > 0 ? 200 : 503}, with ${localEndpoints} local endpoints`,
    };
  }
  const pod = podOnHost(index, node, { port, protocol });
  if (pod !== undefined) {
    return {
      kind: 'host-port',
      sentence: `port ${port} of node ${node} is that of pod ${objectKey(pod.metadata)}`,
    };
  }
  const refused = nodePortElsewhere(rules.state.ports.values(), port, protocol);
  return {
    kind: 'node',
    sentence:
      refused === undefined
        ? `${ip} is an address of node ${node}, and no Service has node port ${port}/${protocol}`
        : `Service ${refused} has node port ${port}, but node ports do not answer at ${ip}`,
  };
}

function nodePortElsewhere(
  ports: Iterable<{
    readonly nodePort?: number;
    readonly protocol: string;
    readonly namespace: string;
    readonly name: string;
  }>,
  port: number,
  protocol: string,
): string | undefined {
  for (const one of ports) {
    if (one.nodePort === port && one.protocol === protocol) return `${one.namespace}/${one.name}`;
  }
  return undefined;
}

/** By hostPort, or by a container port on the network of the node. */
function podOnHost(
  index: SnapshotIndex,
  node: string,
  { port, protocol }: { readonly port: number; readonly protocol: string },
): Pod | undefined {
  return index
    .podsOn(node)
    .find(({ spec }) =>
      (spec.containers ?? []).some(({ ports }) =>
        (ports ?? []).some(
          (one) =>
            (one.protocol ?? 'TCP') === protocol &&
            (one.hostPort === port || (spec.hostNetwork === true && one.containerPort === port)),
        ),
      ),
    );
}

const notProxied: Readonly<Record<NotProxied, string>> = {
  'external-name': 'it is of type ExternalName, and has no address of its own',
  'other-proxy': `the label ${serviceProxyNameLabel} gives it to another proxy`,
  headless: 'it is headless: its name leads to its pods',
  'no-cluster-ip': 'it has no cluster IP yet',
  'other-family': 'it has no cluster IP of this family',
};

type Unused = {
  readonly ip: string;
  readonly family: Family;
  readonly judged: JudgedConnection;
};

/** A Service names the address, and none of its ports answers there. */
function unusedAddress(service: Service, { ip, family, judged }: Unused): Owner {
  const key = objectKey(service.metadata);
  const { destinationPort: port, protocol } = judged.packet;
  const own = { kind: kindOf(service, ip, family), service: key } as const;
  const proxied = explainProxying(service, family);
  if ('why' in proxied) {
    return { ...own, sentence: `${ip} is of Service ${key}, but ${notProxied[proxied.why]}` };
  }
  const refused = (judged.rules.refused.get(key) ?? []).find((one) => one.ip === ip);
  if (refused !== undefined) {
    return {
      ...own,
      sentence: `Service ${key} names ${ip}, which is not captured for it: ${refused.why}`,
    };
  }
  const ingress = service.status?.loadBalancer?.ingress?.find((one) => one.ip === ip);
  if (ingress !== undefined && !isCaptured(ingress)) {
    return {
      ...own,
      sentence: `${ip} is the load balancer address of Service ${key} with ipMode ${ingress.ipMode}: nodes leave it to the load balancer itself`,
    };
  }
  const ports = (service.spec.ports ?? [])
    .map((one) => `${one.port}/${one.protocol ?? 'TCP'}`)
    .join(', ');
  return {
    ...own,
    sentence: `${ip} is of Service ${key}, which has no port ${port}/${protocol}${ports === '' ? '' : `; it has ${ports}`}`,
  };
}

function kindOf({ spec, status }: Service, ip: string, family: Family): AddressHop['kind'] {
  const has = (list: readonly string[] = []): boolean =>
    list.some(
      (one) =>
        addressOfFamily(one, family) === ip || parseAddress(one)?.value === parseAddress(ip)?.value,
    );
  if (has([spec.clusterIP ?? '', ...(spec.clusterIPs ?? [])])) return 'cluster-ip';
  const ingress = (status?.loadBalancer?.ingress ?? []).map((one) => one.ip ?? '');
  return has(ingress) ? 'load-balancer-ip' : 'external-ip';
}
