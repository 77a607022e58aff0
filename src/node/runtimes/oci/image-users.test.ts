import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imageIdentity, imageUserOf, parseUsers, type RequestedIdentity } from './image-users.ts';

const users = parseUsers(
  [
    'root:x:0:0:root:/root:/bin/sh',
    '# a comment',
    'nginx:x:101:102:nginx:/nonexistent:/bin/false',
    'broken:x:many:0::/:',
    'negative:x:-1:0::/:',
    'huge:x:4294967295:0::/:',
    '',
  ].join('\n'),
  ['root:x:0:', 'nginx:x:102:', 'www:x:33:nginx,other', 'logs:x:4:nginx', 'bad:x::nginx'].join(
    '\n',
  ),
);

const cases: Readonly<Record<string, readonly [RequestedIdentity, string]>> = {
  'is root without a user': [{}, '0:0 [] /root'],
  'finds a name, with its group and its further groups': [
    { imageUser: 'nginx' },
    '101:102 [33,4] /nonexistent',
  ],
  'finds a number': [{ imageUser: '101' }, '101:102 [33,4] /nonexistent'],
  'takes a number that the image does not know': [{ imageUser: '5000' }, '5000:0 [] /'],
  'takes the group of the image': [{ imageUser: 'nginx:www' }, '101:33 [33,4] /nonexistent'],
  'takes a group by number': [{ imageUser: '5000:77' }, '5000:77 [] /'],
  'prefers the spec': [{ imageUser: 'nginx:www', runAsUser: 0 }, '0:0 [] /root'],
  'takes the group of the spec': [
    { imageUser: 'nginx', runAsUser: 101, runAsGroup: 9 },
    '101:9 [33,4] /nonexistent',
  ],
};

describe('imageIdentity()', () => {
  for (const [name, [requested, wanted]] of Object.entries(cases)) {
    it(name, () => {
      const verdict = imageIdentity(users, requested);
      assert.ok('identity' in verdict);
      const { uid, gid, groups, home } = verdict.identity;
      assert.equal(`${uid}:${gid} [${groups}] ${home}`, wanted);
    });
  }

  it('says which user or group is missing', () => {
    assert.deepEqual(imageIdentity(users, { imageUser: 'postgres' }), {
      problem: 'unable to find user postgres: no matching entries in passwd file',
    });
    assert.deepEqual(imageIdentity(users, { imageUser: 'nginx:postgres' }), {
      problem: 'unable to find group postgres: no matching entries in group file',
    });
    for (const name of ['broken', 'negative', 'huge'])
      assert.ok('problem' in imageIdentity(users, { imageUser: name }), name);
  });
});

describe('imageUserOf()', () => {
  it('tells numbers from names', () => {
    assert.deepEqual(imageUserOf('101:5'), { uid: 101 });
    assert.deepEqual(imageUserOf('nginx:nginx'), { name: 'nginx' });
    assert.deepEqual(imageUserOf(''), {});
    assert.deepEqual(imageUserOf(undefined), {});
    assert.deepEqual(imageUserOf('4294967295'), { name: '4294967295' });
  });
});
