// Steps that make a user namespace in which the agent's user is root.
import type { Step } from './assemble.ts';
import { writeSteps } from './privilege-steps.ts';

export type AgentUser = { readonly uid: number; readonly gid: number };

const newUserNamespace = 0x10000000;

export function userSteps({ uid, gid }: AgentUser): readonly Step[] {
  return [
    { call: 'unshare', args: [newUserNamespace], what: 'make a user namespace' },
    ...writeSteps('/proc/self/setgroups', 'deny', 'first setgroups'),
    ...writeSteps('/proc/self/uid_map', `0 ${uid} 1`, 'first uid_map'),
    ...writeSteps('/proc/self/gid_map', `0 ${gid} 1`, 'first gid_map'),
  ];
}
