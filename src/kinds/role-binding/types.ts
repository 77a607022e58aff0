import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { bindingFields } from '../rbac/types.ts';

export const roleBindingSchema = s.struct('RoleBinding', { ...objectFields, ...bindingFields });
export type RoleBinding = KubeObject & s.Static<typeof roleBindingSchema>;
