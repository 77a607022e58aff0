// Requests to etcd and how long they take, under kube-apiserver's names.
import type { MetricsRegistry } from '../../../observe/metrics.ts';
import type { RangeRequest, TransactionRequest } from './messages.ts';

export type EtcdRequest = { readonly operation: string; readonly type: string };
export type Measure = <T>(request: EtcdRequest, work: () => Promise<T>) => Promise<T>;

const buckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45,
  60,
];

export function createEtcdMetrics(registry: MetricsRegistry): Measure {
  const total = registry.counter({
    name: 'etcd_requests_total',
    help: 'Requests to etcd, by operation and type of object.',
  });
  const errors = registry.counter({
    name: 'etcd_request_errors_total',
    help: 'Requests to etcd that failed, by operation and type of object.',
  });
  const duration = registry.histogram({
    name: 'etcd_request_duration_seconds',
    help: 'How long requests to etcd took, by operation and type of object.',
    buckets,
  });
  return async (labels, work) => {
    const startedAt = performance.now();
    total.add(labels);
    try {
      return await work();
    } catch (error) {
      errors.add(labels);
      throw error;
    } finally {
      duration.observe(labels, (performance.now() - startedAt) / 1000);
    }
  };
}

export const unmeasured: Measure = (_, work) => work();

export function rangeLabels({ key, rangeEnd, isCountOnly }: RangeRequest): EtcdRequest {
  const operation = isCountOnly === true ? 'revision' : rangeEnd === undefined ? 'get' : 'list';
  return { operation, type: typeOf(key) };
}

/** By the first write, which is the object's; the others are its addresses and ports. */
export function transactionLabels({ compare, success }: TransactionRequest): EtcdRequest {
  const [first] = success;
  const isNew = compare[0]?.revision === 0;
  const operation = first?.kind === 'delete' ? 'delete' : isNew ? 'create' : 'update';
  return { operation, type: typeOf(first?.key ?? '') };
}

/** `services` of `/fairlead/registry/services/default/web`; other keys have no type. */
const typeOf = (key: string): string => /\/registry\/([^/]+)\//.exec(key)?.[1] ?? '';
