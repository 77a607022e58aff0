// The environment variables that tell a container of the Services of its namespace (BEHAVIOUR ENV).
import { isIPv6 } from '../../ip/address.ts';
import type { Service } from '../../kinds/service/types.ts';

export type Variables = Readonly<Record<string, string>>;

export type ServiceVariablesOptions = {
  readonly namespace: string;
  /** `spec.enableServiceLinks` of the pod. */
  readonly hasServiceLinks: boolean;
  readonly services: readonly Service[];
};

/** The API server's own Service is told to every container, wherever it runs. */
const masterService = { namespace: 'default', name: 'kubernetes' };

export function serviceVariables(options: ServiceVariablesOptions): Variables {
  const { namespace, hasServiceLinks, services } = options;
  const isMaster = ({ metadata }: Service): boolean =>
    metadata.namespace === masterService.namespace && metadata.name === masterService.name;
  const isLinked = ({ metadata }: Service): boolean =>
    hasServiceLinks && metadata.namespace === namespace;
  // Later ones win: a Service of the pod's own namespace may carry the master's name.
  const told = [...services.filter(isMaster), ...services.filter(isLinked)];
  return Object.assign({}, ...told.filter(hasAddress).map(variablesOf));
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

/** What container links once looked like, which programs still read. */
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
