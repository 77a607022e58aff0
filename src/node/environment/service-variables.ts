// The environment variables for the Services of a container's namespace (docs/behaviour, ENV).
import { isIPv6 } from '../../ip/address.ts';
import type { Service } from '../../kinds/service/types.ts';

export type Variables = Readonly<Record<string, string>>;

export type ServiceVariablesOptions = {
  readonly namespace: string;
  /** `spec.enableServiceLinks` of the pod. */
  readonly hasServiceLinks: boolean;
  readonly services: readonly Service[];
};

/** The API server's own Service is in the environment of every container. */
const apiServerService = { namespace: 'default', name: 'kubernetes' };

export function serviceVariables(options: ServiceVariablesOptions): Variables {
  const { namespace, hasServiceLinks, services } = options;
  const isApiServer = ({ metadata }: Service): boolean =>
    metadata.namespace === apiServerService.namespace && metadata.name === apiServerService.name;
  const isLinked = ({ metadata }: Service): boolean =>
    hasServiceLinks && metadata.namespace === namespace;
  // Later ones win: a Service in the pod's namespace may also be named kubernetes.
  const linked = [...services.filter(isApiServer), ...services.filter(isLinked)];
  return Object.assign({}, ...linked.filter(hasAddress).map(variablesOf));
}

function hasAddress({ spec }: Service): boolean {
  return spec.type !== 'ExternalName' && !['', 'None', undefined].includes(spec.clusterIP);
}

function variablesOf({ metadata, spec }: Service): Variables {
  const prefix = variableName(metadata.name ?? '');
  const host = spec.clusterIP ?? '';
  const variables: Record<string, string> = { [`${prefix}_SERVICE_HOST`]: host };
  const [first] = spec.ports ?? [];
  if (first === undefined) return variables;
  variables[`${prefix}_SERVICE_PORT`] = String(first.port);
  for (const { name = '', port } of spec.ports ?? []) {
    if (name !== '') variables[`${prefix}_SERVICE_PORT_${variableName(name)}`] = String(port);
  }
  return { ...variables, ...linkVariables(prefix, host, spec.ports ?? []) };
}

/** The variables of Docker's container links, which programs still read. */
function linkVariables(
  prefix: string,
  host: string,
  ports: NonNullable<Service['spec']['ports']>,
): Variables {
  const urlHost = isIPv6(host) ? `[${host}]` : host;
  const variables: Record<string, string> = {};
  ports.forEach(({ port, protocol = 'TCP' }, index) => {
    const transport = protocol.toLowerCase();
    const url = `${transport}://${urlHost}:${port}`;
    const link = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
    if (index === 0) variables[`${prefix}_PORT`] = url;
    variables[link] = url;
    variables[`${link}_PROTO`] = transport;
    variables[`${link}_PORT`] = String(port);
    variables[`${link}_ADDR`] = host;
  });
  return variables;
}

function variableName(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}
