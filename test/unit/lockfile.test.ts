// What package-lock.json promises of every package that users install.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

type Locked = {
  readonly dev?: boolean;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
};

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};
/** The first is the project itself. */
const locked = Object.entries(packages).filter(([path]) => path !== '');

test('package-lock.json has a hash of every package that is not for development only', () => {
  const production = locked.filter(([, { dev }]) => dev !== true);
  assert.ok(production.length > 10);
  const bare = production.filter(([, { integrity = '' }]) => !/^sha512-.{86}==$/.test(integrity));
  assert.deepEqual(
    bare.map(([path]) => path),
    [],
  );
});

test('package-lock.json records no addresses to download from', () => {
  const addressed = locked.filter(([, { resolved, link }]) => resolved !== undefined || link);
  assert.deepEqual(
    addressed.map(([path]) => path),
    [],
  );
});
