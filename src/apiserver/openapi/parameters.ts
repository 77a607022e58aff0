// Parameters that requests take, in OpenAPI v3 form.
import type { Json } from './components.ts';

function query(name: string, type: string, description: string): Json {
  return { name, in: 'query', description, schema: { type, uniqueItems: true } };
}

function inPath(name: string, description: string): Json {
  return {
    name,
    in: 'path',
    description,
    required: true,
    schema: { type: 'string', uniqueItems: true },
  };
}

export const nameParameter = inPath('name', 'Name of the object.');
export const namespaceParameter = inPath('namespace', 'Namespace of the object.');
/** In the query, and behind the subresource. */
export const pathParameter = query('path', 'string', 'Path to ask the pod for.');
export const proxiedPathParameter = inPath('path', 'Path to ask the pod for.');
export const pretty = query('pretty', 'string', 'With true the answer is indented.');
const dryRun = query('dryRun', 'string', 'With All nothing is written.');
const fieldManager = query('fieldManager', 'string', 'Who is said to have set the fields.');
const fieldValidation = query(
  'fieldValidation',
  'string',
  'What becomes of unknown and repeated fields: Ignore, Warn or Strict.',
);
const resourceVersion = query('resourceVersion', 'string', 'How new the data must be.');
const resourceVersionMatch = query(
  'resourceVersionMatch',
  'string',
  'How resourceVersion is meant.',
);

export const writeParameters: readonly Json[] = [dryRun, fieldManager, fieldValidation];

export const patchParameters: readonly Json[] = [
  ...writeParameters,
  query('force', 'boolean', 'Take over fields that others own; for apply patches only.'),
];

const selection: readonly Json[] = [
  query('continue', 'string', 'Token from the page before.'),
  query('fieldSelector', 'string', 'Only objects with these fields.'),
  query('labelSelector', 'string', 'Only objects with these labels.'),
  query('limit', 'integer', 'At most so many objects a page.'),
  resourceVersion,
  resourceVersionMatch,
  query('sendInitialEvents', 'boolean', 'A watch starts with what is there already.'),
  query('timeoutSeconds', 'integer', 'The request ends after so long.'),
];

export const listParameters: readonly Json[] = [
  query('allowWatchBookmarks', 'boolean', 'A watch may send events that only tell the version.'),
  ...selection,
  query('watch', 'boolean', 'Go on with changes instead of ending with the list.'),
];

export const deleteParameters: readonly Json[] = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'Seconds granted for an orderly end; 0 is at once.'),
  query(
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'boolean',
    'Delete even what cannot be read.',
  ),
  query('orphanDependents', 'boolean', 'Older form of propagationPolicy.'),
  query(
    'propagationPolicy',
    'string',
    'What becomes of dependents: Orphan, Background or Foreground.',
  ),
];

export const deleteCollectionParameters: readonly Json[] = [...deleteParameters, ...selection];
