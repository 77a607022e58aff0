import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupLimits, hasKilledForMemory } from './cgroup-limits.ts';
import { cgroupPaths, pidGroupPath } from './cgroup-paths.ts';

const cases = [
  ['nothing', {}, []],
  ['a memory limit', { limits: { memory: '64Mi' } }, ['memory.max=67108864', 'memory.oom.group=1']],
  ['half a CPU', { limits: { cpu: '500m' } }, ['cpu.max=50000 100000', 'cpu.weight=20']],
  ['a request alone', { requests: { cpu: '1' } }, ['cpu.weight=39']],
  [
    'less than the minimum of the kernel',
    { limits: { cpu: '1m' }, requests: { cpu: '0' } },
    ['cpu.max=1000 100000', 'cpu.weight=1'],
  ],
  ['zero CPUs, which is no limit', { limits: { cpu: '0' } }, []],
] as const;
for (const [name, resources, wanted] of cases) {
  test(`cgroupLimits() of ${name}`, () => {
    assert.deepEqual(
      cgroupLimits(resources).map(({ file, value }) => `${file}=${value}`),
      wanted,
    );
  });
}

test('hasKilledForMemory() reads memory.events', () => {
  const events = (kills: number): string => `low 0\nhigh 0\nmax 7\noom 1\noom_kill ${kills}\n`;
  assert.equal(hasKilledForMemory(events(0)), false);
  assert.equal(hasKilledForMemory(events(2)), true);
});

test('cgroupPaths() returns the root and the own group of version 2', () => {
  const mounts = [
    '30 24 0:26 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory',
    '31 24 0:27 / /sys/fs/cgroup/my\\040groups rw,nosuid shared:10 - cgroup2 cgroup2 rw',
  ].join('\n');
  const own = '4:memory:/a\n0::/user.slice/one.scope\n';
  assert.deepEqual(cgroupPaths(mounts, own), [
    '/sys/fs/cgroup/my groups',
    '/sys/fs/cgroup/my groups/user.slice/one.scope',
  ]);
  assert.deepEqual(cgroupPaths(mounts, '0::/\n'), ['/sys/fs/cgroup/my groups']);
  assert.deepEqual(cgroupPaths('', own), []);
});

test('pidGroupPath() returns the own group of the version 1 controller pids', () => {
  const mounts = [
    '30 25 0:26 / /sys/fs/cgroup/pids-not rw - cgroup cgroup rw,cpu',
    '31 25 0:27 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids',
  ].join('\n');
  assert.equal(pidGroupPath(mounts, '8:pids:/\n'), '/sys/fs/cgroup/pids');
  assert.equal(pidGroupPath(mounts, '8:pids:/user\n4:memory:/x\n'), '/sys/fs/cgroup/pids/user');
  assert.equal(pidGroupPath('31 25 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw', ''), undefined);
});
