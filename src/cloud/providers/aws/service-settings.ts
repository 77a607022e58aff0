// What a Service asks of its balancer, read from its annotations (LBC-22 to LBC-35). Pure, and whole before anything is made.
import type { Service } from '../../../kinds/service/types.ts';
import { ImplementedElsewhereError } from '../../provider.ts';
import {
  type Annotations,
  annotation,
  readChoice,
  readFlag,
  readList,
  readNumber,
  readPairs,
  readText,
  refuse,
} from './annotations.ts';
import type { Tags } from './names.ts';

export type BackendProtocol = 'http' | 'https' | 'tcp' | 'ssl';

export type Settings = {
  readonly kind: 'classic' | 'network';
  readonly isInternal: boolean;
  readonly tls?: Tls;
  readonly backendProtocol?: BackendProtocol;
  readonly usesProxyProtocol: boolean;
  readonly accessLog: AccessLog;
  /** How long a connection may go on after its node has left; absent when it is cut. */
  readonly drainingSeconds?: number;
  readonly idleSeconds: number;
  readonly isCrossZone: boolean;
  readonly resourceTags: Tags;
  readonly healthCheck: HealthCheckTimes;
  /** Used instead of a generated group when there is one. */
  readonly securityGroups: readonly string[];
  readonly extraSecurityGroups: readonly string[];
  readonly targetNodeLabels: Annotations;
};

export type Tls = {
  readonly certificate: string;
  /** Numbers and names of the ports it is for; absent for all. */
  readonly ports?: readonly string[];
  readonly policy?: string;
};

export type AccessLog =
  | { readonly isEnabled: false }
  | {
      readonly isEnabled: true;
      readonly bucket: string;
      readonly prefix: string;
      readonly intervalMinutes: number;
    };

export type HealthCheckTimes = {
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
  readonly intervalSeconds: number;
  readonly timeoutSeconds: number;
};

const backendProtocols: readonly BackendProtocol[] = ['http', 'https', 'tcp', 'ssl'];

export function readSettings({ metadata }: Service): Settings {
  const annotations = metadata.annotations ?? {};
  const backendProtocol = readChoice(annotations, annotation.backendProtocol, backendProtocols);
  const tls = readTls(annotations);
  const drainingSeconds = readDraining(annotations);
  return {
    kind: readKind(annotations),
    isInternal: readIsInternal(annotations),
    ...(tls === undefined ? {} : { tls }),
    ...(backendProtocol === undefined ? {} : { backendProtocol }),
    usesProxyProtocol: readProxyProtocol(annotations),
    accessLog: readAccessLog(annotations),
    ...(drainingSeconds === undefined ? {} : { drainingSeconds }),
    idleSeconds: readNumber(annotations, annotation.idleTimeout, {
      least: 1,
      most: 4000,
      usual: 60,
      unit: 'seconds',
    }),
    isCrossZone: readFlag(annotations, annotation.crossZone),
    resourceTags: readResourceTags(annotations),
    healthCheck: readHealthCheck(annotations),
    securityGroups: readGroups(annotations, annotation.securityGroups),
    extraSecurityGroups: readGroups(annotations, annotation.extraSecurityGroups),
    targetNodeLabels: readPairs(annotations, annotation.targetNodeLabels),
  };
}

/** Classic unless the annotation says network; external types are left to the other controller (LBC-23). */
function readKind(annotations: Annotations): Settings['kind'] {
  const kinds = ['classic', 'nlb', 'nlb-ip', 'external'] as const;
  switch (readChoice(annotations, annotation.type, kinds)) {
    case 'nlb-ip':
    case 'external':
      throw new ImplementedElsewhereError(
        `Annotation "${annotation.type}" leaves this Service to the AWS Load Balancer Controller`,
      );
    case 'nlb':
      return 'network';
    default:
      return 'classic';
  }
}

/** LBC-22. The old annotation has had many values that meant yes, among them 0.0.0.0/0; only false means no. */
function readIsInternal(annotations: Annotations): boolean {
  const scheme = readChoice(annotations, annotation.scheme, ['internal', 'internet-facing']);
  if (scheme !== undefined) return scheme === 'internal';
  return (readText(annotations, annotation.internal) ?? 'false') !== 'false';
}

/** The certificate, the ports that use it, and the TLS policy (LBC-24, LBC-25, LBC-27). */
function readTls(annotations: Annotations): Tls | undefined {
  const certificate = readText(annotations, annotation.certificate);
  if (certificate === undefined) return undefined;
  if (!certificate.startsWith('arn:')) {
    throw refuse(annotation.certificate, certificate, 'the ARN of a certificate (arn:...)');
  }
  const ports = readList(annotations, annotation.sslPorts);
  const policy = readText(annotations, annotation.sslPolicy);
  return {
    certificate,
    ...(ports.length === 0 || ports.includes('*') ? {} : { ports }),
    ...(policy === undefined ? {} : { policy }),
  };
}

/** PROXY protocol is for all ports or for none (LBC-28). */
function readProxyProtocol(annotations: Annotations): boolean {
  const value = readText(annotations, annotation.proxyProtocol);
  if (value === undefined || value === '*') return value === '*';
  throw refuse(annotation.proxyProtocol, value, '"*" (all ports)');
}

/** Access logs need a bucket (LBC-29). */
function readAccessLog(annotations: Annotations): AccessLog {
  const interval = readChoice(annotations, annotation.accessLogInterval, ['5', '60']);
  if (!readFlag(annotations, annotation.accessLogEnabled)) return { isEnabled: false };
  const bucket = readText(annotations, annotation.accessLogBucket);
  if (bucket === undefined) {
    throw refuse(annotation.accessLogBucket, '', 'the name of a bucket when access logs are on');
  }
  const prefix = readText(annotations, annotation.accessLogPrefix) ?? '';
  return { isEnabled: true, bucket, prefix, intervalMinutes: Number(interval ?? 60) };
}

/** Seconds of connection draining; absent: none (LBC-30). */
function readDraining(annotations: Annotations): number | undefined {
  const seconds = readNumber(annotations, annotation.drainingTimeout, {
    least: 1,
    most: 3600,
    usual: 300,
    unit: 'seconds',
  });
  return readFlag(annotations, annotation.drainingEnabled) ? seconds : undefined;
}

/** What AWS allows in a tag; the prefixes are those of AWS itself and of our marks. */
const tagText = /^[\p{L}\p{N}\s_.:/=+\-@]*$/u;
const reservedTag = /^(aws:|kubernetes\.io\/(cluster\/|service-name$))/i;

/** Tags for every resource, within the limits of AWS (LBC-32). */
function readResourceTags(annotations: Annotations): Tags {
  const tags = readPairs(annotations, annotation.resourceTags);
  for (const [key, value] of Object.entries(tags)) {
    const isFine = key.length <= 128 && value.length <= 256 && tagText.test(key + value);
    if (isFine && !reservedTag.test(key)) continue;
    const allowed =
      'key=value of letters, digits, blanks and _.:/=+-@, 128 and 256 characters at most, no key of AWS or Kubernetes';
    throw refuse(annotation.resourceTags, `${key}=${value}`, allowed);
  }
  return tags;
}

/** Each value has a range, and the timeout is below the interval (LBC-33). */
function readHealthCheck(annotations: Annotations): HealthCheckTimes {
  const healthyThreshold = readNumber(annotations, annotation.healthyThreshold, {
    least: 2,
    most: 10,
    usual: 2,
  });
  const unhealthyThreshold = readNumber(annotations, annotation.unhealthyThreshold, {
    least: 2,
    most: 10,
    usual: 6,
  });
  const intervalSeconds = readNumber(annotations, annotation.healthInterval, {
    least: 5,
    most: 300,
    usual: 10,
    unit: 'seconds',
  });
  const timeoutSeconds = readNumber(annotations, annotation.healthTimeout, {
    least: 2,
    most: 60,
    usual: 5,
    unit: 'seconds',
  });
  if (timeoutSeconds >= intervalSeconds) {
    const allowed = `below the interval of ${intervalSeconds} seconds ("${annotation.healthInterval}")`;
    throw refuse(annotation.healthTimeout, String(timeoutSeconds), allowed);
  }
  return { healthyThreshold, unhealthyThreshold, intervalSeconds, timeoutSeconds };
}

/** Ids of security groups (LBC-34). */
function readGroups(annotations: Annotations, name: string): readonly string[] {
  const groups = readList(annotations, name);
  const wrong = groups.find((group) => !/^sg-[0-9a-zA-Z]+$/.test(group));
  if (wrong !== undefined)
    throw refuse(name, wrong, 'a comma-separated list of group ids (sg-...)');
  return groups;
}
