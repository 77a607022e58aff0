import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { policyRules } from '../rbac/types.ts';

export const roleSchema = s.struct(
  'Role',
  { ...objectFields, rules: policyRules },
  { description: 'Rules about what may be done in one namespace.', numbers: [0, 0, 1, 2] },
);
export type Role = KubeObject & s.Static<typeof roleSchema>;
