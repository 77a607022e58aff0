// Indexes that several controllers use on one shared informer. An index is identified by its name, so its function must be shared too.
import type { KubeObject } from '../meta/object.ts';
import { controllerOf } from '../meta/owner.ts';
import type { IndexFunction } from './local-store.ts';

export const namespaceIndex = 'namespace';

/** Indexes every object by its namespace. */
export const byNamespace: IndexFunction<KubeObject> = ({ metadata }) => [metadata.namespace ?? ''];

export const controllerIndex = 'controller';

/** Indexes every object by the uid of its controller, and orphans by `orphansIn(namespace)`. */
export const byController: IndexFunction<KubeObject> = (object) => [
  controllerOf(object)?.uid ?? orphansIn(object.metadata.namespace ?? ''),
];

export const orphansIn = (namespace: string): string => `orphans in ${namespace}`;
