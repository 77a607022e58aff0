// A Service that is to have a balancer at AWS, read once and refused here if it can not have one.
import type { Service, ServicePort } from '../../../kinds/service/types.ts';
import { type Owner, UnmetRequestError } from '../../provider.ts';
import { balancerName } from './names.ts';
import { sourceRanges } from './rules.ts';
import { readSettings, type Settings } from './service-settings.ts';

export type Request = {
  readonly owner: Owner;
  readonly name: string;
  readonly settings: Settings;
  readonly ports: readonly ServicePort[];
  readonly ranges: readonly string[];
  readonly healthPort: number;
  readonly hasAffinity: boolean;
};

/** The node proxy's own health, the same for all Services. */
const proxyHealthPort = 10256;
export const healthPath = '/healthz';

export function readRequest(service: Service): Request {
  const { metadata, spec } = service;
  const settings = readSettings(service);
  const { namespace = '', name = '', uid = '' } = metadata;
  const ports = spec.ports ?? [];
  refusePorts(settings.kind, ports);
  const families = spec.ipFamilies ?? [];
  if (families.length > 0 && !families.includes('IPv4')) {
    throw new UnmetRequestError('Balancers of AWS are made for IPv4, which is not in ipFamilies');
  }
  const hasAffinity = spec.sessionAffinity === 'ClientIP';
  if (hasAffinity && settings.kind === 'classic') {
    throw new UnmetRequestError(
      'A classic balancer can not keep a client at one node: sessionAffinity must be None, or the balancer of type nlb',
    );
  }
  // LBC-16: with policy Local nodes without an endpoint say no at a port of the Service's own.
  const isLocal = spec.externalTrafficPolicy === 'Local' && (spec.healthCheckNodePort ?? 0) > 0;
  return {
    owner: { namespace, name, uid },
    name: balancerName(uid),
    settings,
    ports,
    ranges: sourceRanges(service),
    healthPort: isLocal ? (spec.healthCheckNodePort ?? 0) : proxyHealthPort,
    hasAffinity,
  };
}

/** The API allows mixed protocols; AWS does not carry all of them (LBC-19). */
function refusePorts(kind: Settings['kind'], ports: readonly ServicePort[]): void {
  if (ports.length === 0) throw new UnmetRequestError('A balancer needs at least one port');
  const carried = kind === 'classic' ? ['TCP'] : ['TCP', 'UDP'];
  const seen = new Set<number>();
  for (const { port, protocol = 'TCP', nodePort = 0 } of ports) {
    if (!carried.includes(protocol)) {
      const what = kind === 'classic' ? 'classic balancer' : 'network balancer';
      throw new UnmetRequestError(
        `Port ${port} has protocol ${protocol}, but a ${what} of AWS carries ${carried.join(' and ')} only`,
        'UnsupportedProtocol',
      );
    }
    if (nodePort === 0) {
      throw new UnmetRequestError(
        `Port ${port} has no node port, which a balancer of AWS needs: allocateLoadBalancerNodePorts must be true`,
      );
    }
    if (seen.has(port)) {
      throw new UnmetRequestError(`Port ${port} is there twice: AWS has one listener for a port`);
    }
    seen.add(port);
  }
}
