// From a target to addresses and a port: by the name hop, or by the objects themselves.
import { addressOfFamily } from '../ip/family-address.ts';
import type { Service, ServicePort } from '../kinds/service/types.ts';
import { headlessIP } from '../kinds/service/types.ts';
import { objectKey } from '../meta/object.ts';
import type { Family, Protocol } from '../proxy/model/state.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { absenceText } from '../snapshot/snapshot.ts';
import type { Destination } from './judge-connection.ts';
import { resolveName } from './name-hop.ts';
import { families } from './node-rules.ts';
import type { Parsed, Target } from './parse-target.ts';
import { nodeAddressesOf, type Source } from './resolve-source.ts';
import type { NameHop } from './trace.ts';

export type Found = {
  readonly name?: NameHop;
  /** In the order in which a client tries them. */
  readonly destinations: readonly Destination[];
  readonly port?: number;
  readonly protocol: Protocol;
  /** The headless Service whose name leads to the addresses. */
  readonly headless?: Service;
  /** Why there are no addresses. */
  readonly why?: string;
};

export type FindOptions = {
  readonly source: Source;
  readonly domain: string;
  /** The current namespace. */
  readonly namespace: string;
  /** Absent: that of the Service's port, or TCP. */
  readonly protocol?: Protocol;
  /** Families in which the client has addresses. */
  readonly families: readonly Family[];
};

export function findDestinations(
  index: SnapshotIndex,
  target: Target,
  options: FindOptions,
): Parsed<Found> {
  const protocol = options.protocol ?? 'TCP';
  switch (target.kind) {
    case 'address':
      return {
        value: {
          destinations: at([target.ip], target.port, protocol),
          port: target.port,
          protocol,
        },
      };
    case 'node': {
      const node = index.node(target.name);
      if (node === undefined) {
        const what = `node "${target.name}"`;
        return { error: absenceText(index.snapshot, { what, kind: 'nodes' }) };
      }
      const addresses = inFamilies(nodeAddressesOf(node), options.families);
      return {
        value: {
          destinations: at(addresses, target.port, protocol),
          ...{ port: target.port, protocol },
        },
      };
    }
    case 'name':
      return byName(index, target, options);
    case 'service':
      return byService(index, target, options);
  }
}

function byName(
  index: SnapshotIndex,
  { host, port }: Extract<Target, { kind: 'name' }>,
  options: FindOptions,
): Parsed<Found> {
  const { source, domain, protocol } = options;
  const name = resolveName(index, host, { source, domain });
  const service = serviceNamed(index, name, domain);
  const chosen = choosePort(service, port === undefined ? undefined : `${port}`, protocol);
  if (chosen === undefined || 'error' in chosen) {
    // A name that does not exist says more than a port that is missing.
    if (name.outcome !== 'found')
      return { value: { name, destinations: [], protocol: protocol ?? 'TCP' } };
    return { error: chosen?.error ?? `"${host}" needs a port, as in ${host}:80` };
  }
  const addresses = inFamilies(name.used?.addresses ?? [], options.families);
  const isHeadless = service?.spec.clusterIP === headlessIP;
  return {
    value: {
      name,
      destinations: at(addresses, chosen.port, chosen.protocol),
      ...chosen,
      ...(isHeadless ? { headless: service } : {}),
    },
  };
}

/** The Service whose name was found, also behind aliases. */
function serviceNamed(index: SnapshotIndex, hop: NameHop, domain: string): Service | undefined {
  const records = hop.queries
    .filter(({ name }) => name === hop.used?.name)
    .flatMap((one) => one.records);
  const owner = records.find(({ type }) => type === 'A' || type === 'AAAA')?.name ?? '';
  const suffix = `.svc.${domain}.`;
  if (!owner.endsWith(suffix)) return undefined;
  const labels = owner.slice(0, -suffix.length).split('.');
  return index.service(labels.at(-1) ?? '', labels.at(-2) ?? '');
}

function byService(
  index: SnapshotIndex,
  target: Extract<Target, { kind: 'service' }>,
  options: FindOptions,
): Parsed<Found> {
  const { source, domain } = options;
  const { namespace = options.namespace, name } = target;
  const service = index.service(namespace, name);
  if (service === undefined) {
    const what = `Service "${name}"`;
    return { error: absenceText(index.snapshot, { what, kind: 'services', namespace }) };
  }
  const chosen = choosePort(service, target.port, options.protocol);
  if (chosen === undefined) return { error: `Service ${namespace}/${name} has no ports: name one` };
  if ('error' in chosen) return chosen;
  if (source.usesClusterDns) {
    const short = source.namespace === namespace ? name : `${name}.${namespace}`;
    const hop = resolveName(index, short, { source, domain });
    const addresses = inFamilies(hop.used?.addresses ?? [], options.families);
    const isHeadless = service.spec.clusterIP === headlessIP;
    return {
      value: {
        name: hop,
        destinations: at(addresses, chosen.port, chosen.protocol),
        ...chosen,
        ...(isHeadless ? { headless: service } : {}),
      },
    };
  }
  return source.kind === 'outside'
    ? { value: fromOutside(index, service, { ...chosen, families: options.families }) }
    : {
        value: {
          destinations: at(
            inFamilies(clusterIPs(service), options.families),
            chosen.port,
            chosen.protocol,
          ),
          ...chosen,
        },
      };
}

type Chosen = { readonly port: number; readonly protocol: Protocol; readonly nodePort?: number };

/** Undefined: nothing says which port. */
function choosePort(
  service: Service | undefined,
  wanted: string | undefined,
  protocol: Protocol | undefined,
): Chosen | { readonly error: string } | undefined {
  const ports = (service?.spec.ports ?? []).filter(
    (one) => protocol === undefined || protocolOf(one) === protocol,
  );
  const listed = (service?.spec.ports ?? [])
    .map((one) => `${one.name ? `${one.name} ` : ''}${one.port}/${protocolOf(one)}`)
    .join(', ');
  const number = wanted !== undefined && /^\d+$/.test(wanted) ? Number(wanted) : undefined;
  if (wanted === undefined) {
    const [only, ...others] = ports;
    if (only === undefined) return undefined;
    if (others.length === 0) return chosenOf(only);
    return {
      error: `Service ${keyOf(service)} has ${ports.length} ports, name one of them: ${listed}`,
    };
  }
  const found = ports.find((one) =>
    number === undefined ? one.name === wanted : one.port === number,
  );
  if (found !== undefined) return chosenOf(found);
  if (number !== undefined) return { port: number, protocol: protocol ?? 'TCP' };
  return { error: `Service ${keyOf(service)} has no port "${wanted}"; it has ${listed || 'none'}` };
}

const keyOf = (service: Service | undefined): string =>
  service === undefined ? '' : objectKey(service.metadata);

const protocolOf = ({ protocol }: ServicePort): Protocol => protocol ?? 'TCP';

function chosenOf(one: ServicePort): Chosen {
  return {
    port: one.port,
    protocol: protocolOf(one),
    ...(one.nodePort ? { nodePort: one.nodePort } : {}),
  };
}

function clusterIPs({ spec }: Service): readonly string[] {
  const all = spec.clusterIPs ?? [spec.clusterIP ?? ''];
  return all.filter((ip) => ip !== '' && ip !== headlessIP);
}

/** Load balancer and external addresses; without any, the node port at every node. */
function fromOutside(
  { snapshot }: SnapshotIndex,
  { metadata, spec, status }: Service,
  { port, protocol, nodePort, families }: Chosen & Pick<FindOptions, 'families'>,
): Found {
  const named = [
    ...(status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip),
    ...(spec.externalIPs ?? []),
  ].filter((ip) => ip !== '');
  const addresses = inFamilies(named, families);
  if (addresses.length > 0) return { destinations: at(addresses, port, protocol), port, protocol };
  if (nodePort === undefined) {
    const key = `${metadata.namespace}/${metadata.name}`;
    const pending = spec.type === 'LoadBalancer' ? ', and its load balancer has none yet' : '';
    return {
      ...{ destinations: [], port, protocol },
      why: `Service ${key} has no address for clients outside of the cluster: no external IP, no node port${pending}`,
    };
  }
  const nodes = snapshot.objects.nodes.flatMap((node) =>
    inFamilies(nodeAddressesOf(node), families),
  );
  return { destinations: at(nodes, nodePort, protocol), port: nodePort, protocol };
}

function at(
  addresses: readonly string[],
  port: number,
  protocol: Protocol,
): readonly Destination[] {
  return addresses.flatMap((one) =>
    families.flatMap((family) => {
      const address = addressOfFamily(one, family);
      return address === undefined ? [] : [{ address, family, port, protocol }];
    }),
  );
}

function inFamilies(addresses: readonly string[], known: readonly Family[]): readonly string[] {
  return addresses.filter((ip) => known.includes(ip.includes(':') ? 'IPv6' : 'IPv4'));
}
