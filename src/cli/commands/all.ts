// The subcommands, in the order of the help. Those of the network are loaded on demand: `up` without a network needs no proxy, and loading
// unused code would be a good part of its start.
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
  { name: 'up', summary: 'Runs all parts on this machine', load: async () => up },
  {
    name: 'status',
    summary: 'Shows what `up` runs: parts, nodes and relays',
    load: async () => status,
  },
  {
    name: 'shell',
    summary: 'Opens a shell on a node of `up`, or in a pod',
    load: async () => (await network()).shell,
  },
  {
    name: 'demo',
    summary: 'Runs three pods behind a Service and shows which pod answers each request',
    load: async () => (await network()).demo,
  },
  { name: 'down', summary: 'Stops what `up` runs', load: async () => down },
  { name: 'get', summary: 'Shows objects', load: async () => get },
  { name: 'apply', summary: 'Creates or updates objects from manifests', load: async () => apply },
  { name: 'delete', summary: 'Deletes objects', load: async () => remove },
  {
    name: 'describe',
    summary: 'Shows objects in detail, with their events',
    load: async () => describe,
  },
  {
    name: 'trace',
    summary: 'Explains a connection before it is made, hop by hop',
    load: async () => (await import('./trace.ts')).trace,
  },
  {
    name: 'doctor',
    summary: 'Finds out why Services do not work',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'history',
    summary: 'Shows what a Service was, and who changed it',
    load: async () => (await import('./history.ts')).history,
  },
  {
    name: 'what-if',
    summary: 'Predicts what changes would do to Services, without making them',
    load: async () => (await import('./what-if.ts')).whatIf,
  },
  {
    name: 'top',
    summary: 'Shows connections and bytes of Services, and why they are uneven',
    load: async () => (await import('./top.ts')).top,
  },
  {
    name: 'propagation',
    summary: 'Shows which proxies and DNS servers have the changes of a Service in effect',
    load: async () => (await import('./propagation.ts')).propagation,
  },
  { name: 'apiserver', summary: 'Runs the API server alone', load: async () => apiserver },
  { name: 'controllers', summary: 'Runs the controllers alone', load: async () => controllers },
  {
    name: 'cloud',
    summary: 'Runs the service controller with a load balancer provider alone',
    load: async () => (await network()).cloud,
  },
  {
    name: 'announcer',
    summary: 'Answers ARP and NDP requests for load balancer addresses on this node',
    load: async () => (await network()).announcer,
  },
  {
    name: 'dns',
    summary: 'Runs cluster DNS alone',
    load: async () => (await network()).dns,
  },
  {
    name: 'node',
    summary: 'Runs the node agent: pods as processes on this machine',
    load: async () => (await network()).node,
  },
  {
    name: 'proxy',
    summary: 'Runs the node proxy alone',
    load: async () => (await network()).proxy,
  },
  { name: 'token', summary: 'Creates, lists and deletes tokens', load: async () => token },
  {
    name: 'kubeconfig',
    summary: 'Creates a kubeconfig for a user, a service account or a token',
    load: async () => kubeconfig,
  },
  {
    name: 'image',
    summary: 'Pulls, loads, lists and removes images of this machine',
    load: async () => (await import('./image.ts')).image,
  },
  {
    name: 'storage',
    summary: 'Exports and imports the store of a server',
    load: async () => (await network()).storage,
  },
  { name: 'version', summary: 'Prints the version', load: async () => version },
];
