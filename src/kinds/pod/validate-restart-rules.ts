// Restart policies and rules of single containers.
import {
  type FieldError,
  forbidden,
  notSupported,
  required,
  tooMany,
} from '../../meta/field-error.ts';
import type { Container } from './container.ts';

const policies = ['Always', 'Never', 'OnFailure'];
/** RestartAllContainers is not accepted, because the node agent does not implement it. */
const actions = ['Restart'];
const operators = ['In', 'NotIn'];
const maxRules = 20;
const maxExitCodes = 255;
const missingPolicy = 'must specify restartPolicy when restart rules are used';

export function validateRestartRules(container: Container, field: string): readonly FieldError[] {
  const { restartPolicy: policy, restartPolicyRules: rules = [] } = container;
  const at = `${field}.restartPolicyRules`;
  if (policy === undefined && rules.length === 0) return [];
  return [
    ...validatePolicy(policy, `${field}.restartPolicy`),
    ...(rules.length > maxRules ? [tooMany(at, rules.length, maxRules)] : []),
    ...rules.flatMap((rule, index) => validateRule(rule, `${at}[${index}]`)),
  ];
}

export function validateInitRestartRules(
  container: Container,
  field: string,
): readonly FieldError[] {
  const { restartPolicy: policy, restartPolicyRules: rules = [] } = container;
  if (policy === undefined) {
    return rules.length > 0 ? [required(`${field}.restartPolicy`, missingPolicy)] : [];
  }
  if (policy !== 'Always') return validateRestartRules(container, field);
  const detail =
    'restartPolicyRules are not allowed for init containers with restart policy Always';
  return rules.length > 0 ? [forbidden(`${field}.restartPolicyRules`, detail)] : [];
}

function validatePolicy(policy: string | undefined, field: string): readonly FieldError[] {
  if (policy === undefined) return [required(field, missingPolicy)];
  return policies.includes(policy) ? [] : [notSupported(field, policy, policies)];
}

type Rule = NonNullable<Container['restartPolicyRules']>[number];

function validateRule({ action = '', exitCodes }: Rule, field: string): readonly FieldError[] {
  const at = `${field}.exitCodes`;
  const wrongAction = actions.includes(action)
    ? []
    : [notSupported(`${field}.action`, action, actions)];
  if (exitCodes === undefined) return [...wrongAction, required(at, 'must be specified')];
  const { operator = '', values = [] } = exitCodes;
  return [
    ...wrongAction,
    ...(operators.includes(operator) ? [] : [notSupported(`${at}.operator`, operator, operators)]),
    ...(values.length > maxExitCodes ? [tooMany(`${at}.values`, values.length, maxExitCodes)] : []),
  ];
}
