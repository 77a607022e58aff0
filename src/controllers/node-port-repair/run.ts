// Looks at the node ports of all services every few minutes, and soon after one of them changes.
import { createEventRecorder } from '../../client/event-recorder.ts';
import { type ReconcileResult, startReconciler } from '../../client/reconcile.ts';
import { waitForSync } from '../../client/shared-informers.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import type { Service } from '../../kinds/service/types.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { Controller } from '../controller.ts';
import { judgeNodePorts, nodePortsOf } from './desired.ts';

const passMs = 180_000;
/** Changes come in bursts; one pass does for all. */
const settleMs = 5000;
/** All services are looked at together, so there is one key. */
const everything = 'node ports';

export const nodePortRepair: Controller = {
  name: 'node-port-repair',
  async run({ caller, informers, clock, log, nodePortRange }, signal) {
    const services = informers.of(serviceDefinition);
    if (!(await waitForSync([services], signal))) return;
    const component = 'portallocator-repair-controller';
    const recorder = createEventRecorder({ caller, component, clock, log });
    const reconcile = async (): Promise<ReconcileResult> => {
      for (const { service, reason, message } of judgeNodePorts(
        services.store.values(),
        nodePortRange,
      )) {
        recorder.record(service, { type: 'Warning', reason, message });
      }
      return { retryAfterMs: passMs };
    };
    const { queue, ended } = startReconciler(
      { name: 'node-port-repair', reconcile, clock, log },
      signal,
    );
    queue.add(everything);
    const changed = (before: readonly number[], after: Service): void => {
      const ports = nodePortsOf(after);
      if (ports.length > 0 && !deepEqual(before, ports)) queue.addAfter(everything, settleMs);
    };
    const stop = services.onChange({
      add: (service) => changed([], service),
      update: (before, after) => changed(nodePortsOf(before), after),
    });
    await ended;
    stop();
  },
};
