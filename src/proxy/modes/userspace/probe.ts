// Whether routes can be written here, for when no packet filter can be.
import { readFile } from 'node:fs/promises';
import { loadCLibrary, NativeUnavailableError } from '../../../host/native.ts';
import type { ProbeResult } from '../mode.ts';

/** CAP_NET_ADMIN's place among the capabilities. */
const netAdmin = 1n << 12n;

export async function probeDirect(): Promise<ProbeResult> {
  try {
    loadCLibrary();
  } catch (error) {
    if (!(error instanceof NativeUnavailableError)) throw error;
    return { works: false, reason: error.message, remedy: 'install the npm package koffi' };
  }
  const status = await readFile('/proc/self/status', 'utf8');
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return (effective & netAdmin) === 0n
    ? {
        works: false,
        reason: 'routes cannot be written without the capability CAP_NET_ADMIN',
        remedy: 'run as root or grant CAP_NET_ADMIN',
      }
    : { works: true, detail: 'relays listen on the addresses of services' };
}
