// Parts that only some commands need, loaded as one bundle file: separate ones would be a hundred files, and reading them costs more than
// it saves.
import { hostRun } from '../../up/host-network.ts';
import { isolatedRun, makeIsolatedNetwork } from '../../up/isolated-network.ts';
import { runCluster } from '../../up/run-cluster.ts';
import { announcer } from './announcer.ts';
import { cloud } from './cloud.ts';
import { demo } from './demo.ts';
import { dns } from './dns.ts';
import { node } from './node.ts';
import { proxy } from './proxy.ts';
import { shell } from './shell.ts';
import { storage } from './storage.ts';

export const network = {
  shell,
  demo,
  cloud,
  announcer,
  dns,
  node,
  proxy,
  storage,
  hostRun,
  isolatedRun,
  makeIsolatedNetwork,
  runCluster,
};
