// The names of resources in one element of an encryption configuration. Upstream: validateResourceNames and validateResourceOverlap.
import { type FieldError, invalid } from '../../meta/field-error.ts';

export function checkResources(names: readonly string[], at: string): readonly FieldError[] {
  const found = overlap(names, at);
  return [...found, ...names.flatMap((name, n) => checkName(name, `${at}[${n}]`))];
}

function checkName(name: string, at: string): readonly FieldError[] {
  const error = (detail: string): readonly FieldError[] => [invalid(at, name, detail)];
  if (name === '') return error('resource name should not be empty');
  if (name === '*') return error(starAlone);
  if (name.toLowerCase() !== name) return error('resource name should not contain capital letters');
  const dot = name.indexOf('.');
  const [resource, group] = dot < 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot + 1)];
  if (group === '*' && resource !== '*')
    return error('encrypting the same resource across groups is not supported');
  if (group === 'events.k8s.io') return error(eventsGroup);
  if (group === 'extensions')
    return error("'extensions' group has been removed and cannot be used for encryption");
  if (withoutApi.includes(name))
    return error('resources which do not have REST API/s cannot be encrypted');
  return [];
}

const starAlone =
  "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
const eventsGroup =
  "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
/** Kept beside the objects, not as objects. */
const withoutApi: readonly string[] = [
  'apiserveripinfo',
  'serviceipallocations',
  'servicenodeportallocations',
];

const masked =
  "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked";

function overlap(names: readonly string[], at: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [n, name] of names.entries()) {
    if (seen.has(name))
      errors.push(
        invalid(`${at}[${n}]`, name, 'the same resource cannot be specified multiple times'),
      );
    seen.add(name);
  }
  const isMasked = names.some((name) => {
    if (name === '*.*') return seen.size > 1;
    const dot = name.indexOf('.');
    const wildcard = `*.${dot < 0 ? '' : name.slice(dot + 1)}`;
    return name !== wildcard && seen.has(wildcard);
  });
  if (isMasked) errors.push(invalid(at, names, masked));
  return errors;
}
