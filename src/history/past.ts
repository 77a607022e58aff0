// What was read from the history of a server: the objects at the start, and every change since.
import type { EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import type { Endpoints } from '../kinds/endpoints/types.ts';
import type { Node } from '../kinds/node/types.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Service } from '../kinds/service/types.ts';
import type { ObjectChange } from '../snapshot/read-history.ts';
import type { Unread } from '../snapshot/snapshot.ts';

export type PastState = {
  readonly service?: Service;
  /** Of a Service without a selector, whose endpoints someone writes. */
  readonly endpoints?: Endpoints;
  readonly slices: readonly EndpointSlice[];
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
};

export type PastKind = 'Service' | 'Endpoints' | 'EndpointSlice' | 'Pod' | 'Node';

export type PastChange = ObjectChange & { readonly kind: PastKind };

export type ServicePast = {
  readonly namespace: string;
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Why `fromMs` is later than was requested. */
  readonly shortened?: string;
  readonly start: PastState;
  /** In the order of their revisions. */
  readonly changes: readonly PastChange[];
  readonly unread: readonly Unread[];
};
