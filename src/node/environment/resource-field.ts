// The value of a request or limit of a container, for the downward API.
import type { Container } from '../../kinds/pod/container.ts';
import type { ResourceFieldSelector } from '../../kinds/pod/environment.ts';
import type { ResourceList } from '../../kinds/pod/resources.ts';
import { parseQuantity } from '../../schema/quantity.ts';

/** In units of the divisor, rounded up. A limit that is not set is the node's allocatable resource. */
export function resourceField(
  { resource = '', divisor }: ResourceFieldSelector,
  { resources }: Pick<Container, 'resources'>,
  allocatable: ResourceList,
): string | undefined {
  const [, list, name = ''] = /^(limits|requests)\.(.+)$/.exec(resource) ?? [];
  if (list === undefined) return undefined;
  const quantity =
    list === 'limits'
      ? (positive(resources?.limits?.[name]) ?? allocatable?.[name])
      : resources?.requests?.[name];
  return String(divideUp(quantity ?? '0', positive(divisor) ?? '1'));
}

function positive(quantity: string | undefined): string | undefined {
  return (parseQuantity(quantity ?? '0')?.mantissa ?? 0n) > 0n ? quantity : undefined;
}

function divideUp(quantity: string, divisor: string): bigint {
  const a = parseQuantity(quantity);
  const b = parseQuantity(divisor);
  if (a === undefined || b === undefined) return 0n;
  const exponent = Math.min(a.exponent, b.exponent);
  const dividend = a.mantissa * 10n ** BigInt(a.exponent - exponent);
  const unit = b.mantissa * 10n ** BigInt(b.exponent - exponent);
  return (dividend + unit - 1n) / unit;
}
