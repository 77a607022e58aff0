// What changed in a Service, field by field.
import type { Service, ServicePort } from '../kinds/service/types.ts';
import { cutText } from '../meta/cut-text.ts';
import { formatLabelMap } from '../meta/labels.ts';
import { lastAppliedAnnotation } from '../meta/well-known-annotations.ts';
import { deepEqual } from '../schema/equality.ts';
import type { ServiceFacts } from './history.ts';

export type FieldChange = {
  readonly field: string;
  readonly before?: string;
  readonly after?: string;
  readonly sentence: string;
};

export function describeServiceChange(before: Service, after: Service): readonly FieldChange[] {
  return [
    ...specChanges(before, after),
    ...portChanges(before.spec.ports ?? [], after.spec.ports ?? []),
    ...textChange('status.loadBalancer', 'load balancer', {
      before: balancerText(before),
      after: balancerText(after),
    }),
    ...keyChanges('label', before.metadata.labels, after.metadata.labels),
    ...keyChanges('annotation', before.metadata.annotations, after.metadata.annotations),
    ...deletion(before, after),
  ];
}

/** `clusterIP` is the first of `clusterIPs`. Ports have sentences of their own. */
const describedElsewhere: ReadonlySet<string> = new Set(['clusterIP', 'ports', 'selector']);

function specChanges(before: Service, after: Service): readonly FieldChange[] {
  const was = before.spec as Readonly<Record<string, unknown>>;
  const is = after.spec as Readonly<Record<string, unknown>>;
  const fields = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort();
  const changed = fields.filter(
    (field) => !describedElsewhere.has(field) && !deepEqual(was[field], is[field]),
  );
  return [
    ...textChange('spec.selector', 'selector', {
      before: selectorText(before.spec.selector),
      after: selectorText(after.spec.selector),
    }),
    ...changed.flatMap((field) =>
      textChange(`spec.${field}`, field, {
        before: valueText(was[field]),
        after: valueText(is[field]),
      }),
    ),
  ];
}

type Texts = { readonly before: string; readonly after: string };

function textChange(field: string, word: string, { before, after }: Texts): readonly FieldChange[] {
  if (before === after) return [];
  const sentence =
    before === ''
      ? `${word} set to ${after}`
      : after === ''
        ? `${word} ${before} removed`
        : `${word} changed from ${before} to ${after}`;
  return [
    {
      ...{ field, sentence },
      ...(before === '' ? {} : { before }),
      ...(after === '' ? {} : { after }),
    },
  ];
}

/** Of one value. Selectors and lists may be long. */
const maxValueLength = 300;

function valueText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return cutText(value.map(String).join(', '), maxValueLength);
  return cutText(typeof value === 'object' ? JSON.stringify(value) : String(value), maxValueLength);
}

const selectorText = (selector: Service['spec']['selector']): string =>
  Object.keys(selector ?? {}).length === 0 ? '' : cutText(formatLabelMap(selector), maxValueLength);

function portText({ name, port, protocol, targetPort, nodePort }: ServicePort): string {
  const target = targetPort === undefined || targetPort === port ? '' : ` to ${targetPort}`;
  const node = nodePort ? `, node port ${nodePort}` : '';
  return `${name ? `${name} ` : ''}${port}/${protocol ?? 'TCP'}${target}${node}`;
}

/** Ports are the same when they have the same name, or none and the same number. */
const portKey = ({ name, port, protocol }: ServicePort): string =>
  name ? name : `${port}/${protocol ?? 'TCP'}`;

function portChanges(
  before: readonly ServicePort[],
  after: readonly ServicePort[],
): readonly FieldChange[] {
  const was = new Map(before.map((port) => [portKey(port), portText(port)]));
  const is = new Map(after.map((port) => [portKey(port), portText(port)]));
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((key) =>
    portChange(was.get(key), is.get(key)),
  );
}

function portChange(before: string | undefined, after: string | undefined): readonly FieldChange[] {
  if (before === after) return [];
  const sentence =
    before === undefined
      ? `port ${after} added`
      : after === undefined
        ? `port ${before} removed`
        : `port changed from ${before} to ${after}`;
  return [
    {
      ...{ field: 'spec.ports', sentence },
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    },
  ];
}

function balancerAddresses({ status }: Service): readonly string[] {
  return (status.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '');
}

const balancerText = (service: Service): string =>
  cutText(balancerAddresses(service).join(', '), maxValueLength);

type Values = Readonly<Record<string, string>> | undefined;

/** What programs write with every change of theirs. */
const unremarkable: ReadonlySet<string> = new Set([lastAppliedAnnotation]);
/** More at once are counted. */
const maxKeys = 8;

/** Values of annotations may be of any size and kind: only their keys are shown. */
function keyChanges(word: 'label' | 'annotation', was: Values, is: Values): readonly FieldChange[] {
  const keys = [...new Set([...Object.keys(was ?? {}), ...Object.keys(is ?? {})])].sort();
  const changed = keys.filter((key) => was?.[key] !== is?.[key] && !unremarkable.has(key));
  const shown = changed.slice(0, maxKeys).map((key): FieldChange => {
    const verb =
      was?.[key] === undefined ? 'added' : is?.[key] === undefined ? 'removed' : 'changed';
    return { field: `metadata.${word}s`, sentence: `${word} ${key} ${verb}` };
  });
  if (changed.length <= maxKeys) return shown;
  const more = `${changed.length - maxKeys} more ${word}s changed`;
  return [...shown, { field: `metadata.${word}s`, sentence: more }];
}

function deletion(before: Service, after: Service): readonly FieldChange[] {
  const { deletionTimestamp, finalizers = [] } = after.metadata;
  if (deletionTimestamp === undefined || before.metadata.deletionTimestamp !== undefined) return [];
  const held = finalizers.length === 0 ? '' : `, held by ${finalizers.join(', ')}`;
  return [{ field: 'metadata.deletionTimestamp', sentence: `Service is being deleted${held}` }];
}

export function serviceFacts(service: Service): ServiceFacts {
  const { metadata, spec } = service;
  return {
    uid: metadata.uid ?? '',
    created: metadata.creationTimestamp ?? '',
    type: spec.type ?? 'ClusterIP',
    clusterIPs: spec.clusterIPs ?? [],
    ports: (spec.ports ?? []).map(portText),
    selector: spec.selector ?? {},
    ...(spec.externalName ? { externalName: spec.externalName } : {}),
    loadBalancer: balancerAddresses(service),
  };
}

/** `ClusterIP 10.96.0.7, port http 80/TCP to 8080, selector app=web`. */
export function serviceText({
  type,
  clusterIPs,
  externalName,
  ports,
  selector,
}: ServiceFacts): string {
  const addresses = clusterIPs.length === 0 ? '' : ` ${clusterIPs.join(' and ')}`;
  const chosen = selectorText(selector);
  return cutText(
    [
      `${type}${addresses}${externalName === undefined ? '' : ` ${externalName}`}`,
      ...(ports.length === 0 ? [] : [`${ports.length > 1 ? 'ports' : 'port'} ${ports.join(', ')}`]),
      ...(type === 'ExternalName' ? [] : [chosen === '' ? 'no selector' : `selector ${chosen}`]),
    ].join('; '),
    2 * maxValueLength,
  );
}
