// The type of a check, and helpers for messages. Kubernetes: pod-security-admission/policy.
import type { Container, EphemeralContainer } from '../../../kinds/pod/container.ts';
import type { PodSpec } from '../../../kinds/pod/pod-spec.ts';
import type { SecurityContext } from '../../../kinds/pod/security.ts';
import type { Level } from './policy.ts';

/** A pod, or the pod template of a workload. */
export type CheckedPod = {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
};

export type Violation = { readonly reason: string; readonly detail: string };

export type RunCheck = (pod: CheckedPod) => Violation | undefined;

export type Check = {
  /** Checks of one level run in the order of their names. */
  readonly id: string;
  readonly level: Exclude<Level, 'privileged'>;
  /** The implementation from each minor version on, oldest first. */
  readonly versions: readonly { readonly since: number; readonly run: RunCheck }[];
  /** Checks of the baseline level that this one replaces. */
  readonly overrides?: readonly string[];
};

export type AnyContainer = Container | EphemeralContainer;

export function containersOf({ spec }: CheckedPod): readonly AnyContainer[] {
  const { initContainers, containers, ephemeralContainers } = spec;
  return [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])];
}

/** Names of the containers for which it holds. */
export function containersWith(
  pod: CheckedPod,
  holds: (context: SecurityContext, container: AnyContainer) => boolean,
): readonly string[] {
  return containersOf(pod)
    .filter((container) => holds(container.securityContext ?? {}, container))
    .map(({ name }) => name);
}

export const quoted = (names: Iterable<string>): string =>
  [...names].map((name) => `"${name}"`).join(', ');

/** Each value once, in the order of bytes. */
export const sorted = (values: Iterable<string>): readonly string[] => [...new Set(values)].sort();

export const plural = (one: string, many: string, count: number): string =>
  count === 1 ? one : many;

/** `container "a"`, `containers "a", "b"` */
export const containersText = (names: readonly string[]): string =>
  `${plural('container', 'containers', names.length)} ${quoted(names)}`;

/** `pod and container "a"`: where the forbidden value is set. */
export function settersText(isPodBad: boolean, names: readonly string[]): string {
  return [...(isPodBad ? ['pod'] : []), ...(names.length > 0 ? [containersText(names)] : [])].join(
    ' and ',
  );
}

/** A violation when it is set anywhere; the detail says where, then what. */
export function settersViolation(
  reason: string,
  setters: string,
  rest: string,
): Violation | undefined {
  return setters === '' ? undefined : { reason, detail: `${setters} ${rest}` };
}
