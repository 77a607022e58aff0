// Objects reduced to their metadata.
import { failure } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { EncodedKind } from './body.ts';
import type { MetaVersion, Representation } from './negotiate.ts';

export function partialMetadata(object: KubeObject, version: MetaVersion): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(object.metadata)}}`;
}

/** Refuses PartialObjectMetadataList for one object, and PartialObjectMetadata for a list. */
export function assertShape(
  { as }: Representation,
  kind: EncodedKind,
  answer: 'object' | 'list',
): void {
  if (as === 'PartialObjectMetadataList' && answer === 'object') {
    throw wrongShape(`${as}, but the requested object is not a list (${goType(kind, '')})`);
  }
  if (as === 'PartialObjectMetadata' && answer === 'list') {
    throw wrongShape(`${as}, but the requested object is a list (${goType(kind, 'List')})`);
  }
}

function wrongShape(what: string): Error {
  return failure({ code: 406, reason: 'NotAcceptable', message: `you requested ${what}` });
}

/** Clients match on the text, and it names the type as upstream's source does: `*core.Secret`. */
function goType({ group, kind, storedAs }: EncodedKind, suffix: string): string {
  const [first] = (storedAs?.group ?? group).split('.');
  return `*${first || 'core'}.${kind}${suffix}`;
}
