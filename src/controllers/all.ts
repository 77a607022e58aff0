// The controllers that run, in no particular order: each works alone.
import { bootstrapSigner } from './bootstrap-signer/run.ts';
import { clusterIpRepair } from './cluster-ip-repair/run.ts';
import type { Controller } from './controller.ts';
import { cronJobController } from './cron-job/run.ts';
import { csrCleaner } from './csr-cleaner/run.ts';
import { daemonSetController } from './daemon-set/run.ts';
import { deploymentController } from './deployment/run.ts';
import { disruptionController } from './disruption/run.ts';
import { endpointSliceController } from './endpoint-slice/run.ts';
import { endpointSliceMirroringController } from './endpoint-slice-mirroring/run.ts';
import { endpointsController } from './endpoints/run.ts';
import { ephemeralVolumeController } from './ephemeral-volume/run.ts';
import { garbageCollector } from './garbage-collector/run.ts';
import { jobController } from './job/run.ts';
import { localVolumeController } from './local-volume/run.ts';
import { namespaceController } from './namespace/run.ts';
import { nodeIpamController } from './node-ipam/run.ts';
import { nodeLifecycleController } from './node-lifecycle/run.ts';
import { persistentVolumeBinder } from './persistent-volume/run.ts';
import { podGc } from './pod-gc/run.ts';
import { replicaSetController, replicationControllerController } from './replica-set/run.ts';
import { resourceQuotaController } from './resource-quota/run.ts';
import { rootCaPublisher } from './root-ca-publisher/run.ts';
import { scheduler } from './scheduler/run.ts';
import { serviceAccountController } from './service-account/run.ts';
import { serviceCidrController } from './service-cidr/run.ts';
import { statefulSetController } from './stateful-set/run.ts';
import { taintEvictionController } from './taint-eviction/run.ts';
import { tokenCleaner } from './token-cleaner/run.ts';
import { ttlAfterFinishedController } from './ttl-after-finished/run.ts';
import { volumeExpandController } from './volume-expand/run.ts';
import { claimProtectionController, volumeProtectionController } from './volume-protection/run.ts';

export const allControllers: readonly Controller[] = [
  endpointsController,
  endpointSliceController,
  endpointSliceMirroringController,
  namespaceController,
  garbageCollector,
  podGc,
  serviceCidrController,
  rootCaPublisher,
  serviceAccountController,
  replicaSetController,
  replicationControllerController,
  deploymentController,
  daemonSetController,
  jobController,
  cronJobController,
  ttlAfterFinishedController,
  disruptionController,
  statefulSetController,
  clusterIpRepair,
  nodeIpamController,
  nodeLifecycleController,
  taintEvictionController,
  scheduler,
  bootstrapSigner,
  tokenCleaner,
  csrCleaner,
  persistentVolumeBinder,
  claimProtectionController,
  volumeProtectionController,
  volumeExpandController,
  ephemeralVolumeController,
  localVolumeController,
  resourceQuotaController,
];
