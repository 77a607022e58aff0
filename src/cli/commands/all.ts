// The subcommands, in the order in which help lists them.
import type { CommandDefinition } from '../command.ts';
import { announcer } from './announcer.ts';
import { apiserver } from './apiserver.ts';
import { apply } from './apply.ts';
import { cloud } from './cloud.ts';
import { controllers } from './controllers.ts';
import { remove } from './delete.ts';
import { demo } from './demo.ts';
import { describe } from './describe.ts';
import { dns } from './dns.ts';
import { down } from './down.ts';
import { get } from './get.ts';
import { kubeconfig } from './kubeconfig.ts';
import { node } from './node.ts';
import { proxy } from './proxy.ts';
import { shell } from './shell.ts';
import { status } from './status.ts';
import { storage } from './storage.ts';
import { token } from './token.ts';
import { up } from './up.ts';
import { version } from './version.ts';

export const allCommands: readonly CommandDefinition[] = [
  up,
  status,
  shell,
  demo,
  down,
  get,
  apply,
  remove,
  describe,
  apiserver,
  controllers,
  cloud,
  announcer,
  dns,
  node,
  proxy,
  token,
  kubeconfig,
  storage,
  version,
];
