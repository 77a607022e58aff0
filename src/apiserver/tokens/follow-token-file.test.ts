import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Log, silentLog } from '../../observe/log.ts';
import { followTokenFile, TokenFileError } from './follow-token-file.ts';

type Scene = {
  readonly write: (text: string) => void;
  readonly remove: () => void;
  readonly path: string;
  /** Names of users by token, after the clock moved on by this. */
  readonly nameOf: (token: string, afterMs?: number) => string | undefined;
  readonly logged: string[];
};

function withFile(text: string, act: (scene: Scene) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'tokens-'));
  const path = join(directory, 'tokens.csv');
  const write = (content: string): void => writeFileSync(path, content);
  const logged: string[] = [];
  const log: Log = {
    ...silentLog,
    info: (message) => logged.push(message),
    error: (message, fields) => logged.push(`${message}: ${String(fields?.error)}`),
  };
  let now = 0;
  try {
    write(text);
    const authenticate = followTokenFile({ path, audiences: ['api'], now: () => now, log });
    const nameOf: Scene['nameOf'] = (token, afterMs = 1000) => {
      now += afterMs;
      const proof = authenticate(token, []);
      return proof !== undefined && 'user' in proof ? proof.user.name : undefined;
    };
    act({ write, remove: () => rmSync(path), path, nameOf, logged });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('followTokenFile() takes the tokens of the file and no others', () =>
  withFile('t,alice,1\n', ({ nameOf }) => {
    assert.equal(nameOf('t'), 'alice');
    assert.equal(nameOf('u'), undefined);
  }));

test('followTokenFile() reads the file again when it has changed', () =>
  withFile('t,alice,1\n', ({ nameOf, write, logged }) => {
    write('u,bob,2\n');
    assert.equal(nameOf('u'), 'bob');
    assert.equal(nameOf('t'), undefined);
    assert.deepEqual(logged, ['Reloaded token file']);
  }));

test('followTokenFile() looks at the file once a second and not more often', () =>
  withFile('t,alice,1\n', ({ nameOf, write }) => {
    write('u,bob,2\n');
    assert.equal(nameOf('u', 999), undefined);
    assert.equal(nameOf('u', 1), 'bob');
  }));

test('followTokenFile() keeps the list when the new one is bad, and says so once', () =>
  withFile('t,alice,1\n', ({ nameOf, write, path, logged }) => {
    write('u,bob\n');
    assert.equal(nameOf('t'), 'alice');
    assert.equal(nameOf('u'), undefined);
    assert.deepEqual(logged, [
      `Failed to reload token file, keeping the previous tokens: Cannot use the token file "${path}": line 1: must have at least 3 columns (token, user name, user uid), found 2`,
    ]);
    write('u,bob,2\n');
    assert.equal(nameOf('u'), 'bob');
  }));

test('followTokenFile() keeps the list when the file is gone', () =>
  withFile('t,alice,1\n', ({ nameOf, remove, write }) => {
    remove();
    assert.equal(nameOf('t'), 'alice');
    write('u,bob,2\n');
    assert.equal(nameOf('u'), 'bob');
  }));

test('followTokenFile() tells at the start what is wrong with the file', () => {
  const options = { audiences: [], now: () => 0, log: silentLog };
  withFile('', ({ path, write, remove }) => {
    write('a\nb\nc\nd\ne\nf\ng');
    assert.throws(
      () => followTokenFile({ path, ...options }),
      (error) => error instanceof TokenFileError && /line 5: .*; and 2 more$/.test(error.message),
    );
    remove();
    assert.throws(
      () => followTokenFile({ path, ...options }),
      /Cannot use the token file .*ENOENT/,
    );
  });
});

test('followTokenFile() accepts tokens for the audiences of the server only', () =>
  withFile('t,alice,1\n', ({ path }) => {
    const log = silentLog;
    const authenticate = followTokenFile({ path, audiences: ['api', 'b'], now: () => 0, log });
    assert.deepEqual(authenticate('t', ['b', 'c']), {
      user: { name: 'alice', uid: '1', groups: [] },
      audiences: ['b'],
    });
    assert.equal(authenticate('t', ['c']), undefined);
  }));
