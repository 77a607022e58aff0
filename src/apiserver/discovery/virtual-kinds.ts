// Kinds that are served but not stored (reviews, subresources), as discovery and OpenAPI list them.

import { servedPartKinds } from '../parts/all.ts';
import { answerListKind } from '../parts/connect-part.ts';
import { reviewKinds } from '../reviews/all.ts';
import { binding } from '../subresources/binding.ts';
import { evictionKind } from '../subresources/eviction.ts';
import { scaleKind } from '../subresources/scale.ts';
import { tokenRequestKind } from '../tokens/token-request-schema.ts';
import type { VirtualKind } from './served-kind.ts';

const bindingKind: VirtualKind = {
  group: '',
  version: 'v1',
  kind: 'Binding',
  plural: 'bindings',
  singular: 'binding',
  namespaced: true,
  schema: binding,
};

export const virtualKinds: readonly VirtualKind[] = [
  bindingKind,
  ...reviewKinds,
  ...servedPartKinds,
];

/** Kinds that are seen only at subresources. */
export const spokenKinds = [scaleKind, evictionKind, tokenRequestKind, answerListKind];
