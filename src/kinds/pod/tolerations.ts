// Whether a pod tolerates a taint.
import type { Taint } from '../node/types.ts';
import type { Toleration } from './affinity.ts';
import type { Pod } from './types.ts';

export function isTolerated(pod: Pick<Pod, 'spec'>, taint: Taint): boolean {
  return tolerationOf(pod, taint) !== undefined;
}

/** The first toleration that matches the taint. */
export function tolerationOf({ spec }: Pick<Pod, 'spec'>, taint: Taint): Toleration | undefined {
  return spec.tolerations?.find((toleration) => tolerates(toleration, taint));
}

function tolerates({ key, operator, value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  switch (operator || 'Equal') {
    case 'Exists':
      return true;
    case 'Equal':
      return Boolean(key) && value === (taint.value ?? '');
    case 'Lt':
      return isNumber(value) && isNumber(taint.value) && Number(taint.value) < Number(value);
    case 'Gt':
      return isNumber(value) && isNumber(taint.value) && Number(taint.value) > Number(value);
    default:
      return false;
  }
}

const isNumber = (text: string | undefined): boolean => /^-?[0-9]+$/.test(text ?? '');
