// The Services that Ingresses send requests to.
import type { Ingress, IngressBackend } from '../kinds/ingress/types.ts';
import type { Cluster } from './subject.ts';

export type IngressUse = {
  readonly ingress: Ingress;
  readonly namespace: string;
  readonly service: string;
  /** Empty where the port is a number. */
  readonly portName: string;
  readonly portNumber: number;
  /** Which requests, for people. */
  readonly requests: string;
  /** Of the Service, in the Ingress. */
  readonly field: string;
};

export function ingressUses({ index, isInScope }: Cluster): readonly IngressUse[] {
  return index.snapshot.objects.ingresses
    .filter(({ metadata }) => isInScope(metadata.namespace ?? ''))
    .flatMap((ingress) => [
      ...useOf(ingress, ingress.spec.defaultBackend, 'all other hosts', 'spec.defaultBackend'),
      ...(ingress.spec.rules ?? []).flatMap(({ host = '', http }, r) =>
        (http?.paths ?? []).flatMap(({ path = '/', backend }, p) =>
          useOf(ingress, backend, `${host}${path}`, `spec.rules[${r}].http.paths[${p}].backend`),
        ),
      ),
    ]);
}

function useOf(
  ingress: Ingress,
  backend: IngressBackend | undefined,
  requests: string,
  field: string,
): readonly IngressUse[] {
  if (backend?.service === undefined) return [];
  const { name, port } = backend.service;
  return [
    {
      ingress,
      namespace: ingress.metadata.namespace ?? '',
      service: name,
      portName: port?.name ?? '',
      portNumber: port?.number ?? 0,
      requests,
      field: `${field}.service`,
    },
  ];
}
