// The subcommands, in the order in which help lists them. Those of the network are loaded when they are asked for: `up` without one
// has no use for proxies, and reading what is not used would be a good part of its start.
import type { ListedCommand } from '../../flags/command.ts';
import { apiserver } from './apiserver.ts';
import { apply } from './apply.ts';
import { controllers } from './controllers.ts';
import { remove } from './delete.ts';
import { describe } from './describe.ts';
import { down } from './down.ts';
import { get } from './get.ts';
import { kubeconfig } from './kubeconfig.ts';
import { status } from './status.ts';
import { token } from './token.ts';
import { up } from './up.ts';
import { version } from './version.ts';

const network = async () => (await import('./network.ts')).network;

export const allCommands: readonly ListedCommand[] = [
  { name: 'up', summary: 'run all parts on this machine', load: async () => up },
  {
    name: 'status',
    summary: 'show what `up` runs: parts, nodes, relays',
    load: async () => status,
  },
  {
    name: 'shell',
    summary: 'open a shell on a node of `up`, or in a pod',
    load: async () => (await network()).shell,
  },
  {
    name: 'demo',
    summary: 'show three pods behind a Service, and who answers',
    load: async () => (await network()).demo,
  },
  { name: 'down', summary: 'end what `up` runs', load: async () => down },
  { name: 'get', summary: 'show objects', load: async () => get },
  { name: 'apply', summary: 'create or change objects from manifests', load: async () => apply },
  { name: 'delete', summary: 'delete objects', load: async () => remove },
  {
    name: 'describe',
    summary: 'show objects in detail, with their events',
    load: async () => describe,
  },
  { name: 'apiserver', summary: 'run the API server alone', load: async () => apiserver },
  { name: 'controllers', summary: 'run the controllers alone', load: async () => controllers },
  {
    name: 'cloud',
    summary: 'run the service controller with a load-balancer provider alone',
    load: async () => (await network()).cloud,
  },
  {
    name: 'announcer',
    summary: "answer on this node's link for addresses of load balancers",
    load: async () => (await network()).announcer,
  },
  {
    name: 'dns',
    summary: 'answer for the names of services and pods',
    load: async () => (await network()).dns,
  },
  {
    name: 'node',
    summary: 'run pods on this machine, as processes',
    load: async () => (await network()).node,
  },
  {
    name: 'proxy',
    summary: "run this node's proxy alone",
    load: async () => (await network()).proxy,
  },
  { name: 'token', summary: 'make tokens for clients', load: async () => token },
  {
    name: 'kubeconfig',
    summary: 'make a kubeconfig for a user, a service account or a token',
    load: async () => kubeconfig,
  },
  {
    name: 'storage',
    summary: 'save and restore what a server keeps',
    load: async () => (await network()).storage,
  },
  { name: 'version', summary: 'print the version', load: async () => version },
];
