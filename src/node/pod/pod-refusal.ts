// Why this node never runs a pod, whatever becomes of it: a pod that is refused has failed. Reasons and messages are a kubelet's.
import type { Pod } from '../../kinds/pod/types.ts';
import { podSysctls } from './pod-sysctls.ts';

export type PodRefusal = { readonly reason: string; readonly message: string };

export function podRefusal(pod: Pod): PodRefusal | undefined {
  // Of a pod for Windows PodSecurity does not ask for what only Linux has, so it must not run here.
  if (pod.spec.os !== undefined && pod.spec.os.name !== 'linux') {
    const message = "Failed to admit pod as the OS field doesn't match node OS";
    return { reason: 'PodOSNotSupported', message };
  }
  const sysctls = podSysctls(pod);
  return 'forbidden' in sysctls
    ? { reason: 'SysctlForbidden', message: sysctls.forbidden }
    : undefined;
}
