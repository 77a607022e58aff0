// The annotations of a Service that say what its balancer is to be like, and how their values are read. A value that
// makes no sense names its annotation and what is allowed, before anything is made.
import { sourceRangesAnnotation } from '../../../meta/well-known-annotations.ts';
import { UnmetRequestError } from '../../provider.ts';

export type Annotations = Readonly<Record<string, string>>;

const prefix = 'service.beta.kubernetes.io/aws-load-balancer-';

export const annotation = {
  type: `${prefix}type`,
  internal: `${prefix}internal`,
  scheme: `${prefix}scheme`,
  certificate: `${prefix}ssl-cert`,
  sslPorts: `${prefix}ssl-ports`,
  backendProtocol: `${prefix}backend-protocol`,
  sslPolicy: `${prefix}ssl-negotiation-policy`,
  proxyProtocol: `${prefix}proxy-protocol`,
  accessLogEnabled: `${prefix}access-log-enabled`,
  accessLogInterval: `${prefix}access-log-emit-interval`,
  accessLogBucket: `${prefix}access-log-s3-bucket-name`,
  accessLogPrefix: `${prefix}access-log-s3-bucket-prefix`,
  drainingEnabled: `${prefix}connection-draining-enabled`,
  drainingTimeout: `${prefix}connection-draining-timeout`,
  idleTimeout: `${prefix}connection-idle-timeout`,
  crossZone: `${prefix}cross-zone-load-balancing-enabled`,
  resourceTags: `${prefix}additional-resource-tags`,
  healthyThreshold: `${prefix}healthcheck-healthy-threshold`,
  unhealthyThreshold: `${prefix}healthcheck-unhealthy-threshold`,
  healthInterval: `${prefix}healthcheck-interval`,
  healthTimeout: `${prefix}healthcheck-timeout`,
  securityGroups: `${prefix}security-groups`,
  extraSecurityGroups: `${prefix}extra-security-groups`,
  targetNodeLabels: `${prefix}target-node-labels`,
  sourceRanges: sourceRangesAnnotation,
} as const;

export function refuse(name: string, value: string, allowed: string): UnmetRequestError {
  return new UnmetRequestError(
    `Annotation "${name}" is "${value}", but must be ${allowed}`,
    'InvalidAnnotation',
  );
}

/** The value without blanks around it; an empty one counts as not given. */
export function readText(annotations: Annotations, name: string): string | undefined {
  const text = annotations[name]?.trim();
  return text === '' ? undefined : text;
}

const trueWords = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const falseWords = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

export function readFlag(annotations: Annotations, name: string): boolean {
  const text = readText(annotations, name);
  if (text === undefined || falseWords.includes(text)) return false;
  if (trueWords.includes(text)) return true;
  throw refuse(name, text, 'true or false');
}

export type NumberRange = {
  readonly least: number;
  readonly most: number;
  /** When the annotation is not there. */
  readonly usual: number;
  readonly unit?: string;
};

export function readNumber(annotations: Annotations, name: string, range: NumberRange): number {
  const text = readText(annotations, name);
  if (text === undefined) return range.usual;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= range.least && number <= range.most) return number;
  const { least, most, unit } = range;
  throw refuse(name, text, `a number from ${least} to ${most}${unit ? ` (${unit})` : ''}`);
}

export function readChoice<T extends string>(
  annotations: Annotations,
  name: string,
  choices: readonly T[],
): T | undefined {
  const text = readText(annotations, name);
  if (text === undefined) return undefined;
  const choice = choices.find((one) => one === text.toLowerCase());
  if (choice === undefined) throw refuse(name, text, `one of ${choices.join(', ')}`);
  return choice;
}

export function readList(annotations: Annotations, name: string): readonly string[] {
  const parts = (annotations[name] ?? '').split(',').map((part) => part.trim());
  return [...new Set(parts.filter((part) => part !== ''))];
}

/** `key=value,key=value`; a key alone has the empty value. */
export function readPairs(annotations: Annotations, name: string): Annotations {
  const pairs = readList(annotations, name).map((part): readonly [string, string] => {
    const [key = '', ...rest] = part.split('=');
    if (key.trim() === '') throw refuse(name, part, 'a comma-separated list of key=value');
    return [key.trim(), rest.join('=').trim()];
  });
  return Object.fromEntries(pairs);
}
