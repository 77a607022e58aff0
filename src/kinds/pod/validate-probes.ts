// Probes and lifecycle hooks.
import { type FieldError, forbidden, invalid, required } from '../../meta/field-error.ts';
import { httpHeaderName, portName, portNumber } from '../../meta/names.ts';
import type { Container } from './container.ts';
import { invalidEach, validateChoice, validateFilled, validateNotNegative } from './field-rules.ts';
import type { HttpGetAction, Lifecycle, LifecycleHandler, Probe } from './probe.ts';

type Handler = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> &
  Pick<LifecycleHandler, 'sleep'>;

/** `graceSeconds` limits the duration of sleep hooks. */
export function validateProbes(
  container: Container,
  graceSeconds: number,
  field: string,
): readonly FieldError[] {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  const judge = (probe: Probe | undefined, name: string, more: typeof mustSucceedOnce) =>
    probe === undefined
      ? []
      : [
          ...validateProbe(probe, graceSeconds, `${field}.${name}`),
          ...more(probe, `${field}.${name}`),
        ];
  return [
    ...judge(livenessProbe, 'livenessProbe', mustSucceedOnce),
    ...judge(readinessProbe, 'readinessProbe', mustNotEnd),
    ...judge(startupProbe, 'startupProbe', mustSucceedOnce),
  ];
}

export function validateLifecycle(
  lifecycle: Lifecycle | undefined,
  graceSeconds: number,
  field: string,
): readonly FieldError[] {
  const { postStart, preStop } = lifecycle ?? {};
  return [
    ...(postStart === undefined
      ? []
      : validateHandler(postStart, graceSeconds, `${field}.postStart`)),
    ...(preStop === undefined ? [] : validateHandler(preStop, graceSeconds, `${field}.preStop`)),
  ];
}

function mustSucceedOnce(probe: Probe, field: string): readonly FieldError[] {
  return probe.successThreshold === 1
    ? []
    : [invalid(`${field}.successThreshold`, probe.successThreshold ?? 0, 'must be 1')];
}

function mustNotEnd(probe: Probe, field: string): readonly FieldError[] {
  const seconds = probe.terminationGracePeriodSeconds;
  return seconds === undefined
    ? []
    : [
        invalid(
          `${field}.terminationGracePeriodSeconds`,
          seconds,
          'must not be set for readinessProbes',
        ),
      ];
}

function validateProbe(probe: Probe, graceSeconds: number, field: string): readonly FieldError[] {
  const ownGrace = probe.terminationGracePeriodSeconds;
  return [
    ...validateHandler(probe, graceSeconds, field),
    ...validateNotNegative(`${field}.initialDelaySeconds`, probe.initialDelaySeconds),
    ...validateNotNegative(`${field}.timeoutSeconds`, probe.timeoutSeconds),
    ...validateNotNegative(`${field}.periodSeconds`, probe.periodSeconds),
    ...validateNotNegative(`${field}.successThreshold`, probe.successThreshold),
    ...validateNotNegative(`${field}.failureThreshold`, probe.failureThreshold),
    ...(ownGrace !== undefined && ownGrace <= 0
      ? [invalid(`${field}.terminationGracePeriodSeconds`, ownGrace, 'must be greater than 0')]
      : []),
  ];
}

function validateHandler(
  handler: Handler,
  graceSeconds: number,
  field: string,
): readonly FieldError[] {
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  const handlers: readonly (readonly [string, () => readonly FieldError[]])[] = [
    ...(exec === undefined
      ? []
      : [['exec', () => validateCommand(exec.command, `${field}.exec.command`)] as const]),
    ...(httpGet === undefined
      ? []
      : [['httpGet', () => validateHttpGet(httpGet, `${field}.httpGet`)] as const]),
    ...(tcpSocket === undefined
      ? []
      : [['tcpSocket', () => validatePort(tcpSocket.port, `${field}.tcpSocket.port`)] as const]),
    ...(grpc === undefined
      ? []
      : [['grpc', () => validatePort(grpc.port, `${field}.grpc.port`)] as const]),
    ...(sleep === undefined
      ? []
      : [['sleep', () => validateSleep(sleep.seconds, graceSeconds, `${field}.sleep`)] as const]),
  ];
  if (handlers.length === 0) return [required(field, 'must specify a handler type')];
  return handlers.flatMap(([name, validate], index) =>
    index === 0
      ? validate()
      : [forbidden(`${field}.${name}`, 'may not specify more than 1 handler type')],
  );
}

function validateHttpGet(action: HttpGetAction, field: string): readonly FieldError[] {
  return [
    ...validateFilled(`${field}.path`, action.path),
    ...validatePort(action.port, `${field}.port`),
    ...validateChoice(`${field}.scheme`, action.scheme, ['HTTP', 'HTTPS']),
    ...(action.httpHeaders ?? []).flatMap(({ name }) =>
      invalidEach(`${field}.httpHeaders`, name, httpHeaderName(name)),
    ),
  ];
}

function validateCommand(command: readonly string[] = [], field: string): readonly FieldError[] {
  return command.length === 0 ? [required(field)] : [];
}

/** A port number or name. */
function validatePort(port: number | string, field: string): readonly FieldError[] {
  return invalidEach(field, port, typeof port === 'number' ? portNumber(port) : portName(port));
}

function validateSleep(
  seconds: number,
  graceSeconds: number,
  field: string,
): readonly FieldError[] {
  if (seconds >= 0 && seconds <= graceSeconds) return [];
  const bound = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
  return [invalid(field, seconds, bound)];
}
