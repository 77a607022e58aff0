import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allCapabilities, type CapabilityName, defaultCapabilities } from './capabilities.ts';
import { refusedCalls, seccompFilter } from './seccomp-filter.ts';

const audit = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const names: Readonly<Record<number, string>> = {
  2147418112: 'allow',
  327681: 'EPERM',
  327718: 'ENOSYS',
};

type Call = { readonly number: number; readonly argument?: number; readonly architecture?: number };

function holds(code: number, value: number, operand: number): boolean {
  if (code === 0x15) return value === operand;
  return code === 0x35 ? value >= operand : (value & operand) !== 0;
}

/** Interprets the filter. */
function answer(filter: Uint8Array, { number, argument = 0, architecture }: Call): string {
  const view = Buffer.from(filter);
  const data: Readonly<Record<number, number>> = {
    0: number,
    4: architecture ?? audit.x64,
    16: argument,
  };
  let value = 0;
  for (let at = 0; at < view.length; at += 8) {
    const [code, operand] = [view.readUInt16LE(at), view.readUInt32LE(at + 4)];
    if (code === 0x06) return names[operand] ?? String(operand);
    if (code === 0x20) value = data[operand] ?? 0;
    else at += 8 * view.readUInt8(at + (holds(code, value, operand) ? 2 : 3));
  }
  return 'end';
}

const filter = seccompFilter('x64', defaultCapabilities);
const newUser = 0x10000000;
const thread = 0x3d0f00;

const cases: readonly (readonly [string, Call, string])[] = [
  ['read', { number: 0 }, 'allow'],
  ['openat', { number: 257 }, 'allow'],
  ['execve', { number: 59 }, 'allow'],
  ['mount', { number: 165 }, 'EPERM'],
  ['setns', { number: 308 }, 'EPERM'],
  ['unshare', { number: 272 }, 'EPERM'],
  ['bpf', { number: 321 }, 'EPERM'],
  ['keyctl', { number: 250 }, 'EPERM'],
  ['kexec_load', { number: 246 }, 'EPERM'],
  ['init_module', { number: 175 }, 'EPERM'],
  ['open_by_handle_at', { number: 304 }, 'EPERM'],
  ['a thread', { number: 56, argument: thread }, 'allow'],
  ['a process in a user namespace', { number: 56, argument: newUser | 17 }, 'EPERM'],
  ['clone3, whose flags a filter cannot see', { number: 435 }, 'ENOSYS'],
  ['a socket for the internet', { number: 41, argument: 2 }, 'allow'],
  ['a vsock socket', { number: 41, argument: 40 }, 'EPERM'],
  ['a call of another architecture', { number: 0, architecture: 0x40000003 }, 'ENOSYS'],
  ['a call of x32', { number: 0x40000000 + 165 }, 'ENOSYS'],
];

for (const [name, call, expected] of cases) {
  test(`seccompFilter(): ${name}: ${expected}`, () => assert.equal(answer(filter, call), expected));
}

test('seccompFilter() permits system calls of granted capabilities', () => {
  const more = (name: CapabilityName) => new Set([...defaultCapabilities, name]);
  const mount = { number: 165 };
  assert.equal(answer(seccompFilter('x64', more('SYS_ADMIN')), mount), 'allow');
  assert.equal(answer(seccompFilter('x64', more('SYS_TIME')), mount), 'EPERM');
  assert.equal(answer(seccompFilter('x64', more('SYS_TIME')), { number: 227 }), 'allow');
  assert.equal(answer(seccompFilter('x64', allCapabilities), { number: 250 }), 'EPERM');
});

test('seccompFilter() is within the limits of the kernel', () => {
  for (const architecture of ['x64', 'arm64'] as const) {
    const bytes = seccompFilter(architecture, new Set());
    assert.ok(bytes.length / 8 < 4096);
    assert.ok(refusedCalls(architecture, new Set()).length > 40);
  }
});
