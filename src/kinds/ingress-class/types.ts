import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { must } from '../pod/references.ts';

const parameters = s.struct(
  'IngressClassParametersReference',
  {
    apiGroup: s.pointer(s.string('Group of the object; absent or empty for the core group.')),
    kind: must(s.string('Kind of the object.')),
    name: must(s.string('Name of the object.')),
    scope: s.pointer(s.string('Cluster or Namespace: where the object is.')),
    namespace: s.pointer(s.string('Namespace of the object, for scope Namespace.')),
  },
  { numbers: [1, 2, 3, 4, 5] },
);
export type IngressClassParameters = s.Static<typeof parameters>;

const spec = s.struct(
  'IngressClassSpec',
  {
    controller: s.string('Who serves ingresses of this class, such as acme.io/foo. Cannot change.'),
    parameters: s.pointer(parameters, 'An object with more settings for the controller.'),
  },
  { numbers: [1, 2] },
);

export const ingressClassSchema = s.struct(
  'IngressClass',
  {
    ...objectFields,
    spec: s.described(spec, 'The wanted state.'),
  },
  {
    description: 'Names the controller that serves the ingresses of this class.',
    numbers: [0, 0, 1, 2],
  },
);

export type IngressClass = KubeObject & { readonly spec: s.Static<typeof spec> };
