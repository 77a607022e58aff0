// Metrics of encryption at rest, with upstream's names.
import type { Measure } from '../apiserver/encryption/encrypt-store.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';

export type EncryptionMetrics = {
  readonly measure: Measure;
  readonly reloaded: (status: 'success' | 'failure') => void;
};

export function createEncryptionMetrics(registry: MetricsRegistry): EncryptionMetrics {
  const operations = registry.counter({
    name: 'apiserver_storage_transformation_operations_total',
    help: 'Values encrypted and decrypted, by transformation_type and status.',
  });
  const reloads = registry.counter({
    name: 'apiserver_encryption_config_controller_automatic_reloads_total',
    help: 'How often the encryption configuration was read again, by status.',
  });
  const tallies = new Map<string, { value: number }>();
  return {
    measure(type, isReadable) {
      const status = isReadable ? 'OK' : 'Internal';
      const name = `${type} ${status}`;
      let tally = tallies.get(name);
      if (tally === undefined) {
        tally = operations.tally({ transformation_type: type, status });
        tallies.set(name, tally);
      }
      tally.value += 1;
    },
    reloaded: (status) => reloads.add({ status }),
  };
}
