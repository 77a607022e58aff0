// The classic balancer of a Service.
import type { ServicePort } from '../../../kinds/service/types.ts';
import type { ClassicListener, ClassicWanted } from './balancer.ts';
import { healthPath, type Request } from './request.ts';
import type { BackendProtocol, Settings, Tls } from './service-settings.ts';

/** AWS' default policy of an encrypted listener. */
const defaultSslPolicy = 'ELBSecurityPolicy-2016-08';

export type ClassicInput = {
  readonly request: Request;
  readonly subnetIds: readonly string[];
  readonly instanceIds: readonly string[];
  readonly stoppedIds: readonly string[];
};

export function desiredClassic({ request, ...parts }: ClassicInput): ClassicWanted {
  const { settings, ports, healthPort } = request;
  const { accessLog, drainingSeconds, idleSeconds, isCrossZone } = settings;
  const { securityGroups, extraSecurityGroups } = settings;
  return {
    kind: 'classic',
    isInternal: settings.isInternal,
    ...parts,
    listeners: ports.map((port) => listenerOf(port, settings)),
    sslPolicy: settings.tls?.policy ?? defaultSslPolicy,
    usesProxyProtocol: settings.usesProxyProtocol,
    healthTarget: `HTTP:${healthPort}${healthPath}`,
    healthCheck: settings.healthCheck,
    attributes: {
      accessLog,
      ...(drainingSeconds === undefined ? {} : { drainingSeconds }),
      idleSeconds,
      isCrossZone,
    },
    groupIds: [...new Set([...securityGroups, ...extraSecurityGroups])],
  };
}

/** All ports use TLS unless some are listed, by number or by name (LBC-25). */
export function isTlsPort(tls: Tls | undefined, { name, port }: ServicePort): tls is Tls {
  if (tls?.ports === undefined) return tls !== undefined;
  return tls.ports.includes(String(port)) || (name !== undefined && tls.ports.includes(name));
}

/** LBC-24, LBC-26: outside and towards the nodes. */
const tlsProtocols = {
  http: ['HTTPS', 'HTTP'],
  https: ['HTTPS', 'HTTPS'],
  tcp: ['SSL', 'TCP'],
  ssl: ['SSL', 'SSL'],
} as const satisfies Record<BackendProtocol, readonly [string, string]>;

function listenerOf(port: ServicePort, settings: Settings): ClassicListener {
  const { tls, backendProtocol } = settings;
  const ports = { port: port.port, instancePort: port.nodePort ?? 0 };
  if (isTlsPort(tls, port)) {
    const [protocol, instanceProtocol] = tlsProtocols[backendProtocol ?? 'tcp'];
    return { ...ports, protocol, instanceProtocol, certificate: tls.certificate };
  }
  // Encrypted backends are passed through: only they can decrypt what clients send.
  const protocol = backendProtocol === 'http' ? 'HTTP' : 'TCP';
  return { ...ports, protocol, instanceProtocol: protocol };
}
