// Indexes that several controllers keep on one shared informer. An index is known by its name, so those who share it share its function too.

import type { KubeObject } from '../meta/object.ts';
import { controllerOf } from '../meta/owner.ts';
import type { IndexFunction } from './local-store.ts';

export const namespaceIndex = 'namespace';

/** Files every object under its namespace. */
export const byNamespace: IndexFunction<KubeObject> = ({ metadata }) => [metadata.namespace ?? ''];

export const controllerIndex = 'controller';

/** Files every object under the uid of its controller, and orphans under `orphansIn()` their namespace. */
export const byController: IndexFunction<KubeObject> = (object) => [
  controllerOf(object)?.uid ?? orphansIn(object.metadata.namespace ?? ''),
];

export const orphansIn = (namespace: string): string => `orphans in ${namespace}`;
