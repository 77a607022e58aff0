// Types that all groups use besides their own kinds, as far as OpenAPI describes them.
import * as s from '../../schema/node.ts';

export const listMeta = s.struct(
  'ListMeta',
  {
    selfLink: s.string('No longer set.'),
    resourceVersion: s.string(
      'Version of the whole list: watch from here to see what changes next.',
    ),
    continue: s.string('Hand this back to get the next page; empty on the last one.'),
    remainingItemCount: s.pointer(
      s.int64('How many items follow after this page, if that is known.'),
    ),
  },
  { numbers: [1, 2, 3, 4] },
);

const statusCause = s.struct(
  'StatusCause',
  {
    reason: s.string('What is wrong, as one word for programs.'),
    message: s.string('What is wrong, for people.'),
    field: s.string('The field that is wrong.'),
  },
  { numbers: [1, 2, 3] },
);

const statusDetails = s.struct(
  'StatusDetails',
  {
    name: s.string('Name of the object that the request was about.'),
    group: s.string('Group of that object.'),
    kind: s.string('Kind or resource of that object.'),
    uid: s.string('UID of that object.'),
    causes: s.list(statusCause, 'All that is wrong, one by one.', { listType: 'atomic' }),
    retryAfterSeconds: s.int32('Wait so long before trying again.'),
  },
  { numbers: [1, 2, 3, 6, 4, 5] },
);

export const status = s.struct(
  'Status',
  {
    kind: s.string('What this object is.'),
    apiVersion: s.string('Group and version of the schema it is written in.'),
    metadata: s.described(listMeta, 'Present as in every object.'),
    status: s.string('Success or Failure.'),
    message: s.string('What happened, for people.'),
    reason: s.string('Why it failed, as one word for programs.'),
    details: s.pointer(statusDetails, 'More about the failure.'),
    code: s.int32('The HTTP status that goes with it.'),
  },
  {
    description: 'The answer to a request that does not answer with an object.',
    numbers: [0, 0, 1, 2, 3, 4, 5, 6],
  },
);

const preconditions = s.struct(
  'Preconditions',
  {
    uid: s.pointer(s.string('The object must have this UID.')),
    resourceVersion: s.pointer(s.string('The object must be at this version.')),
  },
  { numbers: [1, 2] },
);

export const deleteOptions = s.struct(
  'DeleteOptions',
  {
    kind: s.string('What this object is.'),
    apiVersion: s.string('Group and version of the schema it is written in.'),
    gracePeriodSeconds: s.pointer(s.int64('Seconds granted for an orderly end; 0 is at once.')),
    preconditions: s.pointer(preconditions, 'Delete only if these hold.'),
    orphanDependents: s.pointer(s.boolean('Older form of propagationPolicy.')),
    propagationPolicy: s.pointer(
      s.string('What becomes of dependents: Orphan, Background or Foreground.'),
    ),
    dryRun: s.list(s.string(), 'With All nothing is written.', { listType: 'atomic' }),
    ignoreStoreReadErrorWithClusterBreakingPotential: s.pointer(
      s.boolean('Delete even what cannot be read.'),
    ),
  },
  { description: 'How to delete.', numbers: [0, 0, 1, 2, 3, 4, 5, 6] },
);

export const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** Types of the meta package, which all groups share. */
export const metaTypeNames: ReadonlySet<string> = new Set([
  'Condition',
  'DeleteOptions',
  'FieldSelectorRequirement',
  'LabelSelector',
  'LabelSelectorRequirement',
  'ListMeta',
  'ManagedFieldsEntry',
  'ObjectMeta',
  'OwnerReference',
  'Preconditions',
  'Status',
  'StatusCause',
  'StatusDetails',
]);
