import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DockerConfigError, parseDockerConfig } from './parse-docker-config.ts';

const auth = Buffer.from('user:pass:word').toString('base64');
const password = { kind: 'password', username: 'user', password: 'pass:word' };

const cases: Readonly<Record<string, readonly [object, unknown]>> = {
  'config.json': [{ auths: { 'r.example': { auth } } }, password],
  dockercfg: [{ 'r.example': { auth, email: 'a@b' } }, password],
  'user and password': [
    { auths: { 'r.example': { username: 'user', password: 'pass:word' } } },
    password,
  ],
  'an identity token': [
    { auths: { 'r.example': { auth, identitytoken: 'abc' } } },
    { kind: 'identity', identityToken: 'abc' },
  ],
  'an identity token as a password': [
    { auths: { 'r.example': { username: '<token>', password: 'abc' } } },
    { kind: 'identity', identityToken: 'abc' },
  ],
  'a registry token': [
    { auths: { 'r.example': { registrytoken: 'abc' } } },
    { kind: 'registry', registryToken: 'abc' },
  ],
};

const refused: Readonly<Record<string, RegExp>> = {
  '{': /^the credentials are not JSON$/,
  '[]': /not an object/,
  '{"auths":{"r.example":{"auth":"c2VjcmV0"}}}': /^auth of "r.example" is not the base64 form/,
  '{"auths":{"r.example":{"auth":1}}}': /auth of "r.example" is not a string/,
  '{"auths":{"r.example":"x"}}': /the entry for "r.example" is not an object/,
};

describe('parseDockerConfig()', () => {
  for (const [name, [value, login]] of Object.entries(cases)) {
    it(`reads ${name}`, () =>
      assert.deepEqual(parseDockerConfig(JSON.stringify(value)), [
        { pattern: 'r.example', login },
      ]));
  }

  it('leaves credentials to helper programs that it does not run', () => {
    const value = { auths: { 'r.example': {} }, credsStore: 'desktop' };
    assert.deepEqual(parseDockerConfig(JSON.stringify(value)), []);
    assert.deepEqual(parseDockerConfig('{"credHelpers":{"r.example":"x"}}'), []);
  });

  for (const [text, message] of Object.entries(refused)) {
    it(`refuses ${text}`, () =>
      assert.throws(
        () => parseDockerConfig(text),
        (error) => error instanceof DockerConfigError && message.test(error.message),
      ));
  }

  it('refuses what no Secret can hold', () => {
    assert.throws(() => parseDockerConfig(' '.repeat(2_000_000)), /more than/);
  });
});
