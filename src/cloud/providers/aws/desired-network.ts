// The network balancer of a Service: a listener and a target group for each port.
import type { ServicePort } from '../../../kinds/service/types.ts';
import type { NetworkProtocol, NetworkWanted, TargetGroupWanted } from './balancer.ts';
import { isTlsPort } from './desired-classic.ts';
import { type Tags, targetGroupName } from './names.ts';
import { healthPath, type Request } from './request.ts';
import type { AccessLog, Settings } from './service-settings.ts';

export type NetworkInput = {
  readonly cluster: string;
  readonly request: Request;
  readonly subnetIds: readonly string[];
  readonly instanceIds: readonly string[];
  readonly stoppedIds: readonly string[];
};

/** AWS' default policy of a TLS listener. */
const defaultSslPolicy = 'ELBSecurityPolicy-2016-08';

export function desiredNetwork(input: NetworkInput): NetworkWanted {
  const { request, subnetIds, instanceIds, stoppedIds } = input;
  const { settings, ports } = request;
  return {
    kind: 'network',
    isInternal: settings.isInternal,
    subnetIds,
    listeners: ports.map((port) => listenerOf(port, input)),
    attributes: {
      'load_balancing.cross_zone.enabled': String(settings.isCrossZone),
      ...accessLogAttributes(settings.accessLog),
    },
    instanceIds,
    stoppedIds,
  };
}

/** A bucket can not be emptied: it stays when logs are turned off. */
function accessLogAttributes(log: AccessLog): Tags {
  if (!log.isEnabled) return { 'access_logs.s3.enabled': 'false' };
  return {
    'access_logs.s3.enabled': 'true',
    'access_logs.s3.bucket': log.bucket,
    'access_logs.s3.prefix': log.prefix,
  };
}

function listenerOf(
  port: ServicePort,
  { cluster, request }: NetworkInput,
): NetworkWanted['listeners'][number] {
  const { settings } = request;
  const { tls } = settings;
  if (port.protocol !== 'UDP' && isTlsPort(tls, port)) {
    return {
      port: port.port,
      protocol: 'TLS',
      certificate: tls.certificate,
      sslPolicy: tls.policy ?? defaultSslPolicy,
      targetGroup: targetGroupOf(cluster, request, port, tlsBackend(settings)),
    };
  }
  const protocol = port.protocol === 'UDP' ? 'UDP' : 'TCP';
  const targetGroup = targetGroupOf(cluster, request, port, protocol);
  return { port: port.port, protocol, targetGroup };
}

/** A network balancer reads no HTTP: of the backend's protocol only the encryption counts. */
function tlsBackend({ backendProtocol }: Settings): NetworkProtocol {
  return backendProtocol === 'ssl' || backendProtocol === 'https' ? 'TLS' : 'TCP';
}

function targetGroupOf(
  cluster: string,
  request: Request,
  { port, nodePort = 0 }: ServicePort,
  protocol: NetworkProtocol,
): TargetGroupWanted {
  const { owner, settings, healthPort, hasAffinity } = request;
  return {
    name: targetGroupName(cluster, owner, { port, nodePort, protocol }),
    protocol,
    port: nodePort,
    healthPort,
    healthPath,
    healthCheck: settings.healthCheck,
    attributes: {
      'proxy_protocol_v2.enabled': String(settings.usesProxyProtocol),
      'stickiness.enabled': String(hasAffinity),
      'stickiness.type': 'source_ip',
    },
  };
}
