// Kernel parameters of a pod. Upstream: validateSysctls in pkg/apis/core/validation/validation.go.
import { duplicate, type FieldError, invalid, required } from '../../meta/field-error.ts';
import type { PodSpec } from './pod-spec.ts';

const maxLength = 253;
/** As upstream prints it; matched segment by segment in linear time. */
const namePattern = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
const isSegment = (text: string): boolean =>
  /^[a-z0-9][-_a-z0-9]*$/.test(text) && !/[-_]$/.test(text);

export function validateSysctls(spec: PodSpec, field: string): readonly FieldError[] {
  const seen = new Set<string>();
  return (spec.securityContext?.sysctls ?? []).flatMap(({ name }, index) => {
    const at = `${field}[${index}].name`;
    const errors = validateName(name, at, seen);
    seen.add(name);
    return [...errors, ...validateNamespace(spec, name, at)];
  });
}

function validateName(name: string, at: string, seen: ReadonlySet<string>): readonly FieldError[] {
  if (name === '') return [required(at)];
  if (name.length > maxLength || !name.split(/[./]/).every(isSegment)) {
    const rule = `must have at most ${maxLength} characters and match regex ${namePattern}`;
    return [invalid(at, name, rule)];
  }
  return seen.has(name) ? [duplicate(at, name)] : [];
}

/** Parameters of a namespace shared with the host would change the host. */
function validateNamespace(spec: PodSpec, name: string, at: string): readonly FieldError[] {
  const dotted = withDots(name);
  if (spec.hostNetwork === true && dotted.startsWith('net.')) {
    return [invalid(at, name, "may not be specified when 'hostNetwork' is true")];
  }
  if (spec.hostIPC === true && isOfIpc(dotted)) {
    return [invalid(at, name, "may not be specified when 'hostIPC' is true")];
  }
  return [];
}

const isOfIpc = (name: string): boolean =>
  name === 'kernel.sem' || /^(?:kernel\.shm|kernel\.msg|fs\.mqueue\.)/.test(name);

/** With slashes as separators, dots are part of the segments. */
function withDots(name: string): string {
  const first = /[./]/.exec(name)?.[0];
  if (first !== '/') return name;
  return name.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}
