// Describes a Service: its addresses, its ports, and the endpoints of each port. Pure.
import { isReady } from '../../kinds/endpoint-slice/conditions.ts';
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import type { Service, ServicePort } from '../../kinds/service/types.ts';
import { labelsText } from '../output/print.ts';
import { type Field, heading, line, list } from './describe-text.ts';

/** Further endpoints are only counted. */
const maxEndpoints = 3;

export function describeService(
  service: Service,
  slices: readonly EndpointSlice[],
): readonly Field[] {
  const { spec } = service;
  return [
    ...heading(service.metadata),
    line('Selector', labelsText(spec.selector)),
    line('Type', spec.type ?? ''),
    ...addresses(service),
    ...(spec.ports ?? []).flatMap((port) => describePort(port, slices)),
    line('Session Affinity', spec.sessionAffinity ?? ''),
    ...optional('External Traffic Policy', spec.externalTrafficPolicy),
    ...optional('Internal Traffic Policy', spec.internalTrafficPolicy),
    ...optional('Traffic Distribution', spec.trafficDistribution),
    ...optional('HealthCheck NodePort', spec.healthCheckNodePort),
    ...optional('LoadBalancer Source Ranges', spec.loadBalancerSourceRanges?.join(',')),
  ];
}

function addresses({ spec, status }: Service): readonly Field[] {
  const ingress = (status.loadBalancer.ingress ?? []).map(({ ip, hostname, ipMode }) =>
    ip === undefined ? (hostname ?? '') : `${ip}${ipMode === undefined ? '' : ` (${ipMode})`}`,
  );
  return [
    ...optional('IP Family Policy', spec.ipFamilyPolicy),
    list('IP Families', spec.ipFamilies?.length ? [spec.ipFamilies.join(',')] : []),
    line('IP', spec.clusterIP ?? ''),
    list('IPs', spec.clusterIPs?.length ? [spec.clusterIPs.join(',')] : []),
    ...optional('External IPs', spec.externalIPs?.join(',')),
    ...optional('Desired LoadBalancer IP', spec.loadBalancerIP),
    ...optional('LoadBalancer Ingress', ingress.join(', ')),
    ...optional('External Name', spec.externalName),
  ];
}

function describePort(port: ServicePort, slices: readonly EndpointSlice[]): readonly Field[] {
  const name = port.name || '<unset>';
  const protocol = port.protocol ?? 'TCP';
  return [
    line('Port', `${name}  ${port.port}/${protocol}`),
    line('TargetPort', `${port.targetPort ?? port.port}/${protocol}`),
    ...(port.nodePort ? [line('NodePort', `${name}  ${port.nodePort}/${protocol}`)] : []),
    line('Endpoints', endpointsText(slices, port.name ?? '')),
  ];
}

/** Matches endpoints to a port by name, as proxies do. */
export function endpointsText(slices: readonly EndpointSlice[], portName: string): string {
  if (slices.length === 0) return '<none>';
  const all = slices.flatMap(({ endpoints, ports }) =>
    (ports ?? [])
      .filter(({ name }) => (name ?? '') === portName)
      .flatMap(({ port }) =>
        (endpoints ?? [])
          .filter(({ conditions }) => isReady(conditions))
          .flatMap(({ addresses }) => (addresses ?? []).map((address) => hostPort(address, port))),
      ),
  );
  const shown = all.slice(0, maxEndpoints).join(',');
  return all.length > maxEndpoints ? `${shown} + ${all.length - maxEndpoints} more...` : shown;
}

function hostPort(address: string, port: number | undefined): string {
  const host = address.includes(':') ? `[${address}]` : address;
  return port === undefined ? host : `${host}:${port}`;
}

function optional(label: string, value: string | number | undefined): readonly Field[] {
  return value === undefined || value === '' || value === 0 ? [] : [line(label, String(value))];
}
