// `change-services.js NAMESPACE`, a worker: adds and deletes virtual services there until it is ended.
import { parentPort, workerData } from 'node:worker_threads';
import { openIpvs, type VirtualService } from '../../src/host/netlink/ipvs.ts';

const services = Array.from(
  { length: 50 },
  (_, n): VirtualService => ({
    address: `10.97.0.${n + 1}`,
    protocol: 'TCP',
    port: 80,
    scheduler: 'rr',
  }),
);

const ipvs = await openIpvs({ namespacePath: workerData });
parentPort?.postMessage('started');
for (;;) {
  for (const service of services) await ipvs.addService(service);
  for (const service of services) await ipvs.deleteService(service);
  // The thread can be ended only between two turns of its loop.
  await new Promise(setImmediate);
}
