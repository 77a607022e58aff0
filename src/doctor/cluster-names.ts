// What a host name means in a cluster, as the cluster's DNS reads it.
import type { Service } from '../kinds/service/types.ts';
import type { Cluster } from './subject.ts';

export type NamedService = {
  readonly namespace: string;
  readonly name: string;
  readonly service: Service | undefined;
};

/**
 * The Service that `host` is the name of, from a pod of the namespace: `NAME`, `NAME.NAMESPACE`, `NAME.NAMESPACE.svc` or the full name. Undefined for
 * names that are not of this form, or in a namespace that does not exist.
 */
export function serviceNamed(
  { index, settings }: Pick<Cluster, 'index' | 'settings'>,
  host: string,
  from: string,
): NamedService | undefined {
  const suffix = `.svc.${settings.domain.value}`;
  const plain = host.replace(/\.$/, '');
  const isFull = plain.endsWith(suffix);
  const labels = (isFull ? plain.slice(0, -suffix.length) : plain.replace(/\.svc$/, '')).split('.');
  // `web-0.web` is a pod of the headless Service `web` before it is a Service of namespace `web`.
  const below = labels.length === 2 && !plain.endsWith('.svc') && !isFull ? labels[1] : undefined;
  if (below !== undefined && index.service(from, below) !== undefined) return undefined;
  const isQualified = isFull || plain.endsWith('.svc');
  if (labels.length > 2) return undefined;
  const [name = '', namespace = from] = labels;
  const exists = index.namespace(namespace) !== undefined || index.servicesIn(namespace).length > 0;
  if (!exists || (isQualified && labels.length < 2)) return undefined;
  return { namespace, name, service: index.service(namespace, name) };
}
