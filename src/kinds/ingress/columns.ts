// Columns of `kubectl get ingresses`.
import type { Column } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import type { Ingress } from './types.ts';

const maxHosts = 3;

export const ingressColumns: readonly Column<Ingress>[] = [
  nameColumn,
  {
    name: 'Class',
    type: 'string',
    description:
      'The name of the IngressClass resource that should be used for additional configuration',
    cell: ({ spec }) => spec.ingressClassName ?? '<none>',
  },
  {
    name: 'Hosts',
    type: 'string',
    description: 'Hosts that incoming requests are matched against before the ingress rule',
    cell: ({ spec }) => hosts(spec.rules ?? []),
  },
  {
    name: 'Address',
    type: 'string',
    description: 'Address is a list containing ingress points for the load-balancer',
    cell: ({ status }) => addresses(status.loadBalancer.ingress ?? []),
  },
  {
    name: 'Ports',
    type: 'string',
    description: 'Ports of TLS configurations that open',
    cell: ({ spec }) => ((spec.tls ?? []).length > 0 ? '80, 443' : '80'),
  },
  ageColumn,
];

/** Unique and sorted, as for load balancers of Services. */
function addresses(
  points: readonly { readonly ip?: string; readonly hostname?: string }[],
): string {
  const shown = points.flatMap(({ ip, hostname }) => ip || hostname || []);
  return [...new Set(shown)].sort().join(',');
}

/** Rules after the last listed host count as more hosts, with or without a host, as upstream. */
function hosts(rules: readonly { readonly host?: string }[]): string {
  const named = rules.flatMap(({ host }, index) => (host ? [{ host, index }] : []));
  if (named.length === 0) return '*';
  const shown = named.slice(0, maxHosts);
  const text = shown.map(({ host }) => host).join(',');
  const isMore = shown.length === maxHosts && (shown.at(-1)?.index ?? 0) < rules.length - 1;
  return isMore ? `${text} + ${rules.length - maxHosts} more...` : text;
}
