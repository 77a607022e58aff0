import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFakeClock, type FakeClock } from '../../host/fake-clock.ts';
import { type Log, silentLog } from '../../observe/log.ts';
import { type Credentials, ensureCertificates } from './ensure-certificates.ts';
import { startRenewal } from './renew-certificates.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const start = Date.now();

type Scene = {
  readonly directory: string;
  readonly current: Credentials;
  readonly clock: FakeClock;
  readonly used: Credentials[];
  readonly errors: string[];
  /** Moves the clock and waits until the check that falls due is over. */
  readonly after: (ms: number) => Promise<void>;
  readonly stop: () => void;
};

async function withRenewal(act: (scene: Scene) => Promise<void>): Promise<void> {
  const parent = await mkdtemp(join(tmpdir(), 'renewal-'));
  const directory = join(parent, 'pki');
  const certificates = { directory, serverNames: [] };
  const timers = createFakeClock(start);
  let late = 0;
  const clock = { ...timers, now: () => timers.now() + late };
  const used: Credentials[] = [];
  const errors: string[] = [];
  const log: Log = {
    ...silentLog,
    error: (_message, fields) => errors.push(String(fields?.error)),
  };
  try {
    const current = await ensureCertificates({ ...certificates, now: start });
    const use = (renewed: Credentials): void => void used.push(renewed);
    const stop = startRenewal({ certificates, current, use, clock, log });
    const after = async (ms: number): Promise<void> => {
      // The machine slept, so that one check falls due and not one for every minute.
      late += ms - minute;
      await clock.advance(minute);
      while (clock.waiting() === 0) await new Promise((resolve) => setImmediate(resolve));
    };
    await act({ directory, current, clock, used, errors, after, stop });
    stop();
  } finally {
    await rm(parent, { recursive: true });
  }
}

test('startRenewal() leaves certificates alone that are good', () =>
  withRenewal(async ({ after, used }) => {
    await after(minute);
    await after(minute);
    assert.deepEqual(used, []);
  }));

test('startRenewal() replaces certificates before they end, and once', () =>
  withRenewal(async ({ after, used, current }) => {
    await after(300 * day);
    assert.equal(used.length, 1);
    assert.notEqual(used[0]?.server.certificate, current.server.certificate);
    assert.notEqual(used[0]?.administrator.certificate, current.administrator.certificate);
    assert.equal(used[0]?.authority.certificate, current.authority.certificate);
    await after(minute);
    assert.equal(used.length, 1);
  }));

test('startRenewal() reloads files that another program replaced', () =>
  withRenewal(async ({ after, used, directory, clock }) => {
    await rm(join(directory, 'apiserver.crt'));
    const made = await ensureCertificates({ directory, serverNames: [], now: clock.now() });
    await after(minute);
    assert.equal(used[0]?.server.certificate, made.server.certificate);
  }));

test('startRenewal() says what is wrong and looks again', () =>
  withRenewal(async ({ after, used, errors, directory, current }) => {
    await writeFile(join(directory, 'apiserver.crt'), 'x');
    await after(minute);
    assert.match(errors[0] ?? '', /apiserver\.crt": the file is damaged/);
    await writeFile(join(directory, 'apiserver.crt'), current.server.certificate);
    await after(minute);
    assert.deepEqual([used.length, errors.length], [0, 1]);
  }));

test('startRenewal() ends', () =>
  withRenewal(async ({ stop, clock }) => {
    stop();
    assert.equal(clock.waiting(), 0);
  }));
