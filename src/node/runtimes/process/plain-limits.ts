// What a container may ask for where the machine gives it nothing of its own: it is a process of the agent's user, and no more is promised.
import type { ContainerToRun } from '../runtime.ts';

/** What cannot be enforced; undefined when nothing was asked for. */
export function unenforceable(
  { mounts, security }: ContainerToRun,
  agentUid: number,
): string | undefined {
  const first = mounts.find(({ isOptional }) => isOptional !== true);
  if (first !== undefined) return `cannot mount ${first.path}`;
  if (security.hasReadOnlyRoot) return 'cannot make the root file system read-only';
  if (security.isPrivileged) return 'cannot give the container privileges';
  if (security.uid !== 0 && security.uid !== agentUid) return `cannot become user ${security.uid}`;
  if (security.groups.length > 0) return `cannot set groups ${security.groups.join(', ')}`;
  if (security.settings.length > 0) return `cannot set ${security.settings[0]?.path}`;
  return undefined;
}
