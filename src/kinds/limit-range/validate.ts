import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  required,
} from '../../meta/field-error.ts';
import { qualifiedName } from '../../meta/names.ts';
import { compareQuantities, quantityValue } from '../../schema/quantity.ts';
import { invalidEach } from '../pod/field-rules.ts';
import type { ResourceList } from '../pod/resources.ts';
import {
  isHugePages,
  isNative,
  validateContainerResourceName,
  validateStandardResourceName,
} from '../pod/validate-resources.ts';
import type { LimitRange, LimitRangeItem } from './types.ts';

const limitTypes: readonly string[] = ['Container', 'PersistentVolumeClaim', 'Pod'];

export function validateLimitRange({ spec }: LimitRange): readonly FieldError[] {
  const types = new Set<string>();
  return (spec.limits ?? []).flatMap((item, index) => {
    const at = `spec.limits[${index}]`;
    const isRepeated = types.has(item.type);
    types.add(item.type);
    return [
      ...validateType(item.type, `${at}.type`),
      ...(isRepeated ? [duplicate(`${at}.type`, item.type)] : []),
      ...validateItem(item, at),
    ];
  });
}

function validateType(type: string, field: string): readonly FieldError[] {
  const wrong = invalidEach(field, type, qualifiedName(type));
  if (wrong.length > 0 || type.includes('/') || limitTypes.includes(type)) return wrong;
  return [invalid(field, type, 'must be a standard limit type or fully qualified')];
}

const defaultFields = ['default', 'defaultRequest'] as const;
const storageNeeded =
  'either minimum or maximum storage value is required, but neither was provided';

function validateItem(item: LimitRangeItem, field: string): readonly FieldError[] {
  const { type, min, max, maxLimitRequestRatio } = item;
  const isOfPods = type === 'Pod';
  const names = (list: ResourceList | undefined, name: string) =>
    validateNames(type, list, `${field}.${name}`);
  // Defaults of pods are refused as a whole.
  const judged = isOfPods ? { ...item, default: {}, defaultRequest: {} } : item;
  const keys = new Set(
    [max, min, judged.default, judged.defaultRequest, maxLimitRequestRatio].flatMap((list) =>
      Object.keys(list ?? {}),
    ),
  );
  return [
    ...names(max, 'max'),
    ...names(min, 'min'),
    ...defaultFields.flatMap((name) => {
      if (!isOfPods) return names(item[name], name);
      return Object.keys(item[name] ?? {}).length === 0
        ? []
        : [forbidden(`${field}.${name}`, "may not be specified when `type` is 'Pod'")];
    }),
    ...(type === 'PersistentVolumeClaim' && !min?.storage && !max?.storage
      ? [required(`${field}.limits`, storageNeeded)]
      : []),
    ...names(maxLimitRequestRatio, 'maxLimitRequestRatio'),
    ...[...keys].sort().flatMap((name) => validateOrder(judged, name, field)),
  ];
}

function validateNames(
  type: string,
  list: ResourceList = {},
  field: string,
): readonly FieldError[] {
  const rule =
    type === 'Pod' || type === 'Container'
      ? validateContainerResourceName
      : validateStandardResourceName;
  return Object.keys(list)
    .sort()
    .flatMap((name) => rule(name, `${field}[${name}]`));
}

/** min ≤ default request ≤ default ≤ max, as far as they are set. */
function validateOrder(item: LimitRangeItem, name: string, field: string): readonly FieldError[] {
  const [min, max, limit, request] = [
    item.min?.[name],
    item.max?.[name],
    item.default?.[name],
    item.defaultRequest?.[name],
  ];
  const at = (part: string): string => `${field}.${part}[${name}]`;
  const exceeds = (a: string | undefined, b: string | undefined): boolean =>
    a !== undefined && b !== undefined && compareQuantities(a, b) > 0;
  const errors: FieldError[] = [];
  if (exceeds(min, max))
    errors.push(invalid(at('min'), min, `min value ${min} is greater than max value ${max}`));
  const ofRequest = (why: string): void => {
    errors.push(invalid(at('defaultRequest'), request, why));
  };
  if (exceeds(min, request))
    ofRequest(`min value ${min} is greater than default request value ${request}`);
  if (exceeds(request, max))
    ofRequest(`default request value ${request} is greater than max value ${max}`);
  if (exceeds(request, limit))
    ofRequest(`default request value ${request} is greater than default limit value ${limit}`);
  // Upstream shows the other value in these two.
  if (exceeds(min, limit))
    errors.push(
      invalid(at('default'), min, `min value ${min} is greater than default value ${limit}`),
    );
  if (exceeds(limit, max))
    errors.push(
      invalid(at('default'), max, `default value ${limit} is greater than max value ${max}`),
    );
  errors.push(...validateRatio(item, name, at('maxLimitRequestRatio')));
  const isExact = !isNative(name) || isHugePages(name);
  if (isExact && limit && request && compareQuantities(limit, request) !== 0)
    ofRequest(`default value ${limit} must equal to defaultRequest value ${request} in ${name}`);
  return errors;
}

function validateRatio(item: LimitRangeItem, name: string, field: string): readonly FieldError[] {
  const ratio = item.maxLimitRequestRatio?.[name];
  const [min, max] = [item.min?.[name], item.max?.[name]];
  if (ratio === undefined) return [];
  const errors =
    compareQuantities(ratio, '1') < 0
      ? [invalid(field, ratio, `ratio ${ratio} is less than 1`)]
      : [];
  if (min === undefined || max === undefined) return errors;
  const largest = quantityValue(max) / quantityValue(min);
  if (quantityValue(ratio) <= largest) return errors;
  const why = `ratio ${ratio} is greater than max/min = ${largest.toFixed(6)}`;
  return [...errors, invalid(field, ratio, why)];
}
