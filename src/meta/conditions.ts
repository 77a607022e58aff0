// Conditions of the metav1 form, one for each type.
import * as s from '../schema/node.ts';
import {
  duplicate,
  type FieldError,
  invalid,
  notSupported,
  required,
  tooLong,
} from './field-error.ts';
import { validateLabelName } from './labels.ts';

export const condition = s.struct(
  'Condition',
  {
    type: s.required(s.always(s.string('What the condition is about.'))),
    status: s.required(
      s.always(
        s.oneOf(['True', 'False', 'Unknown'], 'Whether it holds.', {
          goType: 'v1.ConditionStatus',
        }),
      ),
    ),
    observedGeneration: s.int64('The generation of the object that was judged.'),
    lastTransitionTime: s.required(s.always(s.time('When the status last changed.'))),
    reason: s.required(s.always(s.string('Why, as one word for programs.'))),
    message: s.required(s.always(s.string('Why, in words for people; may be empty.'))),
  },
  { numbers: [1, 2, 3, 4, 5, 6] },
);
export type Condition = s.Static<typeof condition>;

const maxReasonLength = 1024;
const maxMessageLength = 32 * 1024;
const reasonPattern = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonForm = new RegExp(`^${reasonPattern}$`);
const hasReasonForm = (reason: string): boolean =>
  reason.length <= 2 * maxReasonLength && reasonForm.test(reason);
const reasonText = `a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '${reasonPattern}')`;

export function validateConditions(
  conditions: readonly Condition[] | undefined,
  field: string,
): FieldError[] {
  const types = new Set<string>();
  return (conditions ?? []).flatMap((entry, index) => {
    const errors = types.has(entry.type) ? [duplicate(`${field}[${index}].type`, entry.type)] : [];
    types.add(entry.type);
    return [...errors, ...validateCondition(entry, `${field}[${index}]`)];
  });
}

function validateCondition(entry: Condition, field: string): FieldError[] {
  const errors = validateLabelName(entry.type, `${field}.type`);
  if (!['True', 'False', 'Unknown'].includes(entry.status)) {
    errors.push(notSupported(`${field}.status`, entry.status, ['False', 'True', 'Unknown']));
  }
  if ((entry.observedGeneration ?? 0) < 0) {
    const where = `${field}.observedGeneration`;
    errors.push(invalid(where, entry.observedGeneration, 'must be greater than or equal to zero'));
  }
  if (!entry.lastTransitionTime)
    errors.push(required(`${field}.lastTransitionTime`, 'must be set'));
  errors.push(...validateReason(entry.reason, `${field}.reason`));
  if (Buffer.byteLength(entry.message) > maxMessageLength) {
    errors.push(tooLong(`${field}.message`, maxMessageLength));
  }
  return errors;
}

function validateReason(reason: string, field: string): FieldError[] {
  if (reason === '') return [required(field, 'must be set')];
  return [
    ...(hasReasonForm(reason) ? [] : [invalid(field, reason, reasonText)]),
    ...(Buffer.byteLength(reason) > maxReasonLength ? [tooLong(field, maxReasonLength)] : []),
  ];
}
