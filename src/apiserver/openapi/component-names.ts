// How OpenAPI names the types: io.k8s.api.core.v1.Service.
import type { Schema, StructNode } from '../../schema/node.ts';
import type { ServedGroup } from '../discovery/served-kind.ts';
import { metaPackage, metaTypeNames } from './meta-types.ts';

export type ComponentNames = {
  /** The component of a struct; the struct must be reachable from a served kind. */
  readonly of: (struct: StructNode) => string;
};

type Spoken = { readonly group: string; readonly version: string; readonly schema: StructNode };

/**
 * A struct belongs to the first group that uses it: apps uses core's pod templates, never the other way
 * round. Its name and its record of fields are its identity: describing a struct anew copies the node around it, and two
 * types may have the same fields.
 */
export function nameComponents(
  groups: readonly ServedGroup[],
  spokenKinds: readonly Spoken[],
): ComponentNames {
  const names = new Map<StructNode['fields'], Map<string, string>>();

  function visit(schema: Schema, packageName: string): void {
    if (schema.node === 'list') visit(schema.items, packageName);
    if (schema.node === 'map') visit(schema.values, packageName);
    if (schema.node !== 'struct') return;
    const { name, fields } = schema;
    const known = names.get(fields) ?? new Map<string, string>();
    if (known.has(name)) return;
    names.set(fields, known.set(name, componentName(name, packageName)));
    for (const field of Object.values(schema.fields)) visit(field, packageName);
  }

  for (const { group, versions } of groups) {
    for (const { version, kinds } of versions) {
      for (const kind of kinds) visit(kind.schema, groupPackage(group, version));
    }
  }
  for (const { group, version, schema } of spokenKinds) visit(schema, groupPackage(group, version));
  return {
    of: ({ name, fields }) => names.get(fields)?.get(name) ?? componentName(name, metaPackage),
  };
}

/** `io.k8s.api.discovery.v1` of discovery.k8s.io/v1. */
function groupPackage(group: string, version: string): string {
  return `io.k8s.api.${group.split('.')[0] || 'core'}.${version}`;
}

function componentName(name: string, packageName: string): string {
  return `${metaTypeNames.has(name) ? metaPackage : packageName}.${name}`;
}
