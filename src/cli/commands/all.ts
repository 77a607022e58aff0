// The subcommands, in the order in which help lists them.
import type { CommandDefinition } from '../command.ts';
import { apiserver } from './apiserver.ts';
import { apply } from './apply.ts';
import { controllers } from './controllers.ts';
import { remove } from './delete.ts';
import { describe } from './describe.ts';
import { dns } from './dns.ts';
import { get } from './get.ts';
import { kubeconfig } from './kubeconfig.ts';
import { node } from './node.ts';
import { proxy } from './proxy.ts';
import { token } from './token.ts';
import { up } from './up.ts';
import { version } from './version.ts';

export const allCommands: readonly CommandDefinition[] = [
  up,
  get,
  apply,
  remove,
  describe,
  apiserver,
  controllers,
  dns,
  node,
  proxy,
  token,
  kubeconfig,
  version,
];
