// Settings of the kernel that virtual servers depend on (IVS-05, IVS-13).
import { readFileSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { insideNamespace } from '../../../host/namespaces.ts';
import type { Ipvs } from '../../../host/netlink/ipvs.ts';
import type { Log } from '../../../observe/log.ts';
import type { Family } from '../../model/state.ts';
import type { IpvsLocation } from './apply-kernel.ts';
import { kernelSettings } from './kernel-settings.ts';
import type { IpvsSettings } from './settings.ts';

type Target = { readonly family: Family; readonly location: IpvsLocation; readonly log: Log };

/** Throws only for settings that the mode needs (connection tracking, forwarding); others are logged. */
export function applyKernelSettings(
  settings: IpvsSettings,
  { family, location, log }: Target,
): void {
  const wanted = kernelSettings(family, { ...settings, kernelRelease: release() });
  const write = (): void => {
    for (const { path, value, isNeeded } of wanted) {
      try {
        writeSetting(path, value);
      } catch (error) {
        if (isNeeded) throw error;
        log.warn('Failed to write kernel setting', { path, value, error: String(error) });
      }
    }
  };
  // /proc/sys/net shows the namespace of the calling thread.
  if (location.namespacePath === undefined) write();
  else insideNamespace(location.namespacePath, write);
}

function writeSetting(path: string, value: string): void {
  const file = `/proc/sys/net/${path}`;
  if (readFileSync(file, 'utf8').trim() !== value) writeFileSync(file, `${value}\n`);
}

export async function applyTimeouts(ipvs: Ipvs, settings: IpvsSettings): Promise<void> {
  const { tcpTimeoutSeconds, tcpFinTimeoutSeconds, udpTimeoutSeconds } = settings;
  if (tcpTimeoutSeconds + tcpFinTimeoutSeconds + udpTimeoutSeconds === 0) return;
  await ipvs.setTimeouts({
    tcpSeconds: tcpTimeoutSeconds,
    tcpFinSeconds: tcpFinTimeoutSeconds,
    udpSeconds: udpTimeoutSeconds,
  });
}
