// The schema of TokenRequest, of `serviceaccounts/NAME/token`.
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';

const boundObjectReference = s.struct(
  'BoundObjectReference',
  {
    kind: s.string('Kind of the object: Pod, Secret or Node.'),
    apiVersion: s.string('Version of the object: v1.'),
    name: s.string('Name of the object.'),
    uid: s.string('UID of the object.'),
  },
  { numbers: [1, 2, 3, 4] },
);
export type BoundObjectReference = s.Static<typeof boundObjectReference>;

const tokenRequestSpec = s.struct(
  'TokenRequestSpec',
  {
    audiences: s.required(
      s.always(
        s.list(s.string(), 'Who shall accept the token; the API server when empty.', {
          listType: 'atomic',
        }),
      ),
    ),
    expirationSeconds: s.pointer(s.int64('How long the token shall be good; an hour when absent.')),
    boundObjectRef: s.pointer(
      boundObjectReference,
      'The token is good only as long as this object exists.',
    ),
  },
  { numbers: [1, 4, 3] },
);
export type TokenRequestSpec = s.Static<typeof tokenRequestSpec>;

const tokenRequestStatus = s.struct(
  'TokenRequestStatus',
  {
    token: s.required(s.always(s.string('The token.'))),
    expirationTimestamp: s.required(s.always(s.time('Until when it is good.'))),
  },
  { numbers: [1, 2] },
);

const schema = s.struct(
  'TokenRequest',
  {
    ...objectFields,
    spec: s.required(s.described(tokenRequestSpec, 'The token that is wanted.')),
    status: s.described(tokenRequestStatus, 'The token, filled in by the server.'),
  },
  { numbers: [0, 0, 1, 2, 3] },
);

export type TokenRequest = KubeObject & { readonly spec: TokenRequestSpec };

export const tokenRequestKind = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenRequest',
  schema,
};
