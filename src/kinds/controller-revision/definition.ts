import { type FieldError, required } from '../../meta/field-error.ts';
import { nameIsDnsSubdomain } from '../../meta/names.ts';
import { groupResource } from '../../meta/object.ts';
import { controllerOf } from '../../meta/owner.ts';
import type { KindDefinition } from '../definition.ts';
import { immutableField } from '../immutable-field.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { validateNotNegative } from '../pod/field-rules.ts';
import { type ControllerRevision, controllerRevisionSchema } from './types.ts';

export const controllerRevisionDefinition: KindDefinition<ControllerRevision> = {
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  singular: 'controllerrevision',
  namespaced: true,
  schema: controllerRevisionSchema,
  nameRule: nameIsDnsSubdomain,
  create: { validateCreate: validate },
  update: {
    validateUpdate: (before, after) => [
      ...validateRevision(after),
      ...immutableField({ field: 'data', before: before.data, after: after.data }),
    ],
  },
  columns: [
    nameColumn,
    {
      name: 'Controller',
      type: 'string',
      description: 'Controller of the object',
      cell: controllerCell,
    },
    {
      name: 'Revision',
      type: 'string',
      description: 'Revision indicates the revision of the state represented by Data.',
      cell: ({ revision }) => revision,
    },
    ageColumn,
  ],
  fieldSelectorError: 'known',
};

/** `statefulset.apps/web` */
function controllerCell(revision: ControllerRevision): string {
  const controller = controllerOf(revision);
  if (controller === undefined) return '<none>';
  const { apiVersion, kind, name } = controller;
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return `${groupResource(group, kind.toLowerCase())}/${name}`;
}

function validate(revision: ControllerRevision): readonly FieldError[] {
  const { data } = revision;
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  const detail =
    data === undefined || data === null ? 'data is mandatory' : 'data must be a valid JSON object';
  return [...(isObject ? [] : [required('data', detail)]), ...validateRevision(revision)];
}

const validateRevision = ({ revision }: ControllerRevision): readonly FieldError[] =>
  validateNotNegative('revision', revision);
