import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatClock, formatDay, formatLocalTime, formatOffset } from './local-time.ts';

const at = Date.parse('2026-01-02T23:04:05.678Z');
const zone = (minutes: number) => ({ offsetMinutes: () => minutes });

describe('formatLocalTime()', () => {
  it('is by the clock of the zone', () => {
    assert.equal(formatLocalTime(at, zone(60)), '2026-01-03 00:04:05 +01:00');
    assert.equal(formatLocalTime(at, zone(-210)), '2026-01-02 19:34:05 -03:30');
    assert.equal(formatLocalTime(at, zone(0)), '2026-01-02 23:04:05 UTC');
  });
  it('is by the clock of this machine without one', () => {
    const { length } = formatLocalTime(at);
    assert.equal(formatLocalTime(at).slice(11, 19), new Date(at).toTimeString().slice(0, 8));
    assert.ok(length > 20);
  });
});

describe('formatClock()', () => {
  it('has milliseconds', () => assert.equal(formatClock(at, zone(60)), '00:04:05.678'));
});

describe('formatDay()', () => {
  it('is that of the zone', () => assert.equal(formatDay(at, zone(60)), '2026-01-03'));
});

describe('formatOffset()', () => {
  it('names UTC', () => assert.equal(formatOffset(at, zone(0)), 'UTC'));
});
