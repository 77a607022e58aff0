// POST of a Binding: assigns a pod to a node, once.

import { withPodCondition } from '../../kinds/pod/conditions.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import type { PodCondition } from '../../kinds/pod/pod-status.ts';
import { badRequest, conflict, invalid } from '../../meta/api-error.ts';
import { notSupported, required } from '../../meta/field-error.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import { goQuote } from '../../schema/go-quote.ts';
import * as s from '../../schema/node.ts';
import { alreadyAdmitted } from '../admission/admission.ts';
import { negotiate } from '../encode/negotiate.ts';
import { answerStatus } from '../encode/status.ts';
import { type ApiResponse, header } from '../message.ts';
import { uidConflict } from '../objects/uid-conflict.ts';
import { updateObject } from '../objects/update-object.ts';
import { readObject } from '../request/read-object.ts';
import { parseWriteOptions } from '../request/write-options.ts';
import { admissionOf, admitRequest, type Call, namespaceOf, writeRequest } from '../verbs/call.ts';

export const binding = s.struct(
  'Binding',
  {
    ...objectFields,
    target: s.required(
      s.struct(
        'ObjectReference',
        {
          kind: s.string('Node.'),
          namespace: s.string('Not used.'),
          name: s.string('Name of the node.'),
          uid: s.string('UID of the node.'),
          apiVersion: s.string('Version of the node object.'),
          resourceVersion: s.string('Not used.'),
          fieldPath: s.string('Not used.'),
        },
        { numbers: [1, 2, 3, 4, 5, 6, 7] },
      ),
    ),
  },
  { numbers: [0, 0, 1, 2] },
);
type Binding = s.Static<typeof binding> & KubeObject;

/** For `pods/NAME/binding` the name is in the path; for the collection `bindings` it is in the body. */
export async function bind(call: Call): Promise<ApiResponse> {
  const { context, request, info } = call;
  // Upstream chooses the form of the answer first, and a Status has no columns.
  negotiate(header(request, 'accept'), request.query, { allow: 'object', forms: 'metadata' });
  const options = parseWriteOptions(request.query, 'CreateOptions');
  const body = (await readObject(
    call,
    { group: '', version: 'v1', kind: 'Binding', schema: binding },
    options,
  )) as Binding;
  const name = info.name === '' ? (body.metadata.name ?? '') : info.name;
  if ((body.metadata.name ?? '') !== name) {
    throw badRequest(`name in URL does not match name in Binding object`);
  }
  const bindingCall = { ...call, info: { ...info, name, subresource: 'binding' } };
  const allowed = await admitRequest(admissionOf(bindingCall, options), body);
  validate(allowed);
  const resource = context.resources.of('pods');
  const write = { ...writeRequest(call, options), admission: alreadyAdmitted };
  await updateObject(context, {
    resource,
    namespace: namespaceOf(call),
    name,
    subresource: 'binding',
    // The binding itself was validated; the pod changes only in what this file sets.
    rules: { validateUpdate: () => [] },
    desired(live) {
      checkPod(live as Pod, allowed);
      return assigned(live as Pod, allowed, write.now);
    },
    needsVersion: false,
    checksUid: false,
    write,
  });
  return answerStatus(request, 201, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    code: 201,
  });
}

function validate({ target, metadata }: Binding): void {
  const errors = [
    ...(target.kind === undefined || target.kind === 'Node'
      ? []
      : [notSupported('target.kind', target.kind, ['Node', '<empty>'])]),
    ...(target.name === undefined ? [required('target.name')] : []),
  ];
  if (errors.length > 0) throw invalid({ group: '', kind: 'Binding' }, metadata.name ?? '', errors);
}

type Pod = KubeObject & {
  readonly spec: { readonly nodeName?: string; readonly schedulingGates?: readonly unknown[] };
  readonly status?: {
    readonly conditions?: readonly PodCondition[];
    readonly nominatedNodeName?: string;
  };
};

/** Only a pod with this uid, and only while it has no node. */
function checkPod(pod: Pod, { metadata }: Binding): void {
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  if (metadata.uid !== undefined && metadata.uid !== uid)
    throw uidConflict({
      definition: podDefinition,
      namespace,
      name,
      uid: metadata.uid,
      found: uid,
    });
  const refused = (why: string): Error =>
    conflict({ group: '', resource: 'pods/binding' }, name, `pod ${name} ${why}`);
  if (pod.metadata.deletionTimestamp !== undefined)
    throw refused('is being deleted, cannot be assigned to a host');
  const { nodeName, schedulingGates = [] } = pod.spec;
  if (nodeName !== undefined) throw refused(`is already assigned to node ${goQuote(nodeName)}`);
  if (schedulingGates.length > 0) throw refused('has non-empty .spec.schedulingGates');
}

function assigned(pod: Pod, { target, metadata }: Binding, now: string): KubeObject {
  const annotations = { ...pod.metadata.annotations, ...metadata.annotations };
  // The nomination is obsolete once the pod has a node.
  const { nominatedNodeName: _settled, ...status } = pod.status ?? {};
  // Unlike annotations they do not override those of the pod.
  const labels = { ...metadata.labels, ...pod.metadata.labels };
  const bound = {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
    },
    spec: { ...pod.spec, nodeName: target.name },
    status: { ...status, conditions: withPodCondition(status.conditions, scheduled, now) },
  };
  return bound as KubeObject;
}

const scheduled = { type: 'PodScheduled', status: 'True' };
