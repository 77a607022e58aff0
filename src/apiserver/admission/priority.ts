// Pods get the priority of their class, and there is one default class. Kubernetes: plugin/pkg/admission/priority.
import type { Pod } from '../../kinds/pod/types.ts';
import { isSystemClass } from '../../kinds/priority-class/system-classes.ts';
import type { PriorityClass } from '../../kinds/priority-class/types.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource, refused } from './admission.ts';

const classes = 'priorityclasses.scheduling.k8s.io';

export const priorityPlugin: AdmissionPlugin = {
  name: 'Priority',
  onByDefault: true,
  mutate(request, { reader }) {
    const { operation, subresource, pathName = '' } = request;
    // As upstream, a delete of the whole collection takes them along; they are back with the next start.
    if (isClass(request) && operation === 'delete' && isSystemClass(pathName))
      throw refused(request, 'this is a system priority class and cannot be deleted');
    const isPod = isResource(request, '', 'pods') && operation === 'create' && subresource === '';
    return isPod ? withPriority(request, request.after as Pod, reader) : undefined;
  },
  validate(request, { reader }) {
    if (isClass(request)) checkDefault(request, request.after as PriorityClass, reader);
    return undefined;
  },
};

const isClass = (request: AdmissionRequest): boolean =>
  isResource(request, 'scheduling.k8s.io', 'priorityclasses');

function withPriority(request: AdmissionRequest, pod: Pod, reader: ObjectReader): KubeObject {
  const { spec } = pod;
  const { priorityClassName: name } = spec;
  const found = name ? classNamed(request, name, reader) : defaultClass(reader);
  const { value = 0, preemptionPolicy = 'PreemptLowerPriority' } = found ?? {};
  if (spec.priority !== undefined && spec.priority !== value)
    throw refused(
      request,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy)
    throw refused(
      request,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
    );
  const className = found?.metadata.name;
  return {
    ...pod,
    spec: {
      ...spec,
      ...(className === undefined ? {} : { priorityClassName: className }),
      priority: value,
      preemptionPolicy,
    },
  } as Pod;
}

function classNamed(request: AdmissionRequest, name: string, reader: ObjectReader): PriorityClass {
  const found = reader.get(classes, '', name) as PriorityClass | undefined;
  if (found === undefined) throw refused(request, `no PriorityClass with name ${name} was found`);
  return found;
}

type Remembered = { readonly revision: number; readonly found: PriorityClass | undefined };

/** There may be many classes, and every pod without one asks. */
const remembered = new WeakMap<ObjectReader, Remembered>();

/** Of several, which only a race can make, the one with the lowest priority. */
function defaultClass(reader: ObjectReader): PriorityClass | undefined {
  const revision = reader.revision(classes);
  const known = remembered.get(reader);
  if (known?.revision === revision) return known.found;
  let found: PriorityClass | undefined;
  for (const one of reader.list(classes) as readonly PriorityClass[]) {
    if (one.globalDefault === true && (found === undefined || one.value < found.value)) found = one;
  }
  remembered.set(reader, { revision, found });
  return found;
}

function checkDefault(
  request: AdmissionRequest,
  object: PriorityClass,
  reader: ObjectReader,
): void {
  if (object.globalDefault !== true) return;
  const { name } = defaultClass(reader)?.metadata ?? {};
  if (name === undefined || (request.operation === 'update' && name === object.metadata.name))
    return;
  throw refused(
    request,
    `PriorityClass ${name} is already marked as default. Only one default can exist`,
  );
}
